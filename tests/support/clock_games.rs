//! Games at a simulated DGT clock, read by the estimator and by a plain reader, against what really happened.

use shakmaty::{ByColor, Color};
use touchmoved::{
    session::{
        clock::{Change, Estimator, Expected, Finding, Model, PerMove, Rounding},
        event::Event,
        time::MonoTime,
    },
    simulate::{
        params::{PolledClock, Span},
        polled::{ClockGame, ClockRun, play},
    },
};

/// The first seconds after a start or a change of the times are left out of the errors.
const SETTLING_US: u64 = 40_000_000;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub games: u64,
    pub seed: u64,
    pub wired: bool,
    pub set_every: u32,
    /// The rounding of the clock is configured.
    pub rounding_known: bool,
    /// The time control is configured.
    pub control_known: bool,
    pub plies: u32,
    pub think_ms: (u32, u32),
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            games: 20,
            seed: 1,
            wired: false,
            set_every: 0,
            rounding_known: true,
            control_known: true,
            plies: 120,
            think_ms: (2_000, 300_000),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Score {
    pub hours_us: u64,
    /// Errors at the press, in microseconds: of the estimator at once, at the end of the opponent's turn, and of
    /// the plain reader.
    pub at_once: Vec<u64>,
    pub later: Vec<u64>,
    pub plain: Vec<u64>,
    /// Widths of the intervals, and how many hold the truth.
    pub widths_at_once: Vec<u64>,
    pub widths: Vec<u64>,
    pub press_widths: Vec<u64>,
    /// The width beside what the opponent thought, both in microseconds.
    pub by_thought: Vec<(u64, u64)>,
    pub held: usize,
    pub press_held: usize,
    pub false_changes: Vec<(u64, Finding)>,
    pub set: usize,
    /// How long it took to find each time that was set, in microseconds.
    pub found: Vec<u64>,
    pub frozen: usize,
    pub exchanged: usize,
    pub unfinished: usize,
}

/// The share of `values` up to `limit`, in hundredths of a per cent.
pub fn share(values: &[u64], limit: u64) -> u64 {
    let within = values.iter().filter(|value| **value <= limit).count();
    u64::try_from(within * 10_000).unwrap() / u64::try_from(values.len().max(1)).unwrap()
}

pub fn quantile(values: &[u64], per_cent: usize) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * per_cent / 100).copied().unwrap_or(0)
}

const CONTROLS: [(&str, u64, u64, &[u64]); 4] = [
    ("5400+30", 5400, 30, &[]),
    ("40/5400+30:1800+30", 5400, 30, &[1800]),
    ("7200", 7200, 0, &[]),
    ("900+10", 900, 10, &[]),
];

/// Plays and reads the games of a plan.
pub fn measure(plan: &Plan) -> Score {
    let mut score = Score::default();
    for game in 0..plan.games {
        one(plan, plan.seed * 1_000_003 + game, game, &mut score);
    }
    score
}

fn one(plan: &Plan, seed: u64, game: u64, score: &mut Score) {
    let (control, base, increment, periods) = CONTROLS[usize::try_from(game % 4).unwrap()];
    // A number that goes through all rates and both roundings.
    let turn = seed.wrapping_mul(2_654_435_761) >> 7;
    let polled = PolledClock {
        rate_ppm: i32::try_from(turn % 401).unwrap() - 200,
        rounds_up: turn / 401 % 2 == 1,
        wired: plan.wired,
        ..PolledClock::DGT
    };
    let clock_game = ClockGame {
        time_control: control.to_owned(),
        plies: plan.plies,
        think: Span::ms(plan.think_ms.0, plan.think_ms.1),
        set_every: plan.set_every,
        stopped_to_set: !game.is_multiple_of(3),
    };
    let run = play(&clock_game, &polled, seed).unwrap();
    let rounding = if polled.rounds_up { Rounding::Up } else { Rounding::Down };
    let model = Model { rounding: plan.rounding_known.then_some(rounding), ..Model::default() };
    let first = if increment > 0 { increment } else { 0 };
    let per_move = if increment > 0 { PerMove::Increment { ms: increment * 1000 } } else { PerMove::None };
    let expected = if plan.control_known {
        Expected {
            start_ms: Some((base + first) * 1000),
            per_move: Some(per_move),
            periods_ms: periods.iter().map(|s| s * 1000).collect(),
        }
    } else {
        Expected::default()
    };
    let second_ms = periods.first().map(|s| s * 1000).filter(|_| plan.control_known);
    read(plan, &run, Estimator::new(model, expected, true), increment * 1_000_000, second_ms, score);
}

