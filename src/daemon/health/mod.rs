//! How the daemon is doing: what the board threads, the writers and the sources tell about
//! themselves, for `/healthz`, `/metrics`, the service manager and the watchdog.

mod metrics;
mod source;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

pub use self::source::{SourceFigures, SourceHealth};
use crate::{
    feed::operator::{Device, Operator, Trouble},
    session::{event::Unit, time::MonoTime, view::Effort},
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
    /// What the counts stood at when the embargo of an adjournment began, while it holds.
    embargo: Mutex<Option<Counts>>,
    ended: AtomicBool,
    journal_trouble: Mutex<Option<String>>,
    source: SourceHealth,
    /// The source of the second of two boards.
    second: Option<SourceHealth>,
}

/// What a board counts of its game and of the record of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
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
}

/// A copy of the figures of one board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardFigures {
    /// Identifier of the board.
    pub id: String,
    /// What it counts. While an embargo holds: what it had counted when that began.
    pub counts: Counts,
    /// What is wrong with the journal; `None` while it is whole.
    pub journal_trouble: Option<String>,
    /// Its source, or those of its two boards.
    pub sources: Vec<SourceFigures>,
}

impl BoardHealth {
    /// The health of a board that has not started.
    pub fn new(id: &str) -> BoardHealth {
        BoardHealth { id: id.to_owned(), ..BoardHealth::default() }
    }

    /// The same of a game on two boards.
    pub fn of_two_boards(id: &str) -> BoardHealth {
        let [source, second] = Unit::ALL.map(SourceHealth::of);
        BoardHealth { source, second: Some(second), ..BoardHealth::new(id) }
    }

    /// The health of the source of one of the boards: of the only one, where there are not two.
    pub fn source(&self, unit: Unit) -> &SourceHealth {
        self.second.as_ref().filter(|_| unit == Unit::B).unwrap_or(&self.source)
    }

    /// The health of every source.
    pub fn sources(&self) -> impl Iterator<Item = &SourceHealth> {
        std::iter::once(&self.source).chain(&self.second)
    }

    /// Identifier of the board.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn journal_trouble(&self) -> MutexGuard<'_, Option<String>> {
        self.journal_trouble.lock().unwrap_or_else(PoisonError::into_inner)
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
        replace(&mut self.journal_trouble(), trouble)
    }

    /// True while the journal is not whole.
    pub fn is_journal_failed(&self) -> bool {
        self.journal_trouble().is_some()
    }

    /// The embargo of an adjournment holds, or it does not. While it does the counts stand still: they would tell
    /// that the sealed move was made.
    pub fn set_embargo(&self, holds: bool) {
        let mut kept = self.embargo.lock().unwrap_or_else(PoisonError::into_inner);
        if holds {
            kept.get_or_insert_with(|| self.counts());
        } else {
            *kept = None;
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            inputs: self.inputs.load(Ordering::Relaxed),
            facts: self.facts.load(Ordering::Relaxed),
            records: self.records.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
            lost: self.lost(),
            waiting: self.waiting.load(Ordering::Relaxed),
            readings: self.readings.load(Ordering::Relaxed),
            loose_plies: self.loose_plies.load(Ordering::Relaxed),
            games: self.games.load(Ordering::Relaxed),
        }
    }

    /// A copy of everything that may be known.
    pub fn figures(&self) -> BoardFigures {
        let journal_trouble = self.journal_trouble().clone();
        let kept = *self.embargo.lock().unwrap_or_else(PoisonError::into_inner);
        BoardFigures {
            id: self.id.clone(),
            counts: kept.unwrap_or_else(|| self.counts()),
            journal_trouble,
            sources: self.sources().map(SourceHealth::figures).collect(),
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
            for source in &board.sources {
                let Some(trouble) = &source.trouble else { continue };
                let unit = source.unit.map(|unit| format!(" {}", unit.as_str())).unwrap_or_default();
                line.push_str(&format!("; board {}{unit}: {trouble}", board.id));
            }
        }
        line
    }
}

impl Operator for Health {
    fn troubles(&self) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        for board in self.figures() {
            let id = &board.id;
            let trouble = |unit: Option<Unit>, what, detail| {
                let unit = unit.map(Unit::as_str);
                Trouble { board: Some(id.clone()), unit, what, detail }
            };
            troubles.extend(board.journal_trouble.map(|detail| trouble(None, "journal", detail)));
            for source in board.sources {
                let wiring = source.scans.and_then(|scans| scans.wiring);
                let both = [("source", source.trouble), ("wiring", wiring)];
                let told = both.into_iter().filter_map(|(what, detail)| Some((what, detail?)));
                troubles.extend(told.map(|(what, detail)| trouble(source.unit, what, detail)));
            }
        }
        troubles
    }

    fn devices(&self) -> Vec<Device> {
        let sources = self.boards.iter().flat_map(|board| board.sources().map(move |source| (board, source)));
        let device = |(board, source): (&Arc<BoardHealth>, &SourceHealth)| Device {
            board: board.id.clone(),
            unit: source.unit().map(Unit::as_str),
            about: source.about(),
        };
        sources.map(device).filter(|device| !device.about.is_empty()).collect()
    }

    fn metrics(&self) -> String {
        metrics::text(self)
    }
}

#[cfg(test)]
mod tests;
