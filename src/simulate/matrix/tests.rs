use proptest::prelude::*;

use super::*;

fn squares() -> [Square; 64] {
    Square::ALL
}

/// Reads all rows, each after `settle` microseconds.
fn scan(matrix: &mut SimulatedMatrix, from: u64, settle: u64) -> Bitboard {
    let mut read = 0;
    let mut at = from;
    for row in 0..8 {
        matrix.drive(at, 1 << row);
        at += settle;
        read |= u64::from(matrix.columns(at)) << (8 * row);
    }
    Bitboard(read)
}

fn read(faults: &[Fault], men: Bitboard) -> Bitboard {
    let mut matrix = SimulatedMatrix::new(Wiring::with(faults), squares(), men, 1);
    scan(&mut matrix, 1_000, 50)
}

const START: Bitboard = Bitboard(0xffff_0000_0000_ffff);

fn on(squares: &[Square]) -> Bitboard {
    squares.iter().copied().collect()
}

#[test]
fn three_corners_without_diodes_make_a_fourth() {
    let corners = on(&[Square::B2, Square::B6, Square::G2]);
    let floating = [Fault::NoDiodes, Fault::FloatingRows];
    assert_eq!(read(&floating, corners), corners.with(Square::G6));
    // With a diode at each contact there is none, whatever the drivers do.
    assert_eq!(read(&[Fault::FloatingRows], corners), corners);
    // The table of docs/hardware.md: after 1.e4 eight squares too many, and the first lift is unseen.
    let lifted = START.without(Square::E2);
    assert_eq!(read(&floating, lifted), START);
    assert_eq!((read(&floating, lifted.with(Square::E4)) & !lifted.with(Square::E4)).count(), 8);
}

#[test]
fn without_diodes_rows_that_are_held_at_rest_drain_what_the_driven_row_feeds() {
    assert_eq!(read(&[Fault::NoDiodes], on(&[Square::A1, Square::B2])), on(&[Square::A1, Square::B2]));
    assert_eq!(
        read(&[Fault::NoDiodes], on(&[Square::A1, Square::A2, Square::A7, Square::A8, Square::A5])),
        Bitboard::EMPTY
    );
}

#[test]
fn a_shorted_diode_shows_its_row_on_the_rows_that_share_its_column() {
    let men = on(&[Square::E4, Square::B4, Square::E7]);
    let faults = [Fault::ShortedDiode(3, 4), Fault::FloatingRows];
    assert_eq!(read(&faults, men), men.with(Square::B7));
    assert_eq!(read(&faults, men.without(Square::E4)), men.without(Square::E4));
}

#[test]
fn what_is_broken_or_stuck_reads_so() {
    let all = |squares: Bitboard| read(&[], squares);
    assert_eq!(all(START), START);
    assert_eq!(read(&[Fault::OpenDiode(1, 4)], START), START.without(Square::E2));
    assert_eq!(read(&[Fault::OpenReed(1, 4)], START), START.without(Square::E2));
    assert_eq!(read(&[Fault::ClosedReed(4, 4)], START), START.with(Square::E5));
    assert_eq!(read(&[Fault::BrokenRow(0)], START), START & !Bitboard(0xff));
    let file = Bitboard(0x0101_0101_0101_0101);
    assert_eq!(read(&[Fault::BrokenColumn(0)], START), START & !file);
    assert_eq!(read(&[Fault::ColumnLow(0)], START), START & !file);
    assert_eq!(
        read(&[Fault::RowHigh(3)], on(&[Square::B4, Square::C6])),
        on(&[Square::C6]) | Bitboard(0x0202_0202_0202_0202)
    );
    assert_eq!(read(&[Fault::ColumnHigh(0)], START), START | file);
    assert_eq!(read(&[Fault::Crosstalk((3, 3), (3, 4))], on(&[Square::D4])), on(&[Square::D4, Square::E4]));
    assert_eq!(read(&[Fault::Crosstalk((3, 3), (3, 4))], on(&[Square::E4])), on(&[Square::E4]));
}

#[test]
fn a_settle_time_that_is_too_short_reads_the_row_before() {
    let men = on(&[Square::C2]);
    let faults = [Fault::SlowColumns(80)];
    let mut matrix = SimulatedMatrix::new(Wiring::with(&faults), squares(), men, 1);
    assert_eq!(scan(&mut matrix, 1_000, 50), men.with(Square::C3));
    assert_eq!(scan(&mut matrix, 9_000, 80), men);
}

#[test]
fn faults_are_written_as_they_are_read() {
    for text in [
        "no-diodes",
        "floating-rows",
        "shorted-diode 3,4",
        "open-diode 0,7",
        "open-reed 1,1",
        "closed-reed 2,2",
        "crosstalk 3,4 3,5",
        "broken-row 7",
        "row-high 3",
        "broken-column 0",
        "column-high 1",
        "column-low 1",
        "slow-columns 80",
    ] {
        assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
    }
    for text in ["", "no-diode", "broken-row 8", "open-reed 1", "crosstalk 1,1", "slow-columns 5001"] {
        let error = text.parse::<Fault>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("no fault is called {text:?}; they are no-diodes, ")), "{error}");
    }
}

proptest! {
    /// A matrix without faults reads what stands on it, and the same seed reads the same, also by chance.
    #[test]
    fn good_wires_tell_the_truth(men in any::<u64>(), seed in any::<u64>(), settle in 30u64..200) {
        let mut matrix = SimulatedMatrix::new(Wiring::default(), squares(), Bitboard(men), seed);
        prop_assert_eq!(scan(&mut matrix, 0, settle), Bitboard(men));
        let faulty = || SimulatedMatrix::new(Wiring::with(&[Fault::NoDiodes]), squares(), Bitboard(men), seed);
        let (mut one, mut other) = (faulty(), faulty());
        prop_assert_eq!(scan(&mut one, 0, settle), scan(&mut other, 0, settle));
    }
}
