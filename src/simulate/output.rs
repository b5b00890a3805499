//! What comes out of the board for a history of contacts: edges with their bounce, settled changes,
//! or the men that an identity board reads in its scans.

use shakmaty::{Board, Piece, Square, attacks};

use super::{
    contacts::Contact,
    params::{Identity, Reed},
    rng::Rng,
};

/// A reading of one square, in microseconds from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading<T> {
    pub(super) at: u64,
    pub(super) square: Square,
    pub(super) seen: T,
}

/// The history as occupancy: a man that another one replaces under the same contact is not seen.
pub(super) fn occupancy(log: &[Contact], start: &Board) -> Vec<Reading<bool>> {
    let mut known = start.occupied();
    let mut out = Vec::with_capacity(log.len());
    for contact in log {
        let closed = contact.man.is_some();
        if known.contains(contact.square) != closed {
            known.toggle(contact.square);
            out.push(Reading { at: contact.at, square: contact.square, seen: closed });
        }
    }
    out
}

/// The history as men.
pub(super) fn men(log: &[Contact]) -> Vec<Reading<Option<Piece>>> {
    log.iter().map(|contact| Reading { at: contact.at, square: contact.square, seen: contact.man }).collect()
}

fn sorted<T>(mut readings: Vec<Reading<T>>) -> Vec<Reading<T>> {
    readings.sort_by_key(|reading| (reading.at, reading.square));
    readings
}

/// For every change the time of the next one of the same square.
fn next_changes<T>(log: &[Reading<T>]) -> Vec<u64> {
    let mut coming = [u64::MAX; 64];
    let mut next: Vec<u64> = log
        .iter()
        .rev()
        .map(|reading| match coming.get_mut(usize::from(reading.square)) {
            Some(slot) => std::mem::replace(slot, reading.at),
            None => u64::MAX,
        })
        .collect();
    next.reverse();
    next
}

/// Every edge of the contacts.
pub(super) fn edges(log: &[Reading<bool>], reed: &Reed, rng: &mut Rng) -> Vec<Reading<bool>> {
    let (low, high) = (u64::from(reed.bounce_low_us.max(1)), u64::from(reed.bounce_high_us.max(1)));
    let mut out = Vec::with_capacity(log.len() * 4);
    for (change, next) in log.iter().zip(next_changes(log)) {
        out.push(*change);
        let mut at = change.at;
        for _ in 0..rng.between(0, u64::from(reed.bounces)) {
            let back = at + rng.between(low, high);
            let again = back + rng.between(low, high);
            if again >= next {
                break;
            }
            out.push(Reading { at: back, seen: !change.seen, ..*change });
            out.push(Reading { at: again, ..*change });
            at = again;
        }
    }
    sorted(out)
}

/// The states that lasted for `settle_us`, at the time when they had.
pub(super) fn settled<T: Copy + PartialEq>(
    log: &[Reading<T>],
    start: impl Fn(Square) -> T,
    settle_us: u64,
) -> Vec<Reading<T>> {
    let mut known = Square::ALL.map(start);
    let mut out = Vec::with_capacity(log.len());
    for (change, next) in log.iter().zip(next_changes(log)) {
        let Some(known) = known.get_mut(usize::from(change.square)) else { continue };
        if change.seen != *known && next.saturating_sub(change.at) >= settle_us {
            *known = change.seen;
            out.push(Reading { at: change.at + settle_us, ..*change });
        }
    }
    sorted(out)
}

/// What scans of the whole board find, one every `scan_us`: whatever begins and ends between two of
/// them stays unseen.
pub(super) fn scanned<T: Copy + PartialEq>(
    log: &[Reading<T>],
    start: impl Fn(Square) -> T,
    scan_us: u64,
) -> Vec<Reading<T>> {
    let scan_us = scan_us.max(1);
    let mut known = Square::ALL.map(start);
    let mut out = Vec::with_capacity(log.len());
    for (change, next) in log.iter().zip(next_changes(log)) {
        let Some(known) = known.get_mut(usize::from(change.square)) else { continue };
        let at = change.at.div_ceil(scan_us) * scan_us;
        if change.seen != *known && next > at {
            *known = change.seen;
            out.push(Reading { at, ..*change });
        }
    }
    sorted(out)
}

/// The mistakes of a board that tells the men: one is read as another for a moment after it was put
/// down, and one that is slid is sensed on two neighbouring squares.
pub(super) fn mistaken(
    log: &[Reading<Option<Piece>>],
    start: &Board,
    identity: &Identity,
    rng: &mut Rng,
) -> Vec<Reading<Option<Piece>>> {
    let next = next_changes(log);
    let doubled = doubled(log, &next, start, identity, rng);
    let mut out = Vec::with_capacity(log.len());
    for ((change, next), late) in log.iter().zip(&next).zip(doubled) {
        let Some(man) = change.seen else {
            out.push(Reading { at: late.unwrap_or(change.at), ..*change });
            continue;
        };
        let until = change.at + rng.movement(identity.misread_time);
        if rng.happens(identity.misread) && until < *next {
            let wrong = rng.pick(&others(man));
            out.push(Reading { seen: wrong.or(change.seen), ..*change });
            out.push(Reading { at: until, ..*change });
        } else {
            out.push(*change);
        }
    }
    sorted(out)
}

