//! Every number of the handling simulator, and its three levels. `docs/simulation.md` explains them.

/// How often something happens: occasions of 100 000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u32);

impl Rate {
    /// Occasions that a rate counts in.
    pub const WHOLE: u32 = 100_000;
    /// Never.
    pub const NEVER: Rate = Rate(0);
    /// Every time.
    pub const ALWAYS: Rate = Rate(Rate::WHOLE);

    /// A rate of `per_100_000`, at most always.
    pub const fn new(per_100_000: u32) -> Rate {
        Rate(if per_100_000 > Rate::WHOLE { Rate::WHOLE } else { per_100_000 })
    }

    /// Occasions of 100 000.
    pub const fn per_100_000(self) -> u32 {
        self.0
    }
}

/// A span of time in milliseconds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    low: u32,
    high: u32,
}

impl Span {
    /// From `low_ms` to `high_ms`; the ends are put in order.
    pub const fn ms(low_ms: u32, high_ms: u32) -> Span {
        if low_ms <= high_ms {
            Span { low: low_ms, high: high_ms }
        } else {
            Span { low: high_ms, high: low_ms }
        }
    }

    pub(super) fn micros(self) -> (u64, u64) {
        (u64::from(self.low) * 1000, u64::from(self.high) * 1000)
    }
}

/// How the players handle the men.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Deliberate: no faults, every press delivered, at least 0.2 s between contacts.
    Clean,
    /// A tournament game with its usual share of mishaps.
    Tournament,
    /// A blitz scramble.
    Chaos,
}

impl Level {
    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Clean => "clean",
            Level::Tournament => "tournament",
            Level::Chaos => "chaos",
        }
    }

    /// Reads the word of the configuration.
    pub fn parse(text: &str) -> Option<Level> {
        [Level::Clean, Level::Tournament, Level::Chaos].into_iter().find(|level| level.as_str() == text)
    }
}

/// How long things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Before a move, where the game does not say how long the player thought.
    pub think: Span,
    /// Carrying a man to a neighbouring square.
    pub travel: Span,
    /// More for every further square of the way.
    pub travel_per_square: Span,
    /// Putting a captured man aside, fetching a new one from the box, going to another man.
    pub reach: Span,
    /// From the last contact of a move to the press.
    pub press: Span,
    /// A man that is lifted and put back on its square.
    pub adjust: Span,
    /// A stop on a square on the way.
    pub hover: Span,
    /// From the opponent's last contact to a first touch before the press.
    pub early: Span,
    /// From the victim's leaving to the attacker's arrival when a man is swept off its square.
    pub swap_gap: Span,
    /// A contact that a passing man closes.
    pub passing: Span,
}

/// How often something goes another way than planned. Rates are for every ply where nothing else is
/// said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mishaps {
    /// A man is slid and closes the contacts on its way (of movements over free squares of a line).
    pub slide: Rate,
    /// A man is set down on a square of its way for a while (of the same movements).
    pub hover: Rate,
    /// A carried man closes a contact beside its way.
    pub brush: Rate,
    /// An attacker sweeps its victim off the square (of captures).
    pub swept: Rate,
    /// The victim's leaving is not seen at all (of captures).
    pub unseen_victim: Rate,
    /// The player adjusts an own man before the move.
    pub adjust_own: Rate,
    /// The player adjusts a man of the opponent before the move.
    pub adjust_opponent: Rate,
    /// The player who is not on the move adjusts an own man.
    pub adjust_idle: Rate,
    /// The man that moved is adjusted on its new square.
    pub recentre: Rate,
    /// A contact opens for a moment by itself.
    pub dropout: Rate,
    /// A man is placed so far off the centre that its contact closes seconds later.
    pub off_centre: Rate,
    /// A contact stays closed for a while after its man has left.
    pub sticky: Rate,
    /// The player touches a man before the opponent has pressed.
    pub early_touch: Rate,
    /// The player does not press.
    pub press_forgotten: Rate,
    /// The press is not reported, though the clock ran on.
    pub press_lost: Rate,
    /// The player presses a second time.
    pub press_stray: Rate,
    /// A move is placed and taken back before the press.
    pub take_back: Rate,
    /// An illegal move is placed and corrected.
    pub illegal: Rate,
    /// The clock is pressed over such an illegal move, and the arbiter stops it (of illegal moves).
    pub illegal_pressed: Rate,
    /// Men beside the way are knocked over and set up again.
    pub knock: Rate,
}

/// In which order the contacts of one move change: weights among each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Captures: attacker first, victim first, both hands at once.
    pub capture: [u32; 3],
    /// Castling: king first, rook first, both in the air.
    pub castling: [u32; 3],
    /// En passant: pawn first, victim first, victim after the pawn is placed.
    pub en_passant: [u32; 3],
    /// Promotion: pawn placed and exchanged, new man placed straight away, new man placed before the
    /// pawn leaves.
    pub promotion: [u32; 3],
}

/// What the contacts do when they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reed {
    /// Most extra pairs of edges after a change.
    pub bounces: u32,
    /// Shortest distance of two edges in microseconds, at least 1.
    pub bounce_low_us: u32,
    /// Longest distance of two edges in microseconds.
    pub bounce_high_us: u32,
}

/// What the simulation puts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Contact edges with their bounce.
    Raw,
    /// Settled changes: a state that lasted for this long, stamped when it had.
    Debounced {
        /// Milliseconds.
        settle_ms: u32,
    },
}

/// What happens after the last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing: the clock goes on.
    Open,
    /// The clock is stopped.
    Stopped,
    /// The kings signal the result on the centre squares, then the clock is stopped.
    KingsToCentre,
    /// The clock is stopped and the result is entered.
    Entered,
}

