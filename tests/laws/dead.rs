//! Positions that somebody set up, and play from them.

use shakmaty::{
    Board, CastlingMode, Chess, Color, FromSetup as _, Piece, Position as _, PositionError, Role, Setup,
    Square, fen::Fen, uci::UciMove,
};
use touchmoved::laws::dead::{Dead, MatePossibility, Nodes, can_mate_within, dead_position_within};

use super::choices::Choices;

const BUDGET: Nodes = Nodes(2000);

/// A line with a FEN, or else any men anywhere, and what is played from there: no panic, no more work than
/// allowed, the same answer each time. A helpmate is played and is mate. Where the play ends with mate, that
/// mate was possible before and the position not dead.
pub fn dead_position(data: &[u8]) {
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let fen = std::str::from_utf8(line).ok().and_then(|line| line.parse::<Fen>().ok());
    let (setup, mut choices) = match fen {
        Some(fen) => (fen.into_setup(), Choices::new(&data[line.len()..])),
        None => {
            let mut choices = Choices::new(data);
            (setup(&mut choices), choices)
        }
    };
    for mode in [CastlingMode::Standard, CastlingMode::Chess960] {
        let position = Chess::from_setup(setup.clone(), mode)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check);
        if let Ok(position) = position {
            holds(&position, &mut choices);
        }
    }
}

/// Mostly kings, pawns and bishops: what locks.
fn setup(choices: &mut Choices) -> Setup {
    let mut board = Board::empty();
    let mut put = |choices: &mut Choices, color, role| {
        board.set_piece_at(Square::new(u32::from(choices.byte() % 64)), Piece { color, role });
    };
    for _ in 0..choices.below(12) {
        let role = choices.pick(&[
            Role::Pawn,
            Role::Pawn,
            Role::Pawn,
            Role::Bishop,
            Role::Knight,
            Role::Rook,
            Role::Queen,
        ]);
        let color = Color::from_white(choices.flag());
        put(choices, color, role);
    }
    put(choices, Color::White, Role::King);
    put(choices, Color::Black, Role::King);
    Setup { board, turn: Color::from_white(choices.flag()), ..Setup::empty() }
}

fn holds(position: &Chess, choices: &mut Choices) {
    let told = Color::ALL.map(|side| {
        let (mut left, mut again) = (BUDGET, BUDGET);
        let told = can_mate_within(position, side, &mut left);
        assert_eq!(can_mate_within(position, side, &mut again), told);
        assert!(left == again && left <= BUDGET);
        if let MatePossibility::Possible { helpmate } = &told {
            assert_eq!(mated(position, helpmate), Some(!side), "{helpmate:?}");
        }
        (side, told)
    });
    let mut left = BUDGET;
    let dead = dead_position_within(position, &mut left);
    assert!(left <= BUDGET);
    if let Dead::Alive { helpmate } = &dead {
        assert!(mated(position, helpmate).is_some(), "{helpmate:?}");
    }
    let mut played = position.clone();
    for _ in 0..200 {
        let legal = played.legal_moves();
        if legal.is_empty() || choices.is_empty() {
            break;
        }
        played.play_unchecked(legal[choices.below(legal.len())]);
    }
    if played.is_checkmate() {
        assert!(!matches!(dead, Dead::Dead(_)), "{dead:?}");
        let impossible = |(side, told): &(Color, MatePossibility)| {
            *side != played.turn() && matches!(told, MatePossibility::Impossible(_))
        };
        assert!(!told.iter().any(impossible), "{told:?}");
    }
}

/// The side that is mated at the end of the moves.
fn mated(position: &Chess, moves: &[UciMove]) -> Option<Color> {
    let mut position = position.clone();
    for uci in moves {
        position = position.clone().play(uci.to_move(&position).ok()?).ok()?;
    }
    position.is_checkmate().then_some(position.turn())
}
