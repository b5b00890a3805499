use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, sync_channel},
};

use shakmaty::{Bitboard, Square};

use super::*;
use crate::{
    sensor::{
        Reading,
        matrix::{LINES, Rows, simulated::SimulatedPort},
    },
    session::io::Input,
    simulate::matrix::{Fault, SimulatedMatrix, Wiring},
};

/// A matrix in memory: what every scan reads, one after the other; the last one stays.
struct Listed {
    scans: Vec<Result<Rows, &'static str>>,
    scan: usize,
    row: Option<u32>,
    settled: bool,
    /// Set when the last scan has been read.
    done: Arc<AtomicBool>,
}

impl MatrixPort for Listed {
    fn name(&self) -> String {
        "listed matrix".to_owned()
    }

    fn drive(&mut self, rows: u8) -> Result<(), PortError> {
        assert_eq!(rows.count_ones(), 1);
        (self.row, self.settled) = (Some(rows.trailing_zeros()), false);
        Ok(())
    }

    fn settle(&mut self) {
        self.settled = true;
    }

    fn pause(&mut self, us: u64) {
        // The row that stays driven between two scans has time enough.
        self.settled = true;
        std::thread::sleep(std::time::Duration::from_micros(us.min(1_000)));
    }

    fn read_columns(&mut self) -> Result<u8, PortError> {
        let row = self.row.unwrap() as usize;
        let read = self.scans[self.scan].map(|rows| rows[row]).map_err(|text| PortError(text.to_owned()));
        if row + 1 == LINES || read.is_err() {
            if self.scan + 1 < self.scans.len() {
                self.scan += 1;
            } else {
                self.done.store(true, Ordering::Relaxed);
            }
        }
        read
    }
}

fn events(source: impl Source + 'static, done: impl Fn() -> bool) -> Vec<Event> {
    let (sender, receiver): (_, Receiver<Reading>) = sync_channel(1000);
    let stop = Stop::default();
    let ending = stop.clone();
    let thread = std::thread::spawn(move || Box::new(source).run(&Sink::new(sender), &ending));
    while !done() && !thread.is_finished() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    stop.set();
    let readings: Vec<Reading> = receiver.iter().collect();
    let ended = thread.join().unwrap();
    assert!(readings.windows(2).all(|pair| pair[0].at <= pair[1].at));
    let told = readings.into_iter().filter_map(|reading| match reading.input {
        Some(Input::Event(_, Event::Device(value))) if value.get("overruns").is_some() => None,
        Some(Input::Event(_, event)) => Some(event),
        _ => None,
    });
    let refused = ended.err().map(|error| Event::Device(json!({"refused": error.to_string()})));
    told.chain(refused).collect()
}

fn scan(scans: Vec<Result<Rows, &'static str>>, layout: Layout) -> Vec<Event> {
    let done = Arc::new(AtomicBool::new(false));
    let port = Listed { scans, scan: 0, row: None, settled: false, done: done.clone() };
    let scan = Scan { layout, period_us: 1_000, self_test: false, ..Scan::default() };
    let source = MatrixSource::new(port, scan);
    assert_eq!(source.name(), "listed matrix");
    events(source, || done.load(Ordering::Relaxed))
}

const START: Rows = [0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff];

fn square(square: Square, occupied: bool) -> Event {
    Event::Square { square, occupied }
}

#[test]
fn the_whole_board_comes_first_and_then_every_edge() {
    let lifted = [0xff, 0xef, 0, 0, 0, 0, 0xff, 0xff];
    let placed = [0xff, 0xef, 0, 0x10, 0, 0, 0xff, 0xff];
    let events = scan(vec![Ok(START), Ok(START), Ok(lifted), Ok(placed)], Layout::default());
    assert_eq!(
        events,
        [
            Event::Link(true),
            Event::Occupied(Bitboard(0xffff_0000_0000_ffff)),
            square(Square::E2, false),
            square(Square::E4, true),
        ]
    );
}

#[test]
fn squares_are_those_of_the_layout() {
    let files = Layout::new(std::array::from_fn(|at| Square::ALL[at % 8 * 8 + at / 8])).unwrap();
    let events = scan(vec![Ok([0; LINES]), Ok([0, 0b10, 0b1, 0, 0, 0, 0, 0])], files);
    assert_eq!(
        events,
        [
            Event::Link(true),
            Event::Occupied(Bitboard::EMPTY),
            square(Square::B2, true),
            square(Square::C1, true)
        ]
    );
}

#[test]
fn a_port_that_fails_is_reported_once_and_read_again() {
    let events = scan(vec![Ok(START), Err("no answer"), Ok(START)], Layout::default());
    let there = [Event::Link(true), Event::Occupied(Bitboard(0xffff_0000_0000_ffff))];
    assert_eq!(events, [&there[..], &failed(), &there].concat());
}

