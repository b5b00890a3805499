//! How the daemon is doing: what the board threads, the writers and the sources tell about
//! themselves, for `/healthz`, `/metrics`, the service manager and the watchdog.

use std::{
    fmt::Write as _,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value};

use crate::{
    feed::operator::{Device, Operator, Trouble},
    sensor::matrix::{LATE_BOUNDS_US, ScanFigures, Status},
    session::{time::MonoTime, view::Effort},
};

/// What one board tells about itself.
#[derive(Debug, Default)]
pub struct BoardHealth {
    id: String,
    /// Monotonic microseconds of the last turn of the board thread's loop.
    advanced: AtomicU64,
    inputs: AtomicU64,
    facts: AtomicU64,
    records: AtomicU64,
    syncs: AtomicU64,
    lost: AtomicU64,
    waiting: AtomicU64,
    readings: AtomicU64,
    loose_plies: AtomicU64,
    games: AtomicU64,
    ended: AtomicBool,
    troubles: Mutex<Troubles>,
    /// How the scans of a matrix are doing.
    scans: Arc<Status>,
    about: Mutex<Map<String, Value>>,
}

#[derive(Debug, Default)]
struct Troubles {
    journal: Option<String>,
    source: Option<String>,
}

/// A copy of the figures of one board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardFigures {
    /// Identifier of the board.
    pub id: String,
    /// Inputs since the start of the daemon.
    pub inputs: u64,
    /// Facts since the start of the daemon.
    pub facts: u64,
    /// Records written to the journal.
    pub records: u64,
    /// Times that the journal was brought to stable storage.
    pub syncs: u64,
    /// Records that found no room while the journal was failed.
    pub lost: u64,
    /// Records that wait for the journal.
    pub waiting: u64,
    /// Readings of the board that are still possible.
    pub readings: u64,
    /// Plies of all readings that are not firm yet.
    pub loose_plies: u64,
    /// Games that the readings hold in memory.
    pub games: u64,
    /// What is wrong with the journal; `None` while it is whole.
    pub journal_trouble: Option<String>,
    /// What is wrong with the source; `None` while it is read.
    pub source_trouble: Option<String>,
    /// The scans of a matrix; `None` for another source.
    pub scans: Option<ScanFigures>,
}

impl BoardHealth {
    /// The health of a board that has not started.
    pub fn new(id: &str) -> BoardHealth {
        BoardHealth { id: id.to_owned(), ..BoardHealth::default() }
    }

    /// Identifier of the board.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn troubles(&self) -> MutexGuard<'_, Troubles> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The board thread advances.
    pub fn advance(&self, now: MonoTime) {
        self.advanced.store(now.as_micros(), Ordering::Relaxed);
    }

    /// The board thread has ended, as it was asked to.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// True while the board thread has advanced within `limit`, or has ended as asked.
    pub fn is_alive(&self, now: MonoTime, limit: Duration) -> bool {
        let since = now.since(MonoTime::from_micros(self.advanced.load(Ordering::Relaxed)));
        self.ended.load(Ordering::Relaxed) || u128::from(since) <= limit.as_micros()
    }

