//! The numbers of the three levels. Where they come from: `docs/simulation.md`.

use super::params::{
    ClockReports, Ending, Identity, Level, Mishaps, Orders, Output, Params, Rate, Reed, Span, Timing,
};

const NO_MISHAPS: Mishaps = Mishaps {
    slide: Rate::NEVER,
    hover: Rate::NEVER,
    brush: Rate::NEVER,
    nudge: Rate::NEVER,
    swept: Rate::NEVER,
    unseen_victim: Rate::NEVER,
    adjust_own: Rate::NEVER,
    adjust_opponent: Rate::NEVER,
    adjust_idle: Rate::NEVER,
    adjust_more: Rate::NEVER,
    recentre: Rate::NEVER,
    dropout: Rate::NEVER,
    off_centre: Rate::NEVER,
    sticky: Rate::NEVER,
    early_touch: Rate::NEVER,
    early_reply: Rate::NEVER,
    long_think: Rate::NEVER,
    press_forgotten: Rate::NEVER,
    press_lost: Rate::NEVER,
    press_stray: Rate::NEVER,
    premature_press: Rate::NEVER,
    press_after_end_missing: Rate::ALWAYS,
    take_back: Rate::NEVER,
    illegal: Rate::NEVER,
    illegal_pressed: Rate::NEVER,
    illegal_pressed_back: Rate::NEVER,
    knock: Rate::NEVER,
    castle_tap: Rate::NEVER,
};

const TOURNAMENT: Mishaps = Mishaps {
    slide: Rate::new(10_000),
    hover: Rate::new(600),
    brush: Rate::new(800),
    nudge: Rate::new(1_000),
    swept: Rate::new(12_000),
    unseen_victim: Rate::new(300),
    adjust_own: Rate::new(1_700),
    adjust_opponent: Rate::new(400),
    adjust_idle: Rate::new(300),
    adjust_more: Rate::new(20_000),
    recentre: Rate::new(3_000),
    dropout: Rate::new(100),
    off_centre: Rate::new(100),
    sticky: Rate::new(30),
    early_touch: Rate::new(4_000),
    early_reply: Rate::new(2_000),
    long_think: Rate::new(5_000),
    press_forgotten: Rate::new(400),
    press_lost: Rate::new(400),
    press_stray: Rate::new(100),
    premature_press: Rate::new(1_000),
    press_after_end_missing: Rate::ALWAYS,
    take_back: Rate::new(60),
    illegal: Rate::new(90),
    illegal_pressed: Rate::new(50_000),
    illegal_pressed_back: Rate::new(50_000),
    knock: Rate::new(50),
    castle_tap: Rate::new(30_000),
};

const CHAOS: Mishaps = Mishaps {
    slide: Rate::new(30_000),
    hover: Rate::new(4_000),
    brush: Rate::new(6_000),
    nudge: Rate::new(7_000),
    swept: Rate::new(30_000),
    unseen_victim: Rate::new(1_000),
    adjust_own: Rate::new(3_000),
    adjust_opponent: Rate::new(800),
    adjust_idle: Rate::new(1_000),
    adjust_more: Rate::new(30_000),
    recentre: Rate::new(5_000),
    dropout: Rate::new(600),
    off_centre: Rate::new(700),
    sticky: Rate::new(200),
    early_touch: Rate::new(35_000),
    early_reply: Rate::new(3_000),
    long_think: Rate::new(3_000),
    press_forgotten: Rate::new(3_200),
    press_lost: Rate::new(3_200),
    press_stray: Rate::new(800),
    premature_press: Rate::new(8_000),
    take_back: Rate::new(600),
    illegal: Rate::new(500),
    knock: Rate::new(200),
    castle_tap: Rate::new(50_000),
    ..TOURNAMENT
};

