//! LEDs beside a board: for the set-up of the men and for the doctor, never during play.
//!
//! [`Leds`] is the one way to them, and it is dark until somebody hands it a [`Lit`]. There are two sources of
//! those: a [`SetUp`], whose squares only become fewer and which ends for good with the first thing that is not
//! set-up, and [`Lit::for_doctor`], where a board is tested and no game is read.

mod set_up;

use std::sync::{Arc, Mutex, PoisonError};

use shakmaty::{Bitboard, Square};

pub use self::set_up::SetUp;
use super::{MatrixPort, PortError};
use crate::session::time::MonoTime;

/// All LEDs are lit for so long when a board is opened, so that a broken one is seen, in microseconds.
const TEST_US: u64 = 1_000_000;
/// Of several squares each one is shown for so long, in microseconds.
const SQUARE_US: u64 = 700_000;

/// Leave to light LEDs, and the squares that they point at. There is none but from a set-up or the doctor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lit(Bitboard);

impl Lit {
    /// The doctor reads a board without a game.
    pub const fn for_doctor(squares: Bitboard) -> Lit {
        Lit(squares)
    }

    /// The squares that the LEDs point at; none while there is nothing to show.
    pub const fn squares(self) -> Bitboard {
        self.0
    }
}

/// What the LEDs of one board may show: shared between those who know what goes on and the thread that scans.
#[derive(Debug, Default)]
pub struct Leds(Mutex<Option<Lit>>);

impl Leds {
    /// Lights them, or makes them dark; the scan that follows does it.
    pub fn set(&self, lit: Option<Lit>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = lit;
    }

    /// What they may show now.
    pub fn get(&self) -> Option<Lit> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which LEDs are connected. Their bits are in this order: that of the board, those of the files a to h, those
/// of the ranks 1 to 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connected {
    /// One LED that is lit while a square is to be put right.
    pub status: bool,
    /// One for each file and each rank: the two of a square point at it.
    pub crossing: bool,
}

impl Connected {
    /// The bits that are lit, `since_us` microseconds after the board was opened.
    pub fn pattern(self, lit: Option<Lit>, since_us: u64) -> u32 {
        let Some(Lit(squares)) = lit else { return 0 };
        let (status, crossing) = (u32::from(self.status), if self.crossing { 0xffff } else { 0 });
        if since_us < TEST_US {
            return status | crossing << status;
        }
        let turn = usize::try_from(since_us / SQUARE_US).unwrap_or(0);
        let shown = turn.checked_rem(squares.count()).and_then(|nth| squares.into_iter().nth(nth));
        shown.map_or(0, |square: Square| {
            let pair = 1 << u32::from(square.file()) | 0x100 << u32::from(square.rank());
            status | (crossing & pair) << status
        })
    }
}

/// The LEDs of an open port.
#[derive(Debug)]
pub(super) struct Lights {
    connected: Connected,
    /// What they may show.
    may: Arc<Leds>,
    /// When the board was opened.
    began: MonoTime,
    /// What was shown last; nothing while that is not known.
    shown: Option<u32>,
}

impl Lights {
    pub(super) fn new(connected: Connected, may: Arc<Leds>, began: MonoTime) -> Lights {
        Lights { connected, may, began, shown: None }
    }

    /// Lights what may be lit at `now`.
    pub(super) fn show(&mut self, port: &mut impl MatrixPort, now: MonoTime) -> Result<(), PortError> {
        let pattern = self.connected.pattern(self.may.get(), now.since(self.began));
        if self.shown.replace(pattern) != Some(pattern) {
            port.light(pattern)?;
        }
        Ok(())
    }

    /// Makes them dark where nobody will look after them for a while. A port that is gone has none.
    pub(super) fn darken(&mut self, port: &mut impl MatrixPort) {
        self.shown = None;
        if let Err(error) = port.light(0) {
            tracing::debug!(%error, "the LEDs cannot be switched off");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Connected = Connected { status: true, crossing: true };

    #[test]
    fn nothing_is_lit_without_leave() {
        for since_us in [0, TEST_US, 3 * SQUARE_US] {
            assert_eq!(BOTH.pattern(None, since_us), 0);
        }
        assert_eq!(Leds::default().get(), None);
    }

    #[test]
    fn all_are_lit_at_first_and_then_one_square_after_the_other() {
        let lit = Some(Lit::for_doctor([Square::A1, Square::H8].into_iter().collect()));
        assert_eq!(BOTH.pattern(lit, 0), 0x1_ffff);
        let (a1, h8) = (0b1 | 1 << 1 | 1 << 9, 0b1 | 1 << 8 | 1 << 16);
        assert_eq!(BOTH.pattern(lit, 2 * SQUARE_US), a1);
        assert_eq!(BOTH.pattern(lit, 3 * SQUARE_US), h8);
        let only = |connected: Connected, at| connected.pattern(lit, at);
        let status = Connected { status: true, crossing: false };
        assert_eq!((only(status, 0), only(status, TEST_US)), (1, 1));
        let crossing = Connected { status: false, crossing: true };
        assert_eq!((only(crossing, 0), only(crossing, 3 * SQUARE_US)), (0xffff, h8 >> 1));
        assert_eq!(only(Connected::default(), 0), 0);
        assert_eq!(BOTH.pattern(Some(Lit::for_doctor(Bitboard::EMPTY)), TEST_US), 0);
    }
}