    /// Counts an input.
    pub fn count_input(&self) {
        self.inputs.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts facts.
    pub fn count_facts(&self, count: usize) {
        self.facts.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Tells how much the session keeps in mind.
    pub fn set_effort(&self, effort: Effort) {
        self.readings.store(effort.readings as u64, Ordering::Relaxed);
        self.loose_plies.store(effort.loose_plies as u64, Ordering::Relaxed);
        self.games.store(effort.games as u64, Ordering::Relaxed);
    }

    /// Counts a sync of the journal.
    pub fn count_sync(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    /// One more record waits for the journal; false, and counted as lost, when `limit` wait already.
    pub fn take_room(&self, limit: u64) -> bool {
        if self.waiting.load(Ordering::Relaxed) >= limit {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// A record was written.
    pub fn count_record(&self) {
        self.records.fetch_add(1, Ordering::Relaxed);
        self.give_room();
    }

    /// A record does not wait any longer.
    pub fn give_room(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records lost since the start of the daemon.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Says what is wrong with the journal, or that it is whole. True when that is news.
    pub fn set_journal(&self, trouble: Option<&str>) -> bool {
        replace(&mut self.troubles().journal, trouble)
    }

    /// Says what is wrong with the source, or that it is read. True when that is news.
    pub fn set_source(&self, trouble: Option<&str>) -> bool {
        replace(&mut self.troubles().source, trouble)
    }

    /// Tells what the board says of itself: serial numbers, versions, battery, ...
    pub fn set_about(&self, about: &[(&'static str, Value)]) {
        let mut known = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, value) in about {
            if known.get(*name) != Some(value) {
                known.insert((*name).to_owned(), value.clone());
            }
        }
    }

    /// What the board said of itself.
    pub fn about(&self) -> Map<String, Value> {
        self.about.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True while the journal is not whole.
    pub fn is_journal_failed(&self) -> bool {
        self.troubles().journal.is_some()
    }

    /// Where a matrix tells how its scans are doing.
    pub fn scans(&self) -> &Arc<Status> {
        &self.scans
    }

    /// A copy of everything.
    pub fn figures(&self) -> BoardFigures {
        let (journal_trouble, source_trouble) = {
            let troubles = self.troubles();
            (troubles.journal.clone(), troubles.source.clone())
        };
        BoardFigures {
            id: self.id.clone(),
            inputs: self.inputs.load(Ordering::Relaxed),
            facts: self.facts.load(Ordering::Relaxed),
            records: self.records.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
            lost: self.lost(),
            waiting: self.waiting.load(Ordering::Relaxed),
            readings: self.readings.load(Ordering::Relaxed),
            loose_plies: self.loose_plies.load(Ordering::Relaxed),
            games: self.games.load(Ordering::Relaxed),
            journal_trouble,
            source_trouble,
            scans: self.scans.figures(),
        }
    }
}

fn replace(slot: &mut Option<String>, trouble: Option<&str>) -> bool {
    if slot.as_deref() == trouble {
        return false;
    }
    *slot = trouble.map(str::to_owned);
    true
}

/// The health of all boards.
#[derive(Clone, Debug, Default)]
pub struct Health {
    boards: Arc<Vec<Arc<BoardHealth>>>,
}

impl Health {
    /// The health of these boards.
    pub fn new(boards: Vec<Arc<BoardHealth>>) -> Health {
        Health { boards: Arc::new(boards) }
    }

    /// True while every board thread advances.
    pub fn all_alive(&self, now: MonoTime, limit: Duration) -> bool {
        self.boards.iter().all(|board| board.is_alive(now, limit))
    }

    /// The figures of every board.
    pub fn figures(&self) -> Vec<BoardFigures> {
        self.boards.iter().map(|board| board.figures()).collect()
    }

    /// How things stand in one line, for `systemctl status`.
    pub fn line(&self) -> String {
        let figures = self.figures();
        let mut line = match figures.as_slice() {
            [one] => format!("serving board {}", one.id),
            many => format!("serving {} boards", many.len()),
        };
        for board in &figures {
            if let Some(trouble) = &board.journal_trouble {
                line.push_str(&format!("; board {}: journal: failed ({trouble})", board.id));
            }
            if let Some(trouble) = &board.source_trouble {
                line.push_str(&format!("; board {}: {trouble}", board.id));
            }
        }
        line
    }
}

impl Operator for Health {
    fn troubles(&self) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        for board in self.figures() {
            let wiring = board.scans.and_then(|scans| scans.wiring);
            let all =
                [("journal", board.journal_trouble), ("source", board.source_trouble), ("wiring", wiring)];
            for (what, detail) in all {
                troubles.extend(detail.map(|detail| Trouble { board: board.id.clone(), what, detail }));
            }
        }
        troubles
    }

    fn devices(&self) -> Vec<Device> {
        let device = |board: &Arc<BoardHealth>| Device { board: board.id.clone(), about: board.about() };
        self.boards.iter().map(device).filter(|device| !device.about.is_empty()).collect()
    }

    fn metrics(&self) -> String {
        type Figure = fn(&BoardFigures) -> u64;
        let figures: [(&str, &str, &str, Figure); 11] = [
            ("board_inputs_total", "counter", "Inputs of the board", |board| board.inputs),
            ("board_facts_total", "counter", "Facts that the session concluded", |board| board.facts),
            ("board_readings", "gauge", "Readings of the board that are still possible", |board| {
                board.readings
            }),
            ("board_loose_plies", "gauge", "Plies of all readings that are not firm yet", |board| {
                board.loose_plies
            }),
            ("board_games", "gauge", "Games that the readings hold in memory", |board| board.games),
            ("journal_records_total", "counter", "Records written to the journal", |board| board.records),
            ("journal_syncs_total", "counter", "Times that the journal was put on stable storage", |board| {
                board.syncs
            }),
            ("journal_waiting_records", "gauge", "Records that wait for the journal", |board| board.waiting),
            (
                "journal_lost_records_total",
                "counter",
                "Records that found no room while the disk failed",
                |board| board.lost,
            ),
            ("journal_failed", "gauge", "1 while the journal cannot be written", |board| {
                u64::from(board.journal_trouble.is_some())
            }),
            ("source_failed", "gauge", "1 while the board cannot be read", |board| {
                u64::from(board.source_trouble.is_some())
            }),
        ];
        let boards = self.figures();
        let mut text = String::new();
        for (name, kind, help, figure) in figures {
            let _ = writeln!(text, "# HELP touchmoved_{name} {help}.\n# TYPE touchmoved_{name} {kind}");
            for board in &boards {
                let _ = writeln!(text, "touchmoved_{name}{{board=\"{}\"}} {}", board.id, figure(board));
            }
        }
        scan_metrics(&mut text, &boards);
        let percent = |board: &Arc<BoardHealth>| board.about().get("battery")?.get("percent")?.as_u64();
        let batteries: Vec<_> = self.boards.iter().filter_map(|b| Some((&b.id, percent(b)?))).collect();
        if !batteries.is_empty() {
            text.push_str(
                "# HELP touchmoved_board_battery_percent Charge of the board's own battery.\n\
                 # TYPE touchmoved_board_battery_percent gauge\n",
            );
        }
        for (board, percent) in batteries {
            let _ = writeln!(text, "touchmoved_board_battery_percent{{board=\"{board}\"}} {percent}");
        }
        text
    }
}

/// The scans of boards that are scanned.
fn scan_metrics(text: &mut String, boards: &[BoardFigures]) {
    type Figure = fn(&ScanFigures) -> u64;
    let scanned: Vec<(&str, &ScanFigures)> =
        boards.iter().filter_map(|board| Some((board.id.as_str(), board.scans.as_ref()?))).collect();
    if scanned.is_empty() {
        return;
    }
    let figures: [(&str, &str, &str, Figure); 5] = [
        ("overruns_total", "counter", "Scans that began more than three periods late", |scans| {
            scans.overruns
        }),
        ("missed_total", "counter", "Scans that were left out because their time had passed", |scans| {
            scans.missed
        }),
        ("failures_total", "counter", "Times that the lines of the matrix could not be read", |scans| {
            scans.failures
        }),
        ("late_worst_microseconds", "gauge", "By how much the latest scan of all began late", |scans| {
            scans.late_worst_us
        }),
        ("wiring_faults", "gauge", "1 while the self-test of the wiring found something", |scans| {
            u64::from(scans.wiring.is_some())
        }),
    ];
    for (name, kind, help, figure) in figures {
        let _ = writeln!(text, "# HELP touchmoved_scan_{name} {help}.\n# TYPE touchmoved_scan_{name} {kind}");
        for (id, scans) in &scanned {
            let _ = writeln!(text, "touchmoved_scan_{name}{{board=\"{id}\"}} {}", figure(scans));
        }
    }
    let name = "touchmoved_scan_late_seconds";
    let _ = writeln!(text, "# HELP {name} How late the scans of the matrix began.\n# TYPE {name} histogram");
    for (id, scans) in scanned {
        let bounds = LATE_BOUNDS_US.iter().map(|us| seconds(*us)).chain(["+Inf".to_owned()]);
        let mut sum = 0;
        for (bound, count) in bounds.zip(scans.late) {
            sum += count;
            let _ = writeln!(text, "{name}_bucket{{board=\"{id}\",le=\"{bound}\"}} {sum}");
        }
        let late = seconds(scans.late_sum_us);
        let _ = writeln!(text, "{name}_sum{{board=\"{id}\"}} {late}\n{name}_count{{board=\"{id}\"}} {sum}");
    }
}

/// Microseconds in seconds, with a point.
fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_what_is_wrong() {
        let board = Arc::new(BoardHealth::new("a7"));
        let health = Health::new(vec![board.clone()]);
        assert_eq!(health.line(), "serving board a7");
        assert!(board.set_journal(Some("no space left")));
        assert!(!board.set_journal(Some("no space left")), "the same trouble is no news");
        assert_eq!(health.line(), "serving board a7; board a7: journal: failed (no space left)");
        let detail = "no space left".to_owned();
        assert_eq!(health.troubles(), [Trouble { board: "a7".into(), what: "journal", detail }]);
        assert!(health.metrics().contains("touchmoved_journal_failed{board=\"a7\"} 1\n"));
        assert!(board.set_journal(None));
        assert_eq!(health.figures()[0].journal_trouble, None);
    }

    #[test]
    fn what_the_session_keeps_in_mind_is_told() {
        let board = Arc::new(BoardHealth::new("a7"));
        board.set_effort(Effort { readings: 3, loose_plies: 7, games: 5 });
        let metrics = Health::new(vec![board]).metrics();
        for figure in
            ["readings{board=\"a7\"} 3\n", "loose_plies{board=\"a7\"} 7\n", "games{board=\"a7\"} 5\n"]
        {
            assert!(metrics.contains(&format!("touchmoved_board_{figure}")), "{metrics}");
        }
    }

    #[test]
    fn the_scans_of_a_matrix_are_told_where_there_is_one() {
        let board = Arc::new(BoardHealth::new("a7"));
        let health = Health::new(vec![board.clone(), Arc::new(BoardHealth::new("b"))]);
        assert!(!health.metrics().contains("scan"));
        for late in [40, 90, 30_000] {
            board.scans().count_scan(late);
        }
        board.scans().count_overrun();
        board.scans().set_wiring(Some("e2: never-closes".to_owned()));
        let metrics = health.metrics();
        for line in [
            "scan_overruns_total{board=\"a7\"} 1\n",
            "scan_late_worst_microseconds{board=\"a7\"} 30000\n",
            "scan_late_seconds_bucket{board=\"a7\",le=\"0.000050\"} 1\n",
            "scan_late_seconds_bucket{board=\"a7\",le=\"0.020000\"} 2\n",
            "scan_late_seconds_bucket{board=\"a7\",le=\"+Inf\"} 3\n",
            "scan_late_seconds_sum{board=\"a7\"} 0.030130\n",
            "scan_late_seconds_count{board=\"a7\"} 3\n",
            "scan_wiring_faults{board=\"a7\"} 1\n",
        ] {
            assert!(metrics.contains(&format!("touchmoved_{line}")), "{line}{metrics}");
        }
        assert!(!metrics.contains("scan_missed_total{board=\"b\"}"));
        let detail = "e2: never-closes".to_owned();
        assert_eq!(health.troubles(), [Trouble { board: "a7".into(), what: "wiring", detail }]);
    }

    #[test]
    fn what_the_board_says_of_itself_is_told() {
        let board = Arc::new(BoardHealth::new("a7"));
        let health = Health::new(vec![board.clone(), Arc::new(BoardHealth::new("a8"))]);
        assert_eq!(health.devices(), []);
        assert!(!health.metrics().contains("battery"));
        board.set_about(&[("serial", "01025".into()), ("battery", serde_json::json!({"percent": 90}))]);
        board.set_about(&[("battery", serde_json::json!({"percent": 89}))]);
        let told = serde_json::to_value(health.devices()).unwrap();
        assert_eq!(told, serde_json::json!([{"board": "a7", "serial": "01025", "battery": {"percent": 89}}]));
        assert!(health.metrics().contains("touchmoved_board_battery_percent{board=\"a7\"} 89\n"));
    }

    #[test]
    fn a_board_thread_that_hangs_is_not_alive() {
        let board = Arc::new(BoardHealth::new("1"));
        let health = Health::new(vec![board.clone()]);
        board.advance(MonoTime::from_micros(1_000_000));
        let limit = Duration::from_secs(3);
        assert!(health.all_alive(MonoTime::from_micros(4_000_000), limit));
        assert!(!health.all_alive(MonoTime::from_micros(4_000_001), limit));
        board.end();
        assert!(health.all_alive(MonoTime::from_micros(9_000_000), limit));
    }

    #[test]
    fn records_without_room_are_counted() {
        let board = BoardHealth::new("1");
        assert!(board.take_room(1));
        assert!(!board.take_room(1));
        board.give_room();
        assert!(board.take_room(1));
        assert_eq!((board.lost(), board.figures().waiting), (1, 1));
    }
}