/// The men that a square can be mistaken for.
fn others(man: Piece) -> Vec<Piece> {
    let all = shakmaty::Color::ALL
        .into_iter()
        .flat_map(|color| shakmaty::Role::ALL.into_iter().map(move |role| Piece { color, role }));
    all.filter(|other| *other != man).collect()
}

/// For the leavings of slid men that stay readable: until when.
fn doubled(
    log: &[Reading<Option<Piece>>],
    next: &[u64],
    start: &Board,
    identity: &Identity,
    rng: &mut Rng,
) -> Vec<Option<u64>> {
    let mut man_on = Square::ALL.map(|square| start.piece_at(square));
    let mut out = Vec::with_capacity(log.len());
    for (index, (change, next)) in log.iter().zip(next).enumerate() {
        let before = man_on.get_mut(usize::from(change.square)).and_then(|slot| {
            let before = *slot;
            *slot = change.seen;
            before
        });
        let arrives = log.iter().skip(index + 1).take(8).find(|later| {
            later.seen.is_some()
                && later.seen == before
                && attacks::king_attacks(change.square).contains(later.square)
                && later.at < change.at + NEIGHBOUR_US
        });
        let until = match (change.seen, arrives) {
            (None, Some(arrival)) if rng.happens(identity.doubled) => {
                Some(arrival.at + rng.movement(identity.doubled_time)).filter(|until| until < next)
            }
            _ => None,
        };
        out.push(until);
    }
    out
}

/// A man that comes to a neighbouring square within this time was on its way between the two.
const NEIGHBOUR_US: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use shakmaty::{Color, Role};

    use super::*;
    use crate::simulate::params::{Rate, Span};

    const REED: Reed = Reed { bounces: 5, bounce_low_us: 80, bounce_high_us: 900 };
    const ROOK: Option<Piece> = Some(Piece { color: Color::White, role: Role::Rook });

    fn history<T: Copy>(changes: &[(u64, Square, T)]) -> Vec<Reading<T>> {
        changes.iter().map(|&(at, square, seen)| Reading { at, square, seen }).collect()
    }

    #[test]
    fn bounce_ends_in_the_new_state_before_the_next_change() {
        let log = history(&[(10_000, Square::E4, true), (11_500, Square::E4, false)]);
        for seed in 0..50 {
            let edges = edges(&log, &REED, &mut Rng::new(seed, 0));
            assert!(edges.windows(2).all(|pair| pair[0].at < pair[1].at && pair[0].seen != pair[1].seen));
            let at = edges.iter().position(|edge| edge.at == 11_500).unwrap();
            assert!(edges[at - 1].seen && !edges.last().unwrap().seen);
        }
    }

    #[test]
    fn short_states_and_the_return_from_them_are_not_reported() {
        let log = history(&[
            (10_000, Square::E2, false),
            (200_000, Square::D2, false),
            (205_000, Square::D2, true),
            (300_000, Square::E4, true),
        ]);
        let start = |square: Square| square.rank() == shakmaty::Rank::Second;
        assert_eq!(
            settled(&log, start, 20_000),
            history(&[(30_000, Square::E2, false), (320_000, Square::E4, true)])
        );
    }

    #[test]
    fn a_scan_finds_what_stands_at_its_time() {
        let log = history(&[
            (150_000, Square::A1, None),
            (250_000, Square::A2, ROOK),
            (390_000, Square::A2, None),
            (400_000, Square::A3, ROOK),
        ]);
        let start = |square| if square == Square::A1 { ROOK } else { None };
        assert_eq!(
            scanned(&log, start, 200_000),
            history(&[(200_000, Square::A1, None), (400_000, Square::A3, ROOK)])
        );
    }

    #[test]
    fn a_man_is_misread_for_a_moment_and_sensed_twice() {
        let log =
            history(&[(10_000, Square::A1, ROOK), (500_000, Square::A1, None), (600_000, Square::A2, ROOK)]);
        let identity = Identity {
            misread: Rate::ALWAYS,
            misread_time: Span::ms(100, 100),
            doubled: Rate::ALWAYS,
            doubled_time: Span::ms(50, 50),
        };
        let seen = mistaken(&log, &Board::empty(), &identity, &mut Rng::new(3, 0));
        assert!(seen[0].seen.is_some() && seen[0].seen != ROOK, "{seen:?}");
        assert_eq!(seen[1], Reading { at: 110_000, square: Square::A1, seen: ROOK });
        assert!(seen.contains(&Reading { at: 650_000, square: Square::A1, seen: None }), "{seen:?}");
    }
}
