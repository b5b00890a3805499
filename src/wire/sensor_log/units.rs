//! The two boards of one game, as the header names them:
//! `[{"id":"A","kind":"reed","side":"white"}, {"id":"B","kind":"peg","side":"black"}]`.
//!
//! A board may say more of how it is read than what holds for both: `signal`, `debounce_close_ms`,
//! `debounce_open_ms` and `orientation`.

use serde_json::{Map, Value, json};
use shakmaty::Color;

use super::{LineError, bad, header::MAX_DEBOUNCE_MS};
use crate::session::{
    event::Unit,
    settings::OrientationSetting,
    setup::{BoardKind, GameSetup, Signal, UnitSetup},
};

/// Reads the list into the set-up, which says already what holds for both boards. The first board is of reeds
/// and the second one pegged unless something else is said.
pub(super) fn read(boards: Option<&Value>, setup: &mut GameSetup) -> Result<(), LineError> {
    if setup.board != BoardKind::TwoBoard {
        return Ok(());
    }
    for unit in &mut setup.units {
        *unit = UnitSetup { signal: setup.signal, ..UnitSetup::new(unit.kind, &setup.settings) };
    }
    let list = match boards {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(bad("boards", format!("expected a list of boards, found {other}"))),
    };
    for board in list {
        let unit = match board.get("id").and_then(Value::as_str) {
            Some("A") => Unit::A,
            Some("B") => Unit::B,
            _ => return Err(bad("boards", format!("expected \"id\":\"A\" or \"B\" in {board}"))),
        };
        let sides = [("white", Color::White), ("black", Color::Black)];
        if let Some(side) = word(board, "side", "\"white\" or \"black\"", |text| {
            sides.into_iter().find(|(name, _)| *name == text).map(|(_, side)| side)
        })? {
            setup.sides = Some(if unit == Unit::A { [side, !side] } else { [!side, side] });
        }
        one(board, unit.of_mut(&mut setup.units))?;
    }
    Ok(())
}

fn one(board: &Value, unit: &mut UnitSetup) -> Result<(), LineError> {
    let one_board = |text: &str| BoardKind::parse(text).filter(|kind| kind.is_one_board());
    if let Some(kind) = word(board, "kind", "\"reed\", \"peg\" or \"dgt\"", one_board)? {
        unit.kind = kind;
    }
    if let Some(signal) = word(board, "signal", "\"debounced\" or \"raw\"", Signal::parse)? {
        unit.signal = signal;
    }
    if let Some(ms) = ms(board, "debounce_close_ms")? {
        unit.debounce_close_ms = ms;
    }
    if let Some(ms) = ms(board, "debounce_open_ms")? {
        unit.debounce_open_ms = ms;
    }
    let ways = "\"auto\", \"white-south\" or \"white-north\"";
    if let Some(orientation) = word(board, "orientation", ways, OrientationSetting::parse)? {
        unit.orientation = orientation;
    }
    Ok(())
}

fn word<T>(
    board: &Value,
    key: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, LineError> {
    let Some(value) = board.get(key) else { return Ok(None) };
    let wrong = || bad("boards", format!("expected {key:?}: {expected}, found {value}"));
    value.as_str().and_then(read).map(Some).ok_or_else(wrong)
}

fn ms(board: &Value, key: &str) -> Result<Option<u64>, LineError> {
    let Some(value) = board.get(key) else { return Ok(None) };
    let wrong = || {
        let expected = format!("a whole number of milliseconds from 0 to {MAX_DEBOUNCE_MS}");
        bad("boards", format!("expected {key:?}: {expected}, found {value}"))
    };
    value.as_u64().filter(|ms| *ms <= MAX_DEBOUNCE_MS).map(Some).ok_or_else(wrong)
}

/// The list of a game on two boards; [`read`] reads it back.
pub(super) fn list(setup: &GameSetup) -> Value {
    let of = |unit: Unit| {
        let board = unit.of(&setup.units);
        let mut map = Map::new();
        map.insert("id".to_owned(), json!(unit.as_str()));
        map.insert("kind".to_owned(), json!(board.kind.as_str()));
        if let Some(sides) = &setup.sides {
            map.insert("side".to_owned(), json!(unit.of(sides).fold_wb("white", "black")));
        }
        let common = UnitSetup { signal: setup.signal, ..UnitSetup::new(board.kind, &setup.settings) };
        if board.signal != common.signal {
            map.insert("signal".to_owned(), json!(board.signal.as_str()));
        }
        if board.debounce_close_ms != common.debounce_close_ms {
            map.insert("debounce_close_ms".to_owned(), json!(board.debounce_close_ms));
        }
        if board.debounce_open_ms != common.debounce_open_ms {
            map.insert("debounce_open_ms".to_owned(), json!(board.debounce_open_ms));
        }
        if board.orientation != common.orientation {
            map.insert("orientation".to_owned(), json!(board.orientation.as_str()));
        }
        Value::Object(map)
    };
    json!(Unit::ALL.map(of))
}

#[cfg(test)]
mod tests {
    use super::super::{format_header, parse_header};
    use super::*;

    fn setup(boards: &Value) -> Result<GameSetup, LineError> {
        parse_header(
            &json!({"sensor_log": 1, "board": "two-board", "signal": "raw", "boards": boards}).to_string(),
        )
    }

    #[test]
    fn each_board_is_read_in_its_own_way_and_written_so() {
        let boards = json!([
            {"id": "A", "kind": "dgt", "side": "black", "signal": "debounced", "orientation": "white-north"},
            {"id": "B", "kind": "reed", "debounce_close_ms": 7, "debounce_open_ms": 9},
        ]);
        let setup = setup(&boards).unwrap();
        assert_eq!(setup.sides, Some([Color::Black, Color::White]));
        let [first, second] = setup.units;
        assert_eq!(
            (first.kind, first.signal, first.orientation),
            (BoardKind::Dgt, Signal::Debounced, OrientationSetting::WhiteNorth)
        );
        assert_eq!(
            second,
            UnitSetup {
                kind: BoardKind::Reed,
                signal: Signal::Raw,
                debounce_close_ms: 7,
                debounce_open_ms: 9,
                orientation: OrientationSetting::Auto,
            }
        );
        let again = parse_header(&format_header(&setup)).unwrap();
        assert_eq!((again.units, again.sides, again.signal), (setup.units, setup.sides, setup.signal));
        assert_eq!(format_header(&again), format_header(&setup));
    }

    #[test]
    fn what_a_board_cannot_be_is_told_with_what_it_can_be() {
        let refused = |board: Value| setup(&json!([board])).unwrap_err().to_string();
        for (board, expected) in [
            (json!({"id": "C"}), "expected \"id\":\"A\" or \"B\""),
            (json!({"id": "B", "kind": "two-board"}), "\"reed\", \"peg\" or \"dgt\", found \"two-board\""),
            (json!({"id": "B", "side": "red"}), "expected \"side\": \"white\" or \"black\", found \"red\""),
            (json!({"id": "B", "signal": 1}), "expected \"signal\": \"debounced\" or \"raw\", found 1"),
            (json!({"id": "B", "debounce_open_ms": 1001}), "from 0 to 1000, found 1001"),
            (json!({"id": "B", "orientation": "north"}), "\"white-north\", found \"north\""),
        ] {
            let told = refused(board);
            assert!(told.contains(expected), "{told}");
        }
    }
}
