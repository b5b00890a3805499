use proptest::prelude::*;
use shakmaty::Square;

use super::*;
use crate::{
    sensor::matrix::simulated::SimulatedPort,
    simulate::matrix::{Fault, SimulatedMatrix, Wiring},
};

fn measured(faults: &[Fault], men: Bitboard) -> Probe {
    let matrix = SimulatedMatrix::new(Wiring::with(faults), Square::ALL, men, 3);
    probe(&mut SimulatedPort::in_simulated_time(matrix, 50)).unwrap()
}

fn found(faults: &[Fault], men: Bitboard) -> Vec<(Cause, String)> {
    let findings = examine(&measured(faults, men), men, &Layout::default());
    findings.iter().map(|finding| (finding.cause, finding.place())).collect()
}

fn one(faults: &[Fault], men: Bitboard) -> (Cause, String) {
    let found = found(faults, men);
    assert_eq!(found.len(), 1, "{faults:?}: {found:?}");
    found[0].clone()
}

fn is(cause: Cause, place: &str) -> (Cause, String) {
    (cause, place.to_owned())
}

#[test]
fn a_board_in_order_has_no_findings() {
    for men in [INITIAL, Bitboard::EMPTY, DIODE_PATTERNS[0], DIODE_PATTERNS[1]] {
        assert_eq!(found(&[], men), []);
        assert_eq!(found(&[Fault::FloatingRows], men), []);
    }
    assert_eq!(expectation(&measured(&[], INITIAL), &Layout::default()), Some(INITIAL));
    assert_eq!(expectation(&measured(&[], Bitboard::EMPTY), &Layout::default()), Some(Bitboard::EMPTY));
    assert_eq!(expectation(&measured(&[], Bitboard(0xff00)), &Layout::default()), None);
}

#[test]
fn what_does_not_close_shows_in_the_initial_position() {
    let never = is(Cause::NeverCloses, "e2, row 1, column 4");
    assert_eq!(one(&[Fault::OpenReed(1, 4)], INITIAL), never);
    assert_eq!(one(&[Fault::OpenDiode(1, 4)], INITIAL), never);
    assert_eq!(one(&[Fault::BrokenRow(6)], INITIAL), is(Cause::RowBroken, "a7 b7 c7 d7 e7 f7 g7 h7, row 6"));
    let column = is(Cause::ColumnBroken, "d1 d2 d7 d8, column 3");
    assert_eq!(one(&[Fault::BrokenColumn(3)], INITIAL), column);
    assert_eq!(one(&[Fault::ColumnLow(3)], INITIAL), column);
    let cut: Vec<Fault> = (0..8).map(Fault::BrokenRow).collect();
    assert_eq!(one(&cut, INITIAL), is(Cause::Silent, "the whole matrix"));
}

#[test]
fn what_does_not_open_shows_on_the_empty_board() {
    assert_eq!(
        one(&[Fault::ClosedReed(3, 4)], Bitboard::EMPTY),
        is(Cause::NeverOpens, "e4, row 3, column 4")
    );
    let stuck = is(Cause::ColumnStuck, "a1 a2 a3 a4 a5 a6 a7 a8, column 0");
    assert_eq!(one(&[Fault::ColumnHigh(0)], Bitboard::EMPTY), stuck);
    assert_eq!(one(&[Fault::ColumnHigh(0)], INITIAL), stuck);
    assert_eq!(
        one(&[Fault::Crosstalk((1, 4), (2, 4))], INITIAL),
        is(Cause::NeverOpens, "e3, row 2, column 4")
    );
}

#[test]
fn a_row_that_is_driven_all_the_time_is_one_finding() {
    let found = at_start(&measured(&[Fault::RowHigh(6)], INITIAL), &Layout::default()).unwrap();
    assert_eq!(found.iter().map(|finding| finding.cause).collect::<Vec<_>>(), [Cause::RowStuck]);
    let pattern = "a7 b7 c7 d7 e7 f7 h7, row 6";
    assert_eq!(one(&[Fault::RowHigh(6)], DIODE_PATTERNS[0]), is(Cause::RowStuck, pattern));
    assert_eq!(found_on_empty(&[Fault::RowHigh(6)]), []);
    let all: Vec<Fault> = (0..8).map(Fault::ColumnHigh).collect();
    assert_eq!(found_on_empty(&all), [is(Cause::RowStuck, "the whole matrix")]);
}

