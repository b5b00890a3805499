//! `touchmoved notation`

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use shakmaty::{CastlingMode, Chess, Move, Position as _, Square, uci::UciMove};

use crate::notation::{
    self, CastlingSign, Language, Style,
    announcement::{self, Speech},
    fen,
};

const HELP: &str = "\
Languages of --lang: ro Romanian, en English, ru Russian, uk Ukrainian, de German, fr French, nl Dutch, \
nl-seed Dutch as an older table misprints it, es Spanish, hu Hungarian, fig figurines. Languages of \
--spoken: de (the words of the Laws), en, ro, uk.

Without --lang the move is written as in PGN, with a language as on a score sheet: d8=Q+ is d8D+ in \
Romanian.

Examples:
  touchmoved notation '4k3/8/8/8/8/8/8/4K1N1 w - - 0 1' g1f3 --lang ro
  touchmoved notation '4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1' e1c1 --spoken de

A FEN with the files of rooks as castling letters (HAha), or with rights of kings and rooks that are not \
at home in standard chess, is one of Chess960.

Exit status: 0; 1 when the output cannot be written; 2 when the FEN or the move is wrong.";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Write a move as it stands on a score sheet, or as it is announced.",
    after_long_help = HELP
)]
pub(super) struct Args {
    /// Position before the move, in quotes
    fen: String,
    /// The move in UCI: e2e4, e7e8q; castling as e1g1, or as king takes rook
    uci: String,
    /// Letters of this language
    #[arg(long)]
    lang: Option<Language>,
    /// Always write the square of departure: Ng1-f3
    #[arg(long)]
    long: bool,
    /// Write castling with zeros, as the Laws of 2023 print it
    #[arg(long)]
    zeros: bool,
    /// Write no e.p. behind a capture en passant
    #[arg(long)]
    no_ep: bool,
    /// Write the announcement of a blind player's board in this language
    #[arg(long, value_name = "LANG", conflicts_with_all = ["lang", "long", "zeros", "no_ep"])]
    spoken: Option<Speech>,
    /// The position is one of Chess960, also where its castling letters do not tell
    #[arg(long)]
    chess960: bool,
}

pub(super) fn run(args: &Args) -> ExitCode {
    match written(args) {
        Ok(text) => print("notation", &text),
        Err(message) => {
            eprintln!("touchmoved notation: {message}");
            ExitCode::from(2)
        }
    }
}

/// Prints one line.
pub(super) fn print(command: &str, line: &str) -> ExitCode {
    match writeln!(io::stdout(), "{line}") {
        // A closed pipe is no reason to fail.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("touchmoved {command}: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// The position of a FEN.
pub(super) fn position(text: &str, chess960: bool) -> Result<Chess, String> {
    fen::read(text, chess960.then_some(CastlingMode::Chess960)).map_err(|error| error.to_string())
}

fn written(args: &Args) -> Result<String, String> {
    let position = position(&args.fen, args.chess960)?;
    let m = legal(&position, &args.uci)?;
    if let Some(speech) = args.spoken {
        return Ok(announcement::announce(m, speech));
    }
    if args.lang.is_none() && !args.long && !args.zeros && !args.no_ep {
        return Ok(notation::pgn(&position, m));
    }
    let style = Style {
        long: args.long,
        en_passant: !args.no_ep,
        castling: if args.zeros { CastlingSign::Zeros } else { CastlingSign::Letters },
        ..Style::new(args.lang.unwrap_or(Language::English))
    };
    Ok(notation::write(&position, m, &style))
}

/// The legal move that a text in UCI names.
fn legal(position: &Chess, text: &str) -> Result<Move, String> {
    let uci: UciMove = text.parse().map_err(|_| {
        format!(
            "{text:?} is not a move in UCI; write it as e2e4, e7e8q, or e1g1 for castling (e1h1 in Chess960)"
        )
    })?;
    uci.to_move(position).map_err(|_| match uci.from() {
        Some(from) => format!("{text} is not legal in this position; {}", legal_from(position, from)),
        None => {
            format!("{text} is not legal in this position; write the squares that the man leaves and reaches")
        }
    })
}

/// What the man on a square may do, in words.
fn legal_from(position: &Chess, from: Square) -> String {
    let mode = position.castles().mode();
    let moves: Vec<String> = position
        .legal_moves()
        .iter()
        .filter(|m| m.from() == Some(from))
        .map(|m| m.to_uci(mode).to_string())
        .collect();
    if !moves.is_empty() {
        return format!("from {from}: {}", moves.join(" "));
    }
    match position.board().color_at(from) {
        None => format!("there is no man on {from}"),
        Some(color) if color != position.turn() => format!("it is {}'s move", position.turn()),
        Some(_) => format!("the man on {from} has no legal move"),
    }
}
