//! A contact matrix in which current finds other ways than through the contact that is read: a shorted
//! diode, or no diodes at all.
//!
//! The reading of a square is then the connection of its row with its column. Without diodes every
//! closed contact joins the two, so that a whole component of rows and columns reads closed.

use shakmaty::{Bitboard, File, Position as _, Rank, Square};

use crate::session::{Session, time::MonoTime, tracker::ghosts};

/// So many men too many at once in order to think of the wiring.
const EXTRA: usize = 2;
/// So many in order to give up on it: without diodes whole ranks read closed.
const MANY: usize = 3;
/// The board has to rest for so long, in milliseconds.
const RESTS_MS: u64 = 60;

/// What is known of the wiring.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Matrix {
    /// When the board last looked like this: looked at once.
    looked: Option<Bitboard>,
    without_diodes: bool,
    /// Squares of which one has a shorted diode.
    suspects: Bitboard,
    told: bool,
}

/// What a matrix without diodes reads when the contacts of `closed` are closed.
fn without_diodes(closed: Bitboard) -> Bitboard {
    let files = |rank: Rank| {
        File::ALL.into_iter().filter(move |file| closed.contains(Square::from_coords(*file, rank)))
    };
    // The component of each rank, as a set of files; ranks that share a file are joined.
    let mut joined: [u8; 8] = [0; 8];
    for (set, rank) in joined.iter_mut().zip(Rank::ALL) {
        *set = files(rank).fold(0, |set, file| set | 1 << u32::from(file));
    }
    for _ in 0..8 {
        let before = joined;
        for set in &mut joined {
            for other in before {
                if *set & other != 0 {
                    *set |= other;
                }
            }
        }
    }
    let mut reads = Bitboard::EMPTY;
    for (set, rank) in joined.into_iter().zip(Rank::ALL) {
        for file in File::ALL {
            if set & (1 << u32::from(file)) != 0 {
                reads.add(Square::from_coords(file, rank));
            }
        }
    }
    reads
}

/// The squares whose shorted diode explains that the board shows `shown` where `occupied` is filled.
fn shorted(occupied: Bitboard, shown: Bitboard) -> Bitboard {
    let explains = |square: &Square| {
        let reads = occupied | ghosts(*square, occupied);
        reads != occupied && reads == shown
    };
    (occupied & shown).into_iter().filter(explains).collect()
}

impl Session {
    /// Recognises bad wiring by the squares that read closed beside the right ones.
    pub(super) fn care_for_the_matrix(&mut self, at: MonoTime) {
        let seen = self.tracker.seen();
        let position = self.narrator.position();
        let extra = seen.differs(position.board()) & seen.occupied;
        if extra.is_empty() || seen.men.is_some() {
            if self.health.matrix.without_diodes && extra.is_empty() {
                self.health.matrix.without_diodes = false;
                self.narrator.set_fault(None);
            }
            return;
        }
        // A single man too many may be anything, unless a diode is suspected already.
        if !self.health.matrix.told && extra.count() < EXTRA {
            return;
        }
        let due = self.last_change.plus_ms(RESTS_MS);
        if at < due {
            self.health.plan(due);
            return;
        }
        let shown = seen.occupied;
        if self.health.matrix.looked == Some(shown) {
            return;
        }
        self.health.matrix.looked = Some(shown);
        // Bad wiring hides no man: every man of the game that it is stands on a square that reads closed.
        let after = position.legal_moves().into_iter().map(|mv| {
            let mut after = position.clone();
            after.play_unchecked(mv);
            after.board().occupied()
        });
        let mut boards: Vec<Bitboard> = std::iter::once(position.board().occupied())
            .chain(after)
            .filter(|occupied| occupied.is_subset(shown))
            .collect();
        boards.sort_unstable_by_key(|occupied| occupied.0);
        boards.dedup();
        let explained = boards.contains(&shown);
        let ghosts = |occupied: &Bitboard| shown != *occupied && without_diodes(*occupied) == shown;
        if !explained && extra.count() >= MANY && boards.iter().any(ghosts) {
            self.tell_without_diodes(at, extra);
            return;
        }
        let suspects = boards.iter().fold(Bitboard::EMPTY, |sum, occupied| sum | shorted(*occupied, shown));
        let known = self.health.matrix.told && (self.health.matrix.suspects & suspects).any();
        if !explained && (extra.count() >= EXTRA || known) {
            self.suspect_diodes(at, suspects);
        }
    }

    fn tell_without_diodes(&mut self, at: MonoTime, extra: Bitboard) {
        if self.health.matrix.without_diodes {
            return;
        }
        self.health.matrix.without_diodes = true;
        self.narrator.set_fault(Some("ghosting"));
        self.advise(
            at,
            "matrix-without-diodes",
            extra,
            "whole ranks read occupied at once: the contact matrix has no diodes, or their polarity is wrong; no software can repair that",
        );
    }

    /// One shorted diode explains the board: its ghosts are ignored from now on.
    fn suspect_diodes(&mut self, at: MonoTime, suspects: Bitboard) {
        let known = self.health.matrix.suspects;
        let agreed = if (known & suspects).any() { known & suspects } else { suspects };
        let Some(square) = agreed.first() else { return };
        self.health.matrix.suspects = agreed;
        self.tracker.short(Some(square), at);
        let now = self.now(at);
        self.narrator.after_deadline(&self.tracker, now, &mut self.facts);
        self.heed_signal();
        if !self.health.matrix.told {
            self.health.matrix.told = true;
            self.advise(
                at,
                "sensor-ghost",
                agreed,
                "the diode of one of these squares is shorted: other squares read occupied while a man stands there; they are ignored then",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Board;

    #[test]
    fn a_matrix_without_diodes_reads_what_hardware_shows() {
        let start = Board::new().occupied();
        assert_eq!(without_diodes(start), start);
        // The lift of one man of a full rank is invisible.
        assert_eq!(without_diodes(start.without(Square::E2)), start);
        let after_e4 = start.without(Square::E2).with(Square::E4);
        assert_eq!((without_diodes(after_e4) & !after_e4).count(), 8);
        let after_e5 = after_e4.without(Square::E7).with(Square::E5);
        assert_eq!((without_diodes(after_e5) & !after_e5).count(), 16);
    }

    #[test]
    fn a_shorted_diode_is_found_by_its_ghosts() {
        let occupied: Bitboard =
            [Square::E4, Square::B4, Square::G4, Square::E7, Square::A1].into_iter().collect();
        let reads = occupied | ghosts(Square::E4, occupied);
        assert_eq!(reads & !occupied, Bitboard::from_square(Square::B7).with(Square::G7));
        assert_eq!(shorted(occupied, reads), Bitboard::from_square(Square::E4));
        assert!(shorted(occupied, occupied).is_empty());
    }
}
