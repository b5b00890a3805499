//! The reed contacts under the squares: what the hands do to them, and what comes out of the board.

use shakmaty::{Bitboard, Square};

use super::{
    params::{Output, Reed},
    rng::Rng,
};

/// A contact that changed for good (before bounce), in microseconds from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contact {
    pub(super) at: u64,
    pub(super) square: Square,
    pub(super) closed: bool,
}

/// All contacts of the board and their history.
#[derive(Clone, Debug)]
pub(super) struct Contacts {
    closed: Bitboard,
    /// The time of the last change of each square.
    changed: [u64; 64],
    log: Vec<Contact>,
}

/// Shortest time between two changes of one contact.
const REST_US: u64 = 1_000;

impl Contacts {
    pub(super) fn new(occupied: Bitboard) -> Contacts {
        Contacts { closed: occupied, changed: [0; 64], log: Vec::new() }
    }

    /// Changes a contact at `at`, or as soon after it as its last change allows. Nothing happens
    /// when it is in that state already. Gives the time at which it is so.
    pub(super) fn set(&mut self, at: u64, square: Square, closed: bool) -> u64 {
        let Some(changed) = self.changed.get_mut(usize::from(square)) else { return at };
        let at = if *changed == 0 { at } else { at.max(*changed + REST_US) };
        if self.closed.contains(square) != closed {
            self.closed.toggle(square);
            *changed = at;
            self.log.push(Contact { at, square, closed });
        }
        at
    }

    /// True while the contact is closed, after everything that was set so far.
    pub(super) fn is_closed(&self, square: Square) -> bool {
        self.closed.contains(square)
    }

    /// True when nothing that was set so far happens to the square at or after `at`.
    pub(super) fn is_quiet(&self, square: Square, at: u64) -> bool {
        self.changed.get(usize::from(square)).is_some_and(|changed| changed.saturating_add(REST_US) < at)
    }

    /// When the last contact of all changed.
    pub(super) fn last_change(&self) -> u64 {
        self.changed.iter().copied().max().unwrap_or(0)
    }

    /// Everything that happened, in the order of time.
    pub(super) fn into_log(self) -> Vec<Contact> {
        let mut log = self.log;
        log.sort_by_key(|contact| (contact.at, contact.square));
        log
    }
}

/// What the board puts out for a history of contacts: edges or settled changes.
pub(super) fn output(log: &[Contact], output: Output, reed: &Reed, rng: &mut Rng) -> Vec<Contact> {
    let mut out = match output {
        Output::Raw => edges(log, reed, rng),
        Output::Debounced { settle_ms } => settled(log, u64::from(settle_ms) * 1000),
    };
    out.sort_by_key(|contact| (contact.at, contact.square));
    out
}

/// For every change the time of the next one of the same square.
fn next_changes(log: &[Contact]) -> Vec<u64> {
    let mut coming = [u64::MAX; 64];
    let mut next: Vec<u64> = log
        .iter()
        .rev()
        .map(|contact| match coming.get_mut(usize::from(contact.square)) {
            Some(slot) => std::mem::replace(slot, contact.at),
            None => u64::MAX,
        })
        .collect();
    next.reverse();
    next
}

fn edges(log: &[Contact], reed: &Reed, rng: &mut Rng) -> Vec<Contact> {
    let (low, high) = (u64::from(reed.bounce_low_us.max(1)), u64::from(reed.bounce_high_us.max(1)));
    let mut out = Vec::with_capacity(log.len() * 4);
    for (contact, next) in log.iter().zip(next_changes(log)) {
        out.push(*contact);
        let mut at = contact.at;
        for _ in 0..rng.between(0, u64::from(reed.bounces)) {
            let back = at + rng.between(low, high);
            let again = back + rng.between(low, high);
            if again >= next {
                break;
            }
            out.push(Contact { at: back, closed: !contact.closed, ..*contact });
            out.push(Contact { at: again, ..*contact });
            at = again;
        }
    }
    out
}

fn settled(log: &[Contact], settle_us: u64) -> Vec<Contact> {
    let mut known: [Option<bool>; 64] = [None; 64];
    let mut out = Vec::with_capacity(log.len());
    for (contact, next) in log.iter().zip(next_changes(log)) {
        let Some(known) = known.get_mut(usize::from(contact.square)) else { continue };
        let before = *known.get_or_insert(!contact.closed);
        if contact.closed != before && next.saturating_sub(contact.at) >= settle_us {
            *known = Some(contact.closed);
            out.push(Contact { at: contact.at + settle_us, ..*contact });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const REED: Reed = Reed { bounces: 5, bounce_low_us: 80, bounce_high_us: 900 };

    fn history(changes: &[(u64, Square, bool)]) -> Vec<Contact> {
        changes.iter().map(|&(at, square, closed)| Contact { at, square, closed }).collect()
    }

    #[test]
    fn a_contact_that_is_in_that_state_does_not_change() {
        let mut contacts = Contacts::new(Bitboard::from(Square::E2));
        contacts.set(10, Square::E2, true);
        contacts.set(20, Square::E2, false);
        contacts.set(20, Square::E2, true);
        assert_eq!(
            contacts.into_log(),
            history(&[(20, Square::E2, false), (20 + REST_US, Square::E2, true)])
        );
    }

    #[test]
    fn bounce_ends_in_the_new_state_before_the_next_change() {
        let log =
            history(&[(1_000, Square::A1, false), (2_000, Square::A1, true), (90_000, Square::B1, false)]);
        for seed in 0..200 {
            let out = output(&log, Output::Raw, &REED, &mut Rng::new(seed, 0));
            let a1: Vec<_> = out.iter().filter(|c| c.square == Square::A1).collect();
            assert!(a1.windows(2).all(|pair| pair[0].at < pair[1].at && pair[0].closed != pair[1].closed));
            assert!(a1.last().unwrap().closed);
        }
    }

    #[test]
    fn short_states_are_no_settled_changes() {
        let log = history(&[
            (0, Square::A1, false),
            (50_000, Square::A1, true),
            (60_000, Square::A1, false),
            (100_000, Square::A1, true),
            (110_000, Square::B1, true),
            (115_000, Square::B1, false),
        ]);
        let out = output(&log, Output::Debounced { settle_ms: 20 }, &REED, &mut Rng::new(0, 0));
        assert_eq!(out, history(&[(20_000, Square::A1, false), (120_000, Square::A1, true)]));
    }
}