fn failed() -> [Event; 2] {
    [Event::Device(json!({"source": "matrix", "error": "no answer"})), Event::Link(false)]
}

#[test]
fn a_port_that_fails_again_is_given_back_to_be_opened_anew() {
    let events = scan(vec![Ok(START), Err("no answer"), Err("no answer"), Ok(START)], Layout::default());
    let there = [Event::Link(true), Event::Occupied(Bitboard(0xffff_0000_0000_ffff))];
    let refused = "listed matrix: no answer; check its plugs and its power";
    let refused = [Event::Device(json!({"refused": refused}))];
    assert_eq!(events, [&there[..], &failed(), &refused].concat());
}

/// A simulated board with these faults, scanned until ten scans are made or it is refused.
fn started(faults: &[Fault], men: Bitboard) -> (Vec<Event>, Option<String>) {
    let status = Arc::new(Status::default());
    let told = opened(faults, men, &status);
    (told, status.figures().and_then(|figures| figures.wiring))
}

/// The same of a board that was opened before: `status` is what is known of it.
fn opened(faults: &[Fault], men: Bitboard, status: &Arc<Status>) -> Vec<Event> {
    let matrix = SimulatedMatrix::new(Wiring::with(faults), Square::ALL, men, 7);
    let source = MatrixSource::new(SimulatedPort::in_simulated_time(matrix, 50), Scan::default())
        .with_status(status.clone());
    let enough = status.figures().map_or(0, |figures| figures.scans) + 10;
    events(source, || status.figures().is_some_and(|figures| figures.scans >= enough))
}

#[test]
fn the_wiring_is_examined_at_the_start() {
    let start = selftest::INITIAL;
    assert_eq!(started(&[], start), (vec![Event::Link(true), Event::Occupied(start)], None));
    let (told, wiring) = started(&[Fault::OpenDiode(1, 4)], start);
    let found = json!({"source": "matrix", "self_test": [{"finding": "never-closes", "place": "e2, row 1, column 4"}]});
    let rest = Event::Occupied(start.without(Square::E2));
    assert_eq!(told, [Event::Device(found), Event::Link(true), rest]);
    let wiring = wiring.unwrap();
    assert!(wiring.starts_with("e2, row 1, column 4: never-closes: no man stands there, "), "{wiring}");
}

#[test]
fn a_matrix_without_diodes_is_refused_with_the_reason() {
    let (told, wiring) = started(&[Fault::NoDiodes], selftest::INITIAL);
    let [Event::Device(found), Event::Device(refused)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(found["self_test"][0]["finding"], "no-diodes");
    let refused = refused["refused"].as_str().unwrap();
    assert!(refused.starts_with("simulated matrix: the matrix has no diodes"), "{refused}");
    assert!(refused.contains("; solder a diode to each contact"), "{refused}");
    assert!(wiring.unwrap().contains("no-diodes"));
}

/// The test at the start makes the second scan late: it follows the first one at once, while the columns of the last
/// row are still falling.
#[test]
fn a_scan_that_follows_at_once_lets_its_first_row_settle() {
    let men = selftest::INITIAL.without(Square::G1);
    let (told, _) = started(&[], men);
    assert!(!told.iter().any(|event| matches!(event, Event::Square { .. })), "{told:?}");
}

/// A board that is tried again and again is told once, and once more when it is something else or in order.
#[test]
fn what_is_known_of_the_wiring_is_not_told_again() {
    let status = Arc::new(Status::default());
    let told = |faults: &[Fault]| -> Vec<String> {
        let events = opened(faults, selftest::INITIAL, &status);
        let found = events.iter().filter_map(|event| match event {
            Event::Device(value) => value.get("self_test"),
            _ => None,
        });
        found
            .map(|found| found.as_array().unwrap().iter().map(|one| one["finding"].to_string()).collect())
            .collect()
    };
    let refused = [Fault::NoDiodes];
    assert_eq!(told(&refused), ["\"no-diodes\""]);
    assert!(told(&refused).is_empty() && told(&refused).is_empty());
    assert_eq!(told(&[Fault::OpenDiode(1, 4)]), ["\"never-closes\""]);
    assert!(told(&[Fault::OpenDiode(1, 4)]).is_empty());
    assert_eq!(told(&[]), [""], "it is in order again");
    assert!(told(&[]).is_empty());
    assert_eq!(told(&refused), ["\"no-diodes\""]);
}

#[test]
fn a_game_that_goes_on_is_no_fault() {
    let played = selftest::INITIAL.without(Square::E2).with(Square::E4);
    let told = started(&[], played);
    assert_eq!(told, (vec![Event::Link(true), Event::Occupied(played)], None));
}
