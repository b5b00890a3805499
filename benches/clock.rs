//! How well the times of an external clock are known: games at a simulated DGT clock, read by the estimator and
//! by a plain reader.
//!
//! `cargo bench --bench clock -- --games 200 --hours 1000` prints the table of `docs/clock.md`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "../tests/support/clock_games.rs"]
#[allow(dead_code)]
mod clock_games;

use clap::Parser;
use clock_games::{Plan, Score, measure, quantile, share};

#[derive(Parser)]
struct Args {
    /// Games of every measurement
    #[arg(long, default_value_t = 40)]
    games: u64,
    /// Simulated hours without an intervention of the arbiter
    #[arg(long, default_value_t = 50)]
    hours: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The rounding of the clock is not configured
    #[arg(long)]
    rounding_unknown: bool,
    /// The time control is not configured
    #[arg(long)]
    control_unknown: bool,
    #[arg(long, hide = true)]
    bench: bool,
}

/// Milliseconds; a time that was not known has none.
fn ms(us: u64) -> String {
    if us == u64::MAX { "none".to_owned() } else { (us / 1000).to_string() }
}

fn errors(name: &str, errors: &[u64]) {
    let (half, most, worst) = (quantile(errors, 50), quantile(errors, 99), quantile(errors, 100));
    let within = share(errors, 150_000);
    println!(
        "  {name:<34} {:>6} plies  median {:>5} ms  99 % {:>5} ms  worst {:>6} ms  within 150 ms {:>3}.{:02} %",
        errors.len(),
        ms(half),
        ms(most),
        ms(worst),
        within / 100,
        within % 100
    );
}

fn intervals(name: &str, score: &Score) {
    let plies = score.widths.len().max(1);
    let per = |held: usize| held * 10_000 / plies;
    let line = |what: &str, held: usize, widths: &[u64]| {
        println!(
            "  {what:<34} {plies:>6} plies  hold the truth {:>3}.{:02} %  width: median {:>4} ms, 90 % {:>4} ms, 99 % {:>4} ms",
            per(held) / 100,
            per(held) % 100,
            quantile(widths, 50) / 1000,
            quantile(widths, 90) / 1000,
            quantile(widths, 99) / 1000
        );
    };
    line(&format!("{name}: time left"), score.held, &score.widths);
    line(&format!("{name}: press"), score.press_held, &score.press_widths);
}

/// What the ticks of the opponent are worth.
fn thoughts(score: &Score) {
    for (from, to) in [(0, 5), (5, 15), (15, 30), (30, 60), (60, 120), (120, 240)] {
        let band = from * 1_000_000..to * 1_000_000;
        let among = score.by_thought.iter().filter(|(thought, _)| band.contains(thought));
        let widths: Vec<u64> = among.map(|(_, width)| *width).collect();
        println!(
            "  the opponent thought {from:>3} to {to:>3} s {:>14} plies  width: median {:>4} ms",
            widths.len(),
            quantile(&widths, 50) / 1000
        );
    }
}

fn main() {
    let args = Args::parse();
    let base = Plan {
        games: args.games,
        seed: args.seed,
        rounding_known: !args.rounding_unknown,
        control_known: !args.control_unknown,
        ..Plan::default()
    };

    println!("Presses with events of their own:");
    let wired = measure(&Plan { wired: true, ..base });
    errors("estimator, at the press", &wired.at_once);
    errors("estimator, a turn later", &wired.later);
    errors("plain reader", &wired.plain);
    intervals("wired", &wired);

    println!("The same, and the arbiter sets times:");
    let wired_set = measure(&Plan { wired: true, set_every: 17, ..base });
    errors("estimator, at the press", &wired_set.at_once);
    errors("plain reader", &wired_set.plain);
    intervals("wired, set", &wired_set);

    println!("Presses that only readings show:");
    let read = measure(&base);
    errors("estimator, a turn later", &read.later);
    errors("plain reader", &read.plain);
    intervals("read", &read);
    thoughts(&read);
    let blitz = measure(&Plan { think_ms: (500, 12_000), ..base });
    intervals("read, fast play", &blitz);

    println!("Times that are set:");
    let set = measure(&Plan { set_every: 7, ..base });
    let wired_set = measure(&Plan { set_every: 7, wired: true, ..base });
    for (name, score) in [("read", &set), ("wired", &wired_set)] {
        let in_time = score.found.iter().filter(|us| **us <= 3_000_000).count();
        println!(
            "  {name:<6} {} set, {} found, {in_time} within 3 s (latest {} ms), {} false",
            score.set,
            score.found.len(),
            quantile(&score.found, 100) / 1000,
            score.false_changes.len()
        );
    }

    let mut score = Score::default();
    let mut seed = args.seed + 1000;
    while score.hours_us < args.hours * 3_600_000_000 {
        seed += 1;
        for wired in [false, true] {
            let more = measure(&Plan { games: 8, seed, wired, plies: 160, ..base });
            score.hours_us += more.hours_us;
            score.false_changes.extend(more.false_changes);
            score.frozen += more.frozen;
            score.exchanged += more.exchanged;
        }
    }
    println!(
        "Nothing set in {} hours: {} changes, {} frozen, {} exchanged",
        score.hours_us / 3_600_000_000,
        score.false_changes.len(),
        score.frozen,
        score.exchanged
    );
    for (at, finding) in score.false_changes.iter().take(5) {
        println!("  at {at} us: {finding:?}");
    }
}
