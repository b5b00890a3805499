//! Games as what hands do: one square after the other, then the press.

use std::{fs, path::Path};

use shakmaty::{
    Board, Chess, Color, EnPassantMode, Move, Piece, Position as _, Role, Square, fen::Fen, uci::UciMove,
};

/// One thing that the board or the clock tells.
#[derive(Clone)]
pub enum Deed {
    /// A square reads something else.
    Square { square: Square, piece: Option<Piece>, placement: String },
    /// The clock was pressed after this ply, counted from 1.
    Press { ply: usize },
}

/// A game.
pub struct Game {
    start: Chess,
    pub deeds: Vec<Deed>,
}

impl Game {
    fn new(moves: &[&str]) -> Game {
        let start = Chess::default();
        let mut position = start.clone();
        let mut board = start.board().clone();
        let mut deeds = Vec::new();
        for (index, text) in moves.iter().enumerate() {
            let mv = text.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            for (square, piece) in changes(mv, position.turn()) {
                match piece {
                    Some(piece) => board.set_piece_at(square, piece),
                    None => board.discard_piece_at(square),
                }
                deeds.push(Deed::Square { square, piece, placement: board.to_string() });
            }
            position.play_unchecked(mv);
            deeds.push(Deed::Press { ply: index + 1 });
        }
        Game { start, deeds }
    }

    pub fn start(&self) -> &Board {
        self.start.board()
    }

    pub fn fen(&self) -> String {
        Fen::from_position(&self.start, EnPassantMode::Legal).to_string()
    }
}

/// The squares that change, in the order of deliberate hands: what is captured goes first.
fn changes(mv: Move, turn: Color) -> Vec<(Square, Option<Piece>)> {
    let man = |role: Role| Some(role.of(turn));
    match mv {
        Move::Normal { role, from, to, capture, promotion } => {
            let victim = capture.map(|_| (to, None));
            let moved = [(from, None), (to, man(promotion.unwrap_or(role)))];
            victim.into_iter().chain(moved).collect()
        }
        Move::EnPassant { from, to } => {
            let victim = Square::from_coords(to.file(), from.rank());
            vec![(victim, None), (from, None), (to, man(Role::Pawn))]
        }
        Move::Castle { king, rook } => {
            let king_side = rook.file() > king.file();
            let (k, r) = if king_side { ('g', 'f') } else { ('c', 'd') };
            let to = |file: char| Square::from_coords(shakmaty::File::from_char(file).unwrap(), king.rank());
            vec![(king, None), (to(k), man(Role::King)), (rook, None), (to(r), man(Role::Rook))]
        }
        Move::Put { .. } => unreachable!("no variant with drops"),
    }
}

/// The first games of the recorded ones, cut after so many plies.
pub fn games(count: usize, plies: usize) -> Vec<Game> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams/std/moves.txt");
    let text = fs::read_to_string(file).unwrap();
    let moves = |line: &str| Game::new(&line.split(' ').skip(1).take(plies).collect::<Vec<_>>());
    text.lines().take(count).map(moves).collect()
}