fn found_on_empty(faults: &[Fault]) -> Vec<(Cause, String)> {
    found(faults, Bitboard::EMPTY)
}

#[test]
fn columns_that_fall_too_slowly_are_told_from_contacts() {
    let (cause, place) = one(&[Fault::SlowColumns(80)], INITIAL);
    assert_eq!((cause, place.as_str()), (Cause::SettleTooShort, "a3 b3 c3 d3 e3 f3 g3 h3"));
    assert_eq!(found(&[Fault::SlowColumns(45)], INITIAL), []);
}

#[test]
fn a_matrix_without_diodes_is_recognised_however_its_rows_are_let_go() {
    let none = is(Cause::NoDiodes, "the whole matrix");
    assert_eq!(one(&[Fault::NoDiodes], INITIAL), none);
    assert_eq!(one(&[Fault::NoDiodes], DIODE_PATTERNS[0]), none);
    assert_eq!(expectation(&measured(&[Fault::NoDiodes], INITIAL), &Layout::default()), Some(INITIAL));
    let floating = [Fault::NoDiodes, Fault::FloatingRows];
    // The initial position hides it: it is its own ghost.
    assert_eq!(found(&floating, INITIAL), []);
    for pattern in DIODE_PATTERNS {
        assert_eq!(one(&floating, pattern), none);
    }
}

#[test]
fn a_board_that_lies_across_is_told_from_a_broken_one() {
    let matrix = SimulatedMatrix::new(Wiring::default(), Square::ALL, INITIAL.flip_diagonal(), 3);
    let probe = probe(&mut SimulatedPort::in_simulated_time(matrix, 50)).unwrap();
    let findings = at_start(&probe, &Layout::default()).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].cause, Cause::Turned);
}

#[test]
fn a_finding_says_where_what_and_what_to_do() {
    let probe = measured(&[Fault::OpenDiode(1, 4)], INITIAL);
    let text = examine(&probe, INITIAL, &Layout::default())[0].to_string();
    assert!(text.starts_with("e2, row 1, column 4: never-closes: no man stands there, "), "{text}");
    assert!(
        text.ends_with(
            "; put a man with a good magnet on the middle of the square; if it stays open, measure \
                            contact and diode"
        ),
        "{text}"
    );
}

proptest! {
    /// One shorted diode is found in each of the two patterns that it takes part in, and nothing else.
    #[test]
    fn a_shorted_diode_is_found_with_the_patterns(at in 0u8..64, pattern in 0usize..2, floating in any::<bool>()) {
        let men = DIODE_PATTERNS[pattern];
        let square = Square::new(u32::from(at));
        let mut faults = vec![Fault::ShortedDiode(at / 8, at % 8)];
        faults.extend(floating.then_some(Fault::FloatingRows));
        let findings = examine(&measured(&faults, men), men, &Layout::default());
        if men.contains(square) {
            prop_assert_eq!(findings.len(), 1, "{:?}", findings);
            prop_assert_eq!(findings[0].cause, Cause::DiodeShorted);
            prop_assert!(findings[0].squares.contains(square));
        } else {
            prop_assert!(findings.is_empty(), "{:?}", findings);
        }
    }

    /// Any reading is examined without a word too many: each square is told once at most.
    #[test]
    fn any_reading_is_examined(scans in prop::collection::vec(any::<[u8; 8]>(), 0..4), quiet: u8, all: u8,
                               patient: [u8; 8], men: u64) {
        let probe = Probe { quiet, all, scans, patient };
        let layout = Layout::default();
        let findings = examine(&probe, Bitboard(men), &layout);
        let singles = [Cause::NeverCloses, Cause::NeverOpens, Cause::Unstable];
        let mut seen = Bitboard::EMPTY;
        for finding in findings.iter().filter(|finding| singles.contains(&finding.cause)) {
            prop_assert!((seen & finding.squares).is_empty());
            seen |= finding.squares;
        }
        at_start(&probe, &layout);
    }
}
