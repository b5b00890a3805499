//! What a contradiction between the game and one square means, and when that is sure.

use shakmaty::{Move, Position as _, Square};

use super::{Contacts, Fault, Noted, PLIES, Sick};
use crate::session::{
    time::MonoTime,
    tracker::{PATIENCE, Ply, Reading, Tracker},
};

/// A square that contradicts a pressed or answered move for this long is masked, in milliseconds.
const STANDS_MS: u64 = 1_500;
/// So much longer where a man landed that nobody sees: it may be put right, in milliseconds.
const OFF_CENTRE_MS: u64 = 3_500;
/// A masked square is reported after this long, in milliseconds: a reed may release late, a man may be
/// put right.
const TELL_STUCK_MS: u64 = 3_000;
const TELL_DEAD_MS: u64 = 10_000;
/// How far back in the game the man may have left that a stuck square still shows.
const RECENT: usize = 4;
/// A man that reads on two squares closes both within this time.
const TOGETHER_US: u64 = 300_000;

/// True when every reading nearly as good contradicts the board in this square. Where a man landed that
/// nobody sees, readings that are further behind are heard too: it stands off the centre more often than
/// its sensor is dead.
pub(super) fn agreed(tracker: &Tracker, best: &Reading, square: Square, fault: Fault) -> bool {
    let margin = if fault == Fault::Dead { 2 * PATIENCE } else { PATIENCE };
    let seen = tracker.seen();
    let limit = tracker.weight(best).saturating_add(margin);
    tracker.readings().iter().all(|other| {
        tracker.weight(other) >= limit || seen.differs(tracker.position(other).board()).contains(square)
    })
}

/// True when a reading nearly as good has no man on the square.
pub(super) fn in_doubt(tracker: &Tracker, best: &Reading, square: Square) -> bool {
    let limit = tracker.weight(best).saturating_add(PATIENCE);
    tracker.readings().iter().any(|other| tracker.weight(other) < limit && !other.occupied.contains(square))
}

pub(super) fn tells_at(sick: &Sick) -> Option<MonoTime> {
    match sick.fault {
        Fault::Stuck => Some(sick.since.plus_ms(TELL_STUCK_MS)),
        Fault::Dead => Some(sick.since.plus_ms(TELL_DEAD_MS)),
        Fault::Misread | Fault::Bleed | Fault::Chatter => Some(sick.since),
    }
}

/// What a contradiction means, and when that is sure enough to mask the square.
pub(super) fn verdict(
    noted: &Noted,
    tracker: &Tracker,
    best: &Reading,
    plies: usize,
    contacts: &Contacts,
) -> Option<(Fault, MonoTime)> {
    let seen = tracker.seen();
    let square = noted.square;
    let last = tracker.loose_ply(best);
    let settled = last.and_then(settled);
    // What was out of order before the first move was so at the set-up.
    let needed = if noted.plies == 0 && noted.silent { 1 } else { PLIES };
    let went_on = (plies >= noted.plies + needed && settled.is_some()).then_some(noted.since);
    let after = |since: MonoTime| settled.map(|at| at.max(since).plus_ms(STANDS_MS));
    let (reads, stands) = (seen.occupied.contains(square), best.occupied.contains(square));
    match (reads, stands) {
        (true, false) => {
            let beside = last.is_some_and(|ply| {
                let together = |at: MonoTime| at.since(ply.placed).max(ply.placed.since(at)) <= TOGETHER_US;
                // A pawn that is taken en passant is a part of the move.
                let part = matches!(ply.mv, Move::EnPassant { from, to }
                    if square == Square::from_coords(to.file(), from.rank()));
                let next = square.distance(ply.mv.to()) == 1 && !part;
                next && contacts.last(square).is_some_and(together)
            });
            if beside {
                return after(noted.since).map(|due| (Fault::Bleed, due));
            }
            let left = (1..=RECENT.min(plies))
                .filter_map(|back| tracker.ply(best, plies - back))
                .any(|ply| ply.mv.from() == Some(square));
            let due = if noted.silent && left { after(noted.since) } else { went_on };
            due.map(|due| (Fault::Stuck, due))
        }
        (false, true) => {
            let landed = last.is_some_and(|ply| ply.mv.to() == square)
                && tracker.position(best).them().contains(square);
            let due = if landed { after(noted.since).map(|due| due.plus_ms(OFF_CENTRE_MS)) } else { went_on };
            due.map(|due| (Fault::Dead, due))
        }
        _ => went_on.map(|due| (Fault::Misread, due)),
    }
}

/// When a ply was pressed or answered.
fn settled(ply: &Ply) -> Option<MonoTime> {
    ply.pressed.or(ply.answered.then_some(ply.placed))
}
