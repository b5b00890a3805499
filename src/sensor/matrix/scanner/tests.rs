use proptest::prelude::*;
use shakmaty::{Bitboard, Square};

use super::*;
use crate::{
    sensor::matrix::simulated::SimulatedPort,
    session::debounce::Debouncer,
    simulate::matrix::{Fault, SimulatedMatrix, Wiring},
};

const PERIOD_US: u64 = 5_000;
const SETTLE_US: u64 = 50;

fn scanner(faults: &[Fault], men: Bitboard) -> Scanner<SimulatedPort> {
    let matrix = SimulatedMatrix::new(Wiring::with(faults), Square::ALL, men, 1);
    Scanner::new(SimulatedPort::in_simulated_time(matrix, SETTLE_US), Layout::default())
}

/// Scans once and lets the rest of the period pass.
fn turn(scanner: &mut Scanner<SimulatedPort>) -> (Snapshot, Vec<Edge>) {
    let begin = scanner.port().now();
    let mut edges = Vec::new();
    let snapshot = scanner.scan(|edge| edges.push(edge)).unwrap();
    let took = scanner.port().now().since(begin);
    scanner.port().pause(PERIOD_US - took);
    (snapshot, edges)
}

#[test]
fn a_scan_waits_for_seven_rows_because_the_first_one_is_driven_already() {
    let mut scanner = scanner(&[], Bitboard::FULL);
    turn(&mut scanner);
    let begin = scanner.port().now();
    let (snapshot, edges) = turn(&mut scanner);
    assert_eq!((snapshot.rows, edges.len()), ([0xff; 8], 0));
    assert_eq!(snapshot.at.since(begin), 7 * SETTLE_US);
}

#[test]
fn edges_come_in_the_order_in_which_they_were_read() {
    let mut scanner = scanner(&[], Bitboard::EMPTY);
    let (first, edges) = turn(&mut scanner);
    assert!(first.first && edges.is_empty());
    let men = [Square::H8, Square::B2, Square::A2, Square::C1];
    for square in men {
        scanner.port().matrix().set(square, true);
    }
    scanner.port().pause(10);
    let (_, edges) = turn(&mut scanner);
    let squares: Vec<Square> = edges.iter().map(|edge| edge.square).collect();
    assert_eq!(squares, [Square::C1, Square::A2, Square::B2, Square::H8]);
    assert!(edges.windows(2).all(|pair| pair[0].at <= pair[1].at));
    assert!(edges[0].at < edges[1].at && edges[1].at == edges[2].at);
}

#[test]
fn a_failure_is_followed_by_a_whole_board() {
    struct Failing(u32);
    impl MatrixPort for Failing {
        fn name(&self) -> String {
            "failing".to_owned()
        }
        fn drive(&mut self, _: u8) -> Result<(), PortError> {
            Ok(())
        }
        fn settle(&mut self) {}
        fn read_columns(&mut self) -> Result<u8, PortError> {
            self.0 += 1;
            if self.0 == 12 { Err(PortError("no answer".to_owned())) } else { Ok(1) }
        }
    }
    let mut scanner = Scanner::new(Failing(0), Layout::default());
    assert!(scanner.scan(|_| ()).unwrap().first);
    assert_eq!(scanner.scan(|_| ()), Err(PortError("no answer".to_owned())));
    assert!(scanner.scan(|_| ()).unwrap().first);
}

proptest! {
    /// From a contact that changes to its edge takes at most one period and one scan, and to the change that
    /// counts, the debounce time more. Bounce of less than the debounce time makes no second change.
    #[test]
    fn a_contact_is_seen_within_a_period_and_counts_after_its_debounce(
        at in 10_000u64..30_000, square in 0u32..64, closes in any::<bool>(),
        bounces in prop::collection::vec(50u64..700, 0..6),
    ) {
        let (close_ms, open_ms) = (15, 30);
        let square = Square::new(square);
        let men = if closes { Bitboard::EMPTY } else { Bitboard::FULL };
        let mut scanner = scanner(&[], men);
        let (mut time, mut state) = (at, closes);
        scanner.port().matrix().later(time, square, state);
        for bounce in bounces.chunks_exact(2) {
            for rest in bounce {
                time += rest;
                state = !state;
                scanner.port().matrix().later(time, square, state);
            }
        }
        let rested = time;
        let mut debouncer = Debouncer::new(men, close_ms, open_ms);
        let (mut edges, mut changes) = (Vec::new(), Vec::new());
        while scanner.port().now().as_micros() < 120_000 {
            let (snapshot, fresh) = turn(&mut scanner);
            for edge in fresh {
                debouncer.edge(edge.at, edge.square, edge.closed);
                edges.push(edge);
            }
            while let Some(change) = debouncer.next(snapshot.at, |square| square) {
                changes.push(change);
            }
        }
        let first = edges[0].at.as_micros();
        prop_assert!(first >= at && edges.last().unwrap().at.as_micros() <= rested + PERIOD_US + 8 * SETTLE_US);
        prop_assert_eq!(changes.len(), 1);
        let (counted, changed, occupied) = changes[0];
        prop_assert_eq!((changed, occupied), (square, closes));
        let debounce = 1_000 * if closes { close_ms } else { open_ms };
        // A column that is let go falls within 30 us, which is the simulated wire and not the scanner.
        let latest = rested + debounce + PERIOD_US + 30;
        prop_assert!(counted.as_micros() <= latest, "{} after {rested}", counted.as_micros());
    }

    /// Whatever is wrong with the wires, edges lead from one whole board to the next.
    #[test]
    fn edges_add_up(seed in any::<u64>(), moves in prop::collection::vec((0u64..40_000, 0u32..64, any::<bool>()), 0..40)) {
        let faults = [Fault::NoDiodes, Fault::SlowColumns(80), Fault::Crosstalk((1, 1), (1, 2))];
        let matrix = SimulatedMatrix::new(Wiring::with(&faults), Square::ALL, Bitboard(seed), seed);
        let mut scanner = Scanner::new(SimulatedPort::in_simulated_time(matrix, SETTLE_US), Layout::default());
        for (at, square, closed) in moves {
            scanner.port().matrix().later(at, Square::new(square), closed);
        }
        let mut known = Bitboard::EMPTY;
        for index in 0..10 {
            let (snapshot, edges) = turn(&mut scanner);
            if index == 0 {
                known = scanner.layout().occupied(&snapshot.rows);
            }
            for edge in edges {
                prop_assert!(known.contains(edge.square) != edge.closed);
                known.set(edge.square, edge.closed);
            }
            prop_assert_eq!(known, scanner.layout().occupied(&snapshot.rows));
        }
    }
}