/// The clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReports {
    /// Milliseconds between two readings of the running clock, 0 for none.
    pub every_ms: u32,
    /// A reading at every press and stop.
    pub at_press: bool,
    /// The clock's start is reported (`run-white`).
    pub start: bool,
}

/// Everything that the simulator can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// How long things take.
    pub timing: Timing,
    /// How often something goes wrong.
    pub mishaps: Mishaps,
    /// In which order contacts change.
    pub orders: Orders,
    /// What contacts do.
    pub reed: Reed,
    /// What is put out.
    pub output: Output,
    /// True to begin with a full report of the board.
    pub initial_report: bool,
    /// The clock's readings.
    pub clock: ClockReports,
    /// What happens after the last move.
    pub ending: Ending,
}

const NO_MISHAPS: Mishaps = Mishaps {
    slide: Rate::NEVER,
    hover: Rate::NEVER,
    brush: Rate::NEVER,
    swept: Rate::NEVER,
    unseen_victim: Rate::NEVER,
    adjust_own: Rate::NEVER,
    adjust_opponent: Rate::NEVER,
    adjust_idle: Rate::NEVER,
    recentre: Rate::NEVER,
    dropout: Rate::NEVER,
    off_centre: Rate::NEVER,
    sticky: Rate::NEVER,
    early_touch: Rate::NEVER,
    press_forgotten: Rate::NEVER,
    press_lost: Rate::NEVER,
    press_stray: Rate::NEVER,
    take_back: Rate::NEVER,
    illegal: Rate::NEVER,
    illegal_pressed: Rate::NEVER,
    knock: Rate::NEVER,
};

const TOURNAMENT: Mishaps = Mishaps {
    slide: Rate::new(10_000),
    hover: Rate::new(600),
    brush: Rate::new(800),
    swept: Rate::new(12_000),
    unseen_victim: Rate::new(300),
    adjust_own: Rate::new(1_500),
    adjust_opponent: Rate::new(200),
    adjust_idle: Rate::new(200),
    recentre: Rate::new(3_000),
    dropout: Rate::new(100),
    off_centre: Rate::new(100),
    sticky: Rate::new(30),
    early_touch: Rate::new(4_000),
    press_forgotten: Rate::new(300),
    press_lost: Rate::new(300),
    press_stray: Rate::new(100),
    take_back: Rate::new(50),
    illegal: Rate::new(40),
    illegal_pressed: Rate::new(50_000),
    knock: Rate::new(20),
};

const CHAOS: Mishaps = Mishaps {
    slide: Rate::new(30_000),
    hover: Rate::new(4_000),
    brush: Rate::new(6_000),
    swept: Rate::new(30_000),
    unseen_victim: Rate::new(1_000),
    recentre: Rate::new(5_000),
    dropout: Rate::new(1_000),
    off_centre: Rate::new(600),
    sticky: Rate::new(200),
    early_touch: Rate::new(35_000),
    press_forgotten: Rate::new(3_000),
    press_lost: Rate::new(3_000),
    press_stray: Rate::new(500),
    take_back: Rate::new(600),
    illegal: Rate::new(500),
    knock: Rate::new(200),
    ..TOURNAMENT
};

const CALM: Timing = Timing {
    think: Span::ms(1_500, 20_000),
    travel: Span::ms(350, 900),
    travel_per_square: Span::ms(20, 60),
    reach: Span::ms(250, 900),
    press: Span::ms(250, 900),
    adjust: Span::ms(300, 900),
    hover: Span::ms(300, 1_200),
    early: Span::ms(80, 400),
    swap_gap: Span::ms(0, 150),
    passing: Span::ms(25, 90),
};

const HASTY: Timing = Timing {
    think: Span::ms(250, 4_000),
    travel: Span::ms(90, 250),
    travel_per_square: Span::ms(5, 25),
    reach: Span::ms(60, 250),
    press: Span::ms(60, 300),
    adjust: Span::ms(150, 500),
    hover: Span::ms(80, 500),
    early: Span::ms(30, 200),
    swap_gap: Span::ms(0, 90),
    passing: Span::ms(15, 60),
};

impl Params {
    /// The numbers of a level, with raw edges, a clock that reports every second, and the clock
    /// stopped at the end.
    pub const fn level(level: Level) -> Params {
        let (timing, mishaps) = match level {
            Level::Clean => (CALM, NO_MISHAPS),
            Level::Tournament => (Timing { travel: Span::ms(220, 700), ..CALM }, TOURNAMENT),
            Level::Chaos => (HASTY, CHAOS),
        };
        let orders = match level {
            Level::Clean => Orders {
                capture: [55, 45, 0],
                castling: [80, 10, 10],
                en_passant: [40, 30, 30],
                promotion: [60, 30, 10],
            },
            Level::Tournament | Level::Chaos => Orders {
                capture: [45, 40, 15],
                castling: [80, 8, 12],
                en_passant: [40, 30, 30],
                promotion: [45, 45, 10],
            },
        };
        Params {
            timing,
            mishaps,
            orders,
            reed: Reed { bounces: 5, bounce_low_us: 80, bounce_high_us: 900 },
            output: Output::Raw,
            initial_report: true,
            clock: ClockReports { every_ms: 1000, at_press: true, start: true },
            ending: Ending::Stopped,
        }
    }

    /// The same with settled changes in place of edges.
    pub const fn debounced(mut self) -> Params {
        self.output = Output::Debounced { settle_ms: 20 };
        self
    }
}
