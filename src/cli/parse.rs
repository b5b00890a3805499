//! `touchmoved parse`

use std::process::ExitCode;

use serde_json::{Value, json};
use shakmaty::{Chess, Move, Position as _};

use super::notation::{position, print};
use crate::notation::{self, Language, Reading};

const HELP: &str = "\
One line of JSON says what was found:

  {\"kind\":\"unique\",\"uci\":\"g1f3\"}                      one legal move
  {\"kind\":\"ambiguous\",\"candidates\":[\"b1d2\",\"f3d2\"]}  several; nothing in the text decides
  {\"kind\":\"illegal\"}                                  it names a move, which is not legal
  {\"kind\":\"unreadable\"}                               it names no move

Without --lang the text is tried in every language of touchmoved notation; what means different legal \
moves in two of them is ambiguous. Castling is e1g1 in standard chess, e1h1 in Chess960.

Examples:
  touchmoved parse '4k3/8/8/8/8/8/8/4K1N1 w - - 0 1' Kf3 --lang ru
  touchmoved parse 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' e2-e4

Exit status: 0, whatever was found; 1 when the output cannot be written; 2 when the FEN is wrong.";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Read a move from a score sheet or a sealed move, whatever way it is written. The ruling is the \
arbiter's.",
    after_long_help = HELP
)]
pub(super) struct Args {
    /// Position before the move, in quotes
    fen: String,
    /// What was written
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Language of the writer: ro, en, ru, uk, de, fr, nl, nl-seed, es, hu, fig
    #[arg(long)]
    lang: Option<Language>,
    /// The position is one of Chess960, also where its castling letters do not tell
    #[arg(long)]
    chess960: bool,
}

pub(super) fn run(args: &Args) -> ExitCode {
    match position(&args.fen, args.chess960) {
        Ok(position) => {
            let reading = notation::parse(&position, &args.text, args.lang);
            print("parse", &answer(&position, &reading).to_string())
        }
        Err(message) => {
            eprintln!("touchmoved parse: {message}");
            ExitCode::from(2)
        }
    }
}

fn answer(position: &Chess, reading: &Reading) -> Value {
    let uci = |m: &Move| m.to_uci(position.castles().mode()).to_string();
    match reading {
        Reading::Unique(m) => json!({"kind": "unique", "uci": uci(m)}),
        Reading::Ambiguous(moves) => {
            json!({"kind": "ambiguous", "candidates": moves.iter().map(uci).collect::<Vec<_>>()})
        }
        Reading::Illegal => json!({"kind": "illegal"}),
        Reading::Unreadable => json!({"kind": "unreadable"}),
    }
}