fn read(
    plan: &Plan,
    run: &ClockRun,
    mut estimator: Estimator,
    increment_us: u64,
    second_ms: Option<u64>,
    score: &mut Score,
) {
    score.hours_us += run.end_us;
    score.set += run.set.len();
    let mut presses = run.presses.iter().peekable();
    let mut told = 0usize;
    let mut found = vec![false; run.set.len()];
    // The plain reader: the last reading and when it came.
    let mut last: Option<(u64, ByColor<u64>, Option<Color>)> = None;
    let mut made = 0usize;
    let settled = |at: u64| {
        let set = run.set.iter().rev().find(|set| set.at_us <= at).map_or(0, |set| set.at_us);
        at > run.start_us.max(set) + SETTLING_US
    };
    for (at, event) in &run.events {
        let now = MonoTime::from_micros(*at);
        while let Some(due) = estimator.deadline().filter(|due| *due <= now) {
            estimator.advance(due);
            drain(run, due.as_micros(), &mut estimator, &mut told, &mut found, &settled, score);
        }
        // The count of moves is the board's, never that of the presses.
        while let Some(press) = run.presses.get(made).filter(|press| press.at_us <= *at + 400_000) {
            made += 1;
            let before = run.presses.iter().take(made).filter(|other| other.by == press.by).count();
            if before == 40 {
                estimator.due(press.by, second_ms);
            }
        }
        match event {
            Event::Times(reading) => {
                let plain_press = last.filter(|last| {
                    last.2.is_some() && reading.running.is_some() && last.2 != reading.running
                });
                last = Some((
                    *at,
                    ByColor {
                        white: reading.white_ms.unwrap() * 1000,
                        black: reading.black_ms.unwrap() * 1000,
                    },
                    reading.running,
                ));
                if let (false, Some((_, _, Some(by)))) = (plan.wired, plain_press) {
                    // The plain reader: what the first message after the press shows.
                    if let Some(press) =
                        run.presses.iter().rev().find(|press| press.at_us <= *at && press.by == by)
                        && settled(press.at_us)
                    {
                        let shown = last.unwrap().1;
                        score.plain.push(shown.get(by).abs_diff(press.left_us));
                    }
                }
                estimator.read(now, *reading);
            }
            Event::Press(by) if plan.wired => {
                estimator.press(now, *by);
                let press = presses.find(|press| press.at_us == *at && press.by == *by).unwrap();
                if settled(*at) {
                    if let Some((read_at, shown, running)) = last {
                        let ran = if running == Some(*by) { *at - read_at } else { 0 };
                        let guess = shown.get(*by).saturating_sub(ran) + increment_us;
                        score.plain.push(guess.abs_diff(press.left_us));
                    }
                    let estimate = estimator.at_press(*by);
                    score.at_once.push(estimate.map_or(u64::MAX, |left| left.us.abs_diff(press.left_us)));
                    score.widths_at_once.extend(estimate.map(|left| left.width_us()));
                }
            }
            _ => {}
        }
        drain(run, *at, &mut estimator, &mut told, &mut found, &settled, score);
    }
    score.unfinished += run.presses.len().saturating_sub(told);
}

#[allow(clippy::too_many_arguments)]
fn drain(
    run: &ClockRun,
    now: u64,
    estimator: &mut Estimator,
    told: &mut usize,
    found: &mut [bool],
    settled: &impl Fn(u64) -> bool,
    score: &mut Score,
) {
    while let Some(finding) = estimator.poll() {
        match finding {
            Finding::Pressed { by, left, from, to } => {
                *told += 1;
                // The press that is meant: the nearest one.
                let middle = from.as_micros().midpoint(to.as_micros());
                let of_player = run.presses.iter().filter(|press| press.by == by && press.at_us <= now);
                let Some(press) = of_player.min_by_key(|press| press.at_us.abs_diff(middle)) else {
                    continue;
                };
                if !settled(press.at_us) {
                    continue;
                }
                score.widths.push(left.width_us());
                if let Some(next) = run.presses.iter().find(|next| next.at_us > press.at_us) {
                    score.by_thought.push((next.at_us - press.at_us, left.width_us()));
                }
                score.later.push(left.us.abs_diff(press.left_us));
                let holds = (left.low_us..=left.high_us).contains(&press.left_us);
                score.held += usize::from(holds);
                score.press_widths.push(to.since(from));
                score.press_held += usize::from((from.as_micros()..=to.as_micros()).contains(&press.at_us));
            }
            Finding::Changed { change: Change::Period, .. } => {}
            Finding::Changed { side, .. } => {
                let real = run.set.iter().enumerate().find(|(index, set)| {
                    !found[*index] && set.side == side && (set.at_us..set.at_us + 10_000_000).contains(&now)
                });
                match real {
                    Some((index, set)) => {
                        found[index] = true;
                        score.found.push(now - set.at_us);
                    }
                    None => score.false_changes.push((now, finding)),
                }
            }
            Finding::Frozen { .. } | Finding::Standing => score.frozen += 1,
            Finding::Exchanged => score.exchanged += 1,
        }
    }
}