const CLEAN_TIMING: Timing = Timing {
    think: Span::ms(1_500, 20_000),
    long_think: Span::ms(20_000, 150_000),
    travel: Span::ms(350, 900),
    travel_per_square: Span::ms(20, 60),
    reach: Span::ms(250, 900),
    fetch: Span::ms(400, 3_500),
    press: Span::ms(250, 900),
    press_again: Span::ms(250, 900),
    adjust: Span::ms(300, 900),
    recentre: Span::ms(300, 900),
    hover: Span::ms(250, 2_400),
    early: Span::ms(80, 400),
    held: Span::ms(10, 80),
    swap_gap: Span::ms(0, 150),
    passing: Span::ms(25, 90),
    nudge: Span::ms(20, 70),
    dropout: Span::ms(10, 350),
    sticky: Span::ms(300, 2_000),
    off_centre: Span::ms(400, 40_000),
    notice: Span::ms(300, 5_000),
    late_rest: Span::ms(50, 3_000),
    set_up_again: Span::ms(250, 1_400),
};

const TOURNAMENT_TIMING: Timing = Timing {
    think: Span::ms(600, 30_000),
    travel: Span::ms(60, 950),
    reach: Span::ms(60, 800),
    press: Span::ms(60, 1_300),
    adjust: Span::ms(60, 600),
    recentre: Span::ms(30, 220),
    early: Span::ms(5, 1_300),
    ..CLEAN_TIMING
};

const HASTY: Timing = Timing {
    think: Span::ms(60, 4_000),
    long_think: Span::ms(4_000, 60_000),
    travel: Span::ms(15, 320),
    travel_per_square: Span::ms(5, 25),
    reach: Span::ms(15, 200),
    fetch: Span::ms(50, 2_500),
    press: Span::ms(20, 290),
    press_again: Span::ms(40, 700),
    adjust: Span::ms(30, 400),
    recentre: Span::ms(30, 220),
    hover: Span::ms(80, 1_800),
    early: Span::ms(5, 350),
    held: Span::ms(5, 60),
    swap_gap: Span::ms(0, 90),
    passing: Span::ms(10, 80),
    nudge: Span::ms(20, 70),
    dropout: Span::ms(10, 400),
    sticky: Span::ms(300, 2_000),
    off_centre: Span::ms(300, 25_000),
    notice: Span::ms(150, 3_000),
    late_rest: Span::ms(20, 3_000),
    set_up_again: Span::ms(200, 1_200),
};

impl Params {
    /// The numbers of a level, with raw edges, a clock that reports every second, and the clock
    /// stopped at the end.
    pub const fn level(level: Level) -> Params {
        let (timing, mishaps) = match level {
            Level::Clean => (CLEAN_TIMING, NO_MISHAPS),
            Level::Tournament => (TOURNAMENT_TIMING, TOURNAMENT),
            Level::Chaos => (HASTY, CHAOS),
        };
        let (capture, castling, promotion) = match level {
            Level::Clean => ([55, 45, 0], [80, 10, 10], [60, 30, 10]),
            Level::Tournament => ([45, 40, 15], [80, 8, 12], [45, 45, 10]),
            Level::Chaos => ([41, 23, 36], [55, 15, 30], [45, 42, 13]),
        };
        let (misread, doubled) = match level {
            Level::Clean => (Rate::NEVER, Rate::NEVER),
            Level::Tournament => (Rate::new(50), Rate::new(2_000)),
            Level::Chaos => (Rate::new(200), Rate::new(5_000)),
        };
        Params {
            timing,
            mishaps,
            orders: Orders { capture, castling, en_passant: [40, 30, 30], promotion },
            reed: Reed { bounces: 5, bounce_low_us: 80, bounce_high_us: 900 },
            identity: Identity {
                misread,
                misread_time: Span::ms(100, 400),
                doubled,
                doubled_time: Span::ms(50, 400),
            },
            output: Output::Raw,
            settle_ms: 20,
            scan_ms: 200,
            initial_report: true,
            clock: ClockReports { every_ms: 1000, at_press: true, start: true, ..ClockReports::SILENT },
            ending: Ending::Stopped,
        }
    }
}
