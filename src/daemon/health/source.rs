//! How one source is doing: a game on two boards has two of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::{daemon::source::Shared, sensor::matrix::ScanFigures, session::event::Unit};

/// What one source tells about itself.
#[derive(Debug, Default)]
pub struct SourceHealth {
    unit: Option<Unit>,
    trouble: Mutex<Option<String>>,
    shared: Shared,
    about: Mutex<Map<String, Value>>,
}

/// A copy of the figures of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFigures {
    /// Which of two boards it reads; `None` where there is one.
    pub unit: Option<Unit>,
    /// What is wrong with it; `None` while it is read.
    pub trouble: Option<String>,
    /// The scans of a matrix; `None` for another source.
    pub scans: Option<ScanFigures>,
}

impl SourceHealth {
    /// The health of a source that has not started, of this one of two boards.
    pub(super) fn of(unit: Unit) -> SourceHealth {
        SourceHealth { unit: Some(unit), ..SourceHealth::default() }
    }

    /// Which of two boards it reads; `None` where there is one.
    pub fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// Says what is wrong with the source, or that it is read. True when that is news.
    pub fn set_trouble(&self, trouble: Option<&str>) -> bool {
        super::replace(&mut lock(&self.trouble), trouble)
    }

    /// Tells what the board says of itself: serial numbers, versions, battery, ...
    pub fn set_about(&self, about: &[(&'static str, Value)]) {
        let mut known = lock(&self.about);
        for (name, value) in about {
            if known.get(*name) != Some(value) {
                known.insert((*name).to_owned(), value.clone());
            }
        }
    }

    /// Tells whether the board's clock is connected, and whether it shows its battery sign.
    pub fn set_clock(&self, connected: bool, battery_low: bool) {
        let words = [
            ("clock", if connected { "present" } else { "absent" }),
            ("clock_battery", if battery_low { "low" } else { "good" }),
        ];
        let mut known = lock(&self.about);
        for (name, word) in words {
            if known.get(name).and_then(Value::as_str) != Some(word) {
                known.insert(name.to_owned(), word.into());
            }
        }
    }

    /// What the board said of itself.
    pub fn about(&self) -> Map<String, Value> {
        lock(&self.about).clone()
    }

    /// What the source shares with the daemon.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// A copy of everything.
    pub(super) fn figures(&self) -> SourceFigures {
        SourceFigures {
            unit: self.unit,
            trouble: lock(&self.trouble).clone(),
            scans: self.shared.scans.figures(),
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
