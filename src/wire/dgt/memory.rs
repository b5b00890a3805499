//! What the board's own memory says of an outage: which entries of its storage log were written while nobody
//! listened.
//!
//! The log has no times of day, so the place is found by its content: from there on every entry changes the
//! board, the entries lead from what was last seen to what is seen now, and before it stand the changes that
//! were told last. A log that does not fit in this way is not used at all.

use shakmaty::Square;

use super::{
    message::Reading,
    storage::{Entry, Mark},
};

/// What each square reads, in the board's own numbering, by [`Square`].
pub type Squares = [Reading; 64];

/// Changes before the outage that are compared, at most.
pub const HISTORY: usize = 16;

/// True when so much has changed during an outage that the log is worth its eight seconds of line time: more
/// than the two squares of one move.
pub fn is_wanted(before: &Squares, now: &Squares) -> bool {
    before.iter().zip(now).filter(|(before, now)| before != now).count() > 2
}

/// Why a log does not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// No place in it leads from what was seen before to what is seen now.
    NoFit,
    /// A place fits, but what was told before the outage is not in front of it.
    Unknown,
    /// Nothing was changed.
    Nothing,
    /// A new game was set up meanwhile.
    NewGame,
    /// The download has no end: it lost bytes on the way.
    Incomplete,
}

impl Unused {
    /// Its name in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Unused::NoFit => "no-fit",
            Unused::Unknown => "unknown",
            Unused::Nothing => "nothing-new",
            Unused::NewGame => "new-game",
            Unused::Incomplete => "incomplete",
        }
    }
}

/// What was told when the link was lost.
#[derive(Clone, Debug)]
pub struct Told {
    /// What each square read.
    pub squares: Squares,
    /// The last changes, the latest last.
    pub changes: Vec<(Square, Reading)>,
    /// Presses after the last of them.
    pub presses: usize,
}

/// The entries that were written between what was told `before` and what is seen `now`, fields and presses.
pub fn between(log: &[Entry], before: &Told, now: &Squares) -> Result<Vec<Entry>, Unused> {
    if log.last() != Some(&Entry::Mark(Mark::End)) {
        return Err(Unused::Incomplete);
    }
    let known = |start: usize| agreement(log.get(..start).unwrap_or_default(), &before.changes);
    let fits = (0..=log.len()).rev().filter_map(|start| {
        let end = fit(log.get(start..)?, &before.squares, now)?;
        Some((known(start), start, start + end))
    });
    // Of places that are known equally well, the latest.
    let best = fits.fold(None, |best: Option<(usize, usize, usize)>, found| match best {
        Some(best) if best.0 >= found.0 => Some(best),
        _ => Some(found),
    });
    let (known, start, end) = best.ok_or(Unused::NoFit)?;
    if known == 0 && !before.changes.is_empty() {
        return Err(Unused::Unknown);
    }
    let part = log.get(start..end).unwrap_or_default();
    if part.iter().any(|entry| matches!(entry, Entry::Mark(mark) if begins_a_game(*mark))) {
        return Err(Unused::NewGame);
    }
    if !part.iter().any(|entry| matches!(entry, Entry::Field { .. })) {
        return Err(Unused::Nothing);
    }
    let since_change = presses_before(log.get(..start).unwrap_or_default());
    let untold = since_change.into_iter().skip(before.presses);
    Ok(untold.chain(part.iter().copied().filter(|entry| !matches!(entry, Entry::Mark(_)))).collect())
}

/// The presses between the last change in front of a place and that place.
fn presses_before(log: &[Entry]) -> Vec<Entry> {
    let still = |entry: &&Entry| !matches!(entry, Entry::Field { .. } | Entry::Mark(Mark::PowerUp));
    let mut presses: Vec<Entry> = log
        .iter()
        .rev()
        .take_while(still)
        .filter(|entry| matches!(entry, Entry::Pressed { .. }))
        .copied()
        .collect();
    presses.reverse();
    presses
}

const fn begins_a_game(mark: Mark) -> bool {
    matches!(mark, Mark::Start | Mark::StartRotated | Mark::StartTag)
}

