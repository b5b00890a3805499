//! The commands. Each one lives in a file of its own and returns an [`ExitCode`].

mod arbiter;
mod check_config;
mod client;
mod demo;
mod doctor;
mod export;
mod notation;
mod parse;
mod replay;
mod review;
mod run;
mod simulate;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Reads a tournament chess board, reconstructs the game under the Laws of Chess, keeps a
/// tamper-evident journal and feeds the world.
#[derive(Debug, Parser)]
#[command(name = "touchmoved", version = version(), max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read the configured boards and serve their feeds until a signal ends it
    Run(run::Args),
    /// Play a real game on a simulated reed board through the whole daemon
    Demo(demo::Args),
    /// Enter a command of the arbiter at a board of the running daemon
    Arbiter(arbiter::ArbiterArgs),
    /// Press a button at a board of the running daemon (a draw offer, a claim, a resignation)
    Button(arbiter::ButtonArgs),
    /// Check a configuration file and say what is wrong with it
    CheckConfig(check_config::Args),
    /// Test a board and its machine before a round: devices, squares, contacts, clock, disk, addresses
    Doctor(doctor::Args),
    /// Run a sensor log or a journal through the reconstruction again
    Replay(replay::Args),
    /// Show what happened at a board: lifts, moves made and completed, presses, advisories
    Review(review::Args),
    /// Write the sensor log of a game under simulated human hands
    Simulate(simulate::Args),
    /// Check the hash chain of a journal
    Verify(verify::Args),
    /// Write the sensor log that a journal holds
    Export(export::Args),
    /// Write a move as it stands on a score sheet, or as it is announced
    Notation(notation::Args),
    /// Read a move from a score sheet or a sealed move
    Parse(parse::Args),
}

const fn version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("TOUCHMOVED_COMMIT"), ")")
}

/// Runs the program.
pub fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Arbiter(args) => arbiter::command(&args),
        Command::Button(args) => arbiter::button(&args),
        Command::CheckConfig(args) => check_config::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Review(args) => review::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Notation(args) => notation::run(&args),
        Command::Parse(args) => parse::run(&args),
    }
}
