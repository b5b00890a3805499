//! The facts of one game for the arbiter, the latest ones, numbered.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    publish::{ForArbiter, arbiter::is_spoken},
    session::fact::Fact,
};

/// Facts that are kept: several games' worth. Earlier ones are in the journal's file.
const KEPT: usize = 8192;
/// Facts of one page.
const PAGE: usize = 500;

/// The facts of one board.
#[derive(Debug, Default)]
pub struct Records(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    kept: VecDeque<ForArbiter>,
    spoken: Option<ForArbiter>,
}

/// A part of the facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Number of the first fact that is kept.
    pub first: u64,
    /// Ask again with this as `since`.
    pub next: u64,
    /// True when there are more already.
    pub more: bool,
    /// The facts, in order.
    pub facts: Vec<ForArbiter>,
}

impl Records {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes facts, in order, and gives them their numbers.
    pub fn add<'f>(&self, facts: impl IntoIterator<Item = &'f Fact>) -> Vec<ForArbiter> {
        let mut inner = self.lock();
        let mut added = Vec::new();
        for fact in facts {
            let Some(record) = ForArbiter::of(inner.last + 1, fact) else { continue };
            inner.last += 1;
            if is_spoken(fact) {
                inner.spoken = Some(record.clone());
            }
            if inner.kept.len() >= KEPT {
                inner.kept.pop_front();
            }
            inner.kept.push_back(record.clone());
            added.push(record);
        }
        added
    }

    /// Number of the last fact.
    pub fn last(&self) -> u64 {
        self.lock().last
    }

    /// The last call of a move.
    pub fn spoken(&self) -> Option<ForArbiter> {
        self.lock().spoken.clone()
    }

    /// The facts after number `since`; only those that the arbiter is called to, where `calls` is set.
    pub fn since(&self, since: u64, calls: bool) -> Page {
        let inner = self.lock();
        let first = inner.kept.front().map_or(inner.last + 1, |record| record.number());
        let skip = usize::try_from(since.saturating_add(1).saturating_sub(first)).unwrap_or(usize::MAX);
        let mut wanted = inner.kept.iter().skip(skip).filter(|record| record.is_call() || !calls);
        let facts: Vec<ForArbiter> = wanted.by_ref().take(PAGE).cloned().collect();
        let more = wanted.next().is_some();
        let next = if more { facts.last().map_or(since, |record| record.number()) } else { inner.last };
        Page { first, next, more, facts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{event::GameResult, fact::FactKind, time::MonoTime};

    fn facts(count: usize) -> Vec<Fact> {
        let end = FactKind::GameEnd {
            result: GameResult::Draw,
            reason: "agreement",
            certainty: crate::session::fact::Certainty::Arbiter,
            more: crate::session::fact::EndDetail::default(),
        };
        let quiet = FactKind::Orientation { value: "normal" };
        let kind = |index: usize| if index.is_multiple_of(1000) { end.clone() } else { quiet.clone() };
        (0..count).map(|index| Fact { ev: 0, at: MonoTime::ZERO, kind: kind(index) }).collect()
    }

    #[test]
    fn pages_follow_each_other_without_a_gap() {
        let records = Records::default();
        records.add(&facts(1200));
        let mut numbers = Vec::new();
        let mut page = records.since(0, false);
        loop {
            numbers.extend(page.facts.iter().map(|record| record.number()));
            if !page.more {
                break;
            }
            page = records.since(page.next, false);
        }
        assert_eq!(numbers, (1..=1200).collect::<Vec<_>>());
        assert_eq!((page.next, records.since(1200, false).facts.len()), (1200, 0));
        assert_eq!(records.since(u64::MAX, false).facts.len(), 0);
    }

    #[test]
    fn calls_are_told_apart_and_old_facts_are_let_go() {
        let records = Records::default();
        records.add(&facts(KEPT + 10));
        let page = records.since(0, true);
        assert_eq!(page.first, 11);
        assert_eq!(page.facts.iter().map(|record| record.number()).next(), Some(1001));
        assert_eq!(page.next, u64::try_from(KEPT).unwrap() + 10);
    }
}
