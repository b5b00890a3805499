//! Words of the time line.

use shakmaty::{Color, Role, Square};

use crate::session::setup::{BoardKind, GameSetup, Signal};

/// `White` or `Black`.
pub const fn side(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// Reads `white` or `black`.
pub fn parse_side(text: &str) -> Option<Color> {
    match text {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        _ => None,
    }
}

/// The English name of a man by its FEN letter.
pub fn man(letter: char) -> &'static str {
    match Role::from_char(letter) {
        Some(Role::Pawn) => "pawn",
        Some(Role::Knight) => "knight",
        Some(Role::Bishop) => "bishop",
        Some(Role::Rook) => "rook",
        Some(Role::Queen) => "queen",
        Some(Role::King) => "king",
        None => "man",
    }
}

/// Whose man a FEN letter is.
pub fn owner(letter: char) -> Option<Color> {
    shakmaty::Piece::from_char(letter).map(|piece| piece.color)
}

/// `Black's knight on f6`; `the man on f6` when the man is not known.
pub fn man_of(letter: char, square: Square) -> String {
    match owner(letter) {
        Some(owner) => format!("{}'s {} on {square}", side(owner), man(letter)),
        None => format!("the man on {square}"),
    }
}

/// Squares with commas.
pub fn squares(list: &[Square]) -> String {
    list.iter().map(Square::to_string).collect::<Vec<_>>().join(", ")
}

/// A duration for a reader: hundredths below a minute, `m:ss.d` above.
pub fn duration(us: u64) -> String {
    let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
    if seconds < 60 {
        format!("{seconds}.{:02} s", rest / 10_000)
    } else {
        format!("{}:{:02}.{} min", seconds / 60, seconds % 60, rest / 100_000)
    }
}

/// Time of a clock as on its display: `1:02:03`.
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Game time `h:mm:ss.cc`.
pub fn game_time(us: u64) -> String {
    let seconds = us / 1_000_000;
    format!("{}:{:02}:{:02}.{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60, us % 1_000_000 / 10_000)
}

/// What the board can know, for the head of a page.
pub fn sensor(setup: &GameSetup) -> String {
    let dwell = setup.settings.release_dwell_ms;
    let what = match setup.board {
        BoardKind::Reed => {
            let times = match setup.signal {
                Signal::Raw => format!(
                    "A lift counts after {} ms of an open contact, a placing after {} ms of a closed one; \
                     add the period of the scan.",
                    setup.settings.debounce_open_ms, setup.settings.debounce_close_ms
                ),
                Signal::Debounced => {
                    "Times are those of the settled contacts: scan period and debouncing of the board \
                     are in them."
                        .to_owned()
                }
            };
            format!(
                "Reed switches tell that a square is empty or occupied, not by which man: names of men come \
                 from the reconstructed game. A lift is a lower bound of a touch: a man that was touched and \
                 not lifted leaves no trace, nor does one that slid off its square too fast for the scan. \
                 {times}"
            )
        }
        BoardKind::Peg => {
            "A pegged board tells that a hole is empty or filled, not by which man: names of men come \
             from the reconstructed game. A man taken out of its hole is the touch that the Laws define for \
             this board (Article D.2.2)."
                .to_owned()
        }
        BoardKind::Dgt => {
            "A DGT board tells which man stands on a square. A lift is a lower bound of a touch: a man \
             that was touched and not lifted leaves no trace. Its times are 200 to 250 ms coarse, and a man \
             that is lifted and put back within that time may not be seen."
                .to_owned()
        }
        BoardKind::TwoBoard => {
            "Two boards show one game. On a pegged board a man taken out of its hole is the touch that \
             the Laws define (Article D.2.2); on the other one a lift is a lower bound of a touch."
                .to_owned()
        }
        BoardKind::None => "No board: nothing is known of lifts.".to_owned(),
    };
    format!(
        "{what} A move counts as made after {dwell} ms on its square, a press, or the opponent's lift. The side \
         that is named is the one that had the move: no sensor sees whose hand it was."
    )
}

/// `fide-2023, standard, 40/5400+30`.
pub fn rules(setup: &GameSetup) -> String {
    let mut text = format!("{}, {}", setup.rules.as_str(), setup.discipline.as_str());
    if setup.is_chess960() {
        text += ", Chess960";
    }
    if !setup.time_control.is_empty() {
        text += &format!(", {}", setup.time_control);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn men_are_named_with_their_owner() {
        assert_eq!(man_of('n', Square::F6), "Black's knight on f6");
        assert_eq!(man_of('K', Square::E1), "White's king on e1");
        assert_eq!(man_of('?', Square::E1), "the man on e1");
    }

    #[test]
    fn times_are_written_for_readers() {
        assert_eq!(duration(1_239_999), "1.23 s");
        assert_eq!(duration(61_500_000), "1:01.5 min");
        assert_eq!(game_time(3_723_456_789), "1:02:03.45");
        assert_eq!(clock(3_723_999), "1:02:03");
    }

    #[test]
    fn the_limits_of_each_sensor_are_told() {
        let of = |board| sensor(&GameSetup { board, ..GameSetup::default() });
        assert!(of(BoardKind::Reed).contains("lower bound of a touch"));
        assert!(of(BoardKind::Dgt).contains("200 to 250 ms"));
        assert!(of(BoardKind::Peg).contains("D.2.2") && !of(BoardKind::Peg).contains("lower bound"));
    }
}