/// How many entries from the first one on lead from `before` to `now`, as many as can be: what is behind them
/// was written during the download and is told as it comes.
fn fit(entries: &[Entry], before: &Squares, now: &Squares) -> Option<usize> {
    let mut squares = *before;
    let mut differs = squares.iter().zip(now).filter(|(a, b)| a != b).count();
    let mut end = (differs == 0).then_some(0);
    for (index, entry) in entries.iter().enumerate() {
        match entry {
            Entry::Field { square, reading, .. } => {
                let (slot, wanted) =
                    squares.get_mut(usize::from(*square)).zip(now.get(usize::from(*square)))?;
                if slot == reading {
                    // The log would not hold what is no change: this is no place.
                    return None;
                }
                match (slot == wanted, reading == wanted) {
                    (true, false) => differs += 1,
                    (false, true) => differs -= 1,
                    _ => {}
                }
                *slot = *reading;
            }
            Entry::Mark(Mark::PowerUp) => return None,
            Entry::Pressed { .. } | Entry::Mark(_) => {}
        }
        if differs == 0 {
            end = Some(index + 1);
        }
    }
    end
}

/// How many of the last changes in front of a place are those that were told last. What was moved while the board
/// had no power stands nowhere, so that nothing is compared beyond.
fn agreement(log: &[Entry], told: &[(Square, Reading)]) -> usize {
    let powered = log.iter().rev().take_while(|entry| **entry != Entry::Mark(Mark::PowerUp));
    let fields = powered.filter_map(|entry| match entry {
        Entry::Field { square, reading, .. } => Some((*square, *reading)),
        Entry::Pressed { .. } | Entry::Mark(_) => None,
    });
    fields.zip(told.iter().rev()).take(HISTORY).take_while(|(one, other)| one == *other).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::{Color, Role};

    /// As [`super::between`], of a download with its end.
    fn between(log: &[Entry], before: &Told, now: &Squares) -> Result<Vec<Entry>, Unused> {
        assert_eq!(super::between(log, before, now), Err(Unused::Incomplete), "without its end");
        super::between(&[log, &[Entry::Mark(Mark::End)]].concat(), before, now)
    }

    fn pawn() -> Reading {
        Reading::Man(shakmaty::Piece { color: Color::White, role: Role::Pawn })
    }

    fn knight() -> Reading {
        Reading::Man(shakmaty::Piece { color: Color::White, role: Role::Knight })
    }

    fn field(square: Square, reading: Reading) -> Entry {
        Entry::Field { square, reading, soon: false }
    }

    fn moved(man: Reading, from: Square, to: Square) -> [Entry; 2] {
        [field(from, Reading::Empty), field(to, man)]
    }

    fn start() -> Squares {
        let mut squares = [Reading::Empty; 64];
        squares[usize::from(Square::E2)] = pawn();
        squares[usize::from(Square::G1)] = knight();
        squares
    }

    /// What the board shows after these entries.
    fn after(squares: &Squares, entries: &[Entry]) -> Squares {
        let mut squares = *squares;
        for entry in entries {
            if let Entry::Field { square, reading, .. } = entry {
                squares[usize::from(*square)] = *reading;
            }
        }
        squares
    }

    /// What was told before, when these entries led to it.
    fn told(squares: &Squares, entries: &[Entry]) -> Told {
        let changes = entries.iter().filter_map(|entry| match entry {
            Entry::Field { square, reading, .. } => Some((*square, *reading)),
            _ => None,
        });
        Told { squares: *squares, changes: changes.collect(), presses: presses_before(entries).len() }
    }

    #[test]
    fn the_part_behind_what_was_told_is_found_with_its_presses() {
        let old = moved(pawn(), Square::E2, Square::E4);
        let press = Entry::Pressed { right: true, seconds: 90 };
        let gap = [&moved(knight(), Square::G1, Square::F3)[..], &[press]].concat();
        let log = [&old[..], &[Entry::Mark(Mark::Downloaded)], &gap].concat();
        let before = after(&start(), &old);
        assert_eq!(between(&log, &told(&before, &old), &after(&before, &gap)), Ok(gap));
    }

    #[test]
    fn presses_after_the_last_change_are_told_once() {
        let press = |right| Entry::Pressed { right, seconds: 90 };
        let old = moved(pawn(), Square::E2, Square::E4);
        let before = after(&start(), &old);
        let gap = [&[press(false)], &moved(knight(), Square::G1, Square::F3)[..]].concat();
        let now = after(&before, &gap);
        let log = [&old[..], &gap].concat();
        assert_eq!(between(&log, &told(&before, &old), &now), Ok(gap.clone()));
        let pressed = [&old[..], &[press(false)]].concat();
        assert_eq!(between(&log, &told(&before, &pressed), &now), Ok(gap[1..].to_vec()));
    }

    #[test]
    fn a_man_that_went_and_came_back_first_is_found_by_what_stands_before() {
        let old = moved(pawn(), Square::E2, Square::E4);
        let gap = [
            moved(knight(), Square::G1, Square::F3),
            moved(knight(), Square::F3, Square::G1),
            moved(pawn(), Square::E4, Square::E5),
        ]
        .concat();
        let before = after(&start(), &old);
        let log = [&old[..], &gap].concat();
        assert_eq!(between(&log, &told(&before, &old), &after(&before, &gap)), Ok(gap));
    }

    #[test]
    fn a_log_that_does_not_fit_is_not_used() {
        let old = moved(pawn(), Square::E2, Square::E4);
        let before = after(&start(), &old);
        let gap = moved(knight(), Square::G1, Square::F3);
        let now = after(&before, &gap);
        assert_eq!(between(&old, &told(&before, &old), &now), Err(Unused::NoFit));
        assert_eq!(between(&gap, &told(&before, &old), &now), Err(Unused::Unknown), "another board's log");
        assert_eq!(between(&old, &told(&before, &old), &before), Err(Unused::Nothing));
        let set_up = [&old[..], &gap, &[Entry::Mark(Mark::Start)]].concat();
        assert_eq!(between(&set_up, &told(&before, &old), &now), Err(Unused::NewGame));
        let cut = [&old[..], &[Entry::Mark(Mark::PowerUp)], &gap].concat();
        assert_eq!(between(&cut, &told(&before, &old), &now), Err(Unused::Unknown), "without power");
    }

    #[test]
    fn what_was_written_during_the_download_is_left_to_the_stream() {
        let old = moved(pawn(), Square::E2, Square::E4);
        let before = after(&start(), &old);
        let gap = moved(knight(), Square::G1, Square::F3);
        let later = moved(pawn(), Square::E4, Square::E5);
        let log = [&old[..], &gap, &later].concat();
        assert_eq!(between(&log, &told(&before, &old), &after(&before, &gap)), Ok(gap.to_vec()));
    }

    /// Changes that each change something.
    fn changes(squares: Squares, steps: &[(u8, u8)]) -> (Vec<Entry>, Squares) {
        let mut entries = Vec::new();
        let mut now = squares;
        for (square, code) in steps {
            let square = Square::new(u32::from(*square));
            let reading = Reading::from_code(*code);
            if now[usize::from(square)] != reading {
                entries.push(field(square, reading));
                now[usize::from(square)] = reading;
            }
        }
        (entries, now)
    }

    proptest! {
        /// Whatever is found leads from one picture to the other; and where the same changes stand nowhere
        /// else, it is what happened.
        #[test]
        fn what_is_found_leads_to_what_is_seen(
            first in proptest::collection::vec((0u8..8, 0u8..3), 0..30),
            gap in proptest::collection::vec((0u8..8, 0u8..3), 0..30),
            later in proptest::collection::vec((0u8..8, 0u8..3), 0..6),
        ) {
            let (old, before) = changes(start(), &first);
            let (missed, now) = changes(before, &gap);
            let (more, _) = changes(now, &later);
            let log = [old.clone(), missed.clone(), more].concat();
            match between(&log, &told(&before, &old), &now) {
                Ok(found) => prop_assert_eq!(after(&before, &found), now),
                Err(Unused::Nothing) => prop_assert_eq!(before, now),
                Err(why) => prop_assert!(old.is_empty() || missed.is_empty(), "{:?}", why),
            }
        }

        #[test]
        fn a_gap_of_other_men_is_found_to_the_entry(
            first in proptest::collection::vec((0u8..32, 0u8..3), 1..30),
            gap in proptest::collection::vec((32u8..64, 0u8..3), 1..30),
        ) {
            let (old, before) = changes(start(), &first);
            let (missed, now) = changes(before, &gap);
            prop_assume!(!old.is_empty() && before != now);
            let log = [old.clone(), missed.clone()].concat();
            prop_assert_eq!(between(&log, &told(&before, &old), &now), Ok(missed));
        }
    }
}
