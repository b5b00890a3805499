//! Contacts that change faster than any hand.

use shakmaty::Square;

use crate::session::time::MonoTime;

/// So many changes of one square within [`SHORT_US`] are no hand: a man that is set down, corrected and
/// lifted again makes two or three.
const SHORT: usize = 8;
const SHORT_US: u64 = 1_000_000;
/// The same for a contact that opens and closes more slowly, but without end.
const LONG: usize = 16;
const LONG_US: u64 = 8_000_000;
/// A reed bounces for up to 1 ms; a scan takes 5 ms.
const BOUNCE_US: u64 = 8_000;

/// The last changes of every square.
#[derive(Clone, Debug)]
pub(crate) struct Contacts {
    /// A ring of times for each square, and where its oldest one is.
    times: Box<[[MonoTime; LONG]; 64]>,
    next: [u8; 64],
    count: [u8; 64],
}

impl Contacts {
    pub(crate) fn new() -> Contacts {
        Contacts { times: Box::new([[MonoTime::ZERO; LONG]; 64]), next: [0; 64], count: [0; 64] }
    }

    /// Notes a change; true when the square chatters. A change right after another one is the bounce
    /// of the same contact.
    pub(crate) fn note(&mut self, square: Square, at: MonoTime) -> bool {
        if self.last(square).is_some_and(|last| at.since(last) < BOUNCE_US) {
            return false;
        }
        let index = usize::from(square);
        let (ring, next, count) = (&mut self.times[index], &mut self.next[index], &mut self.count[index]);
        let slot = usize::from(*next) % LONG;
        ring[slot] = at;
        *next = ((slot + 1) % LONG) as u8;
        *count = count.saturating_add(1).min(LONG as u8);
        let before = |changes: usize| ring[(slot + LONG + 1 - changes) % LONG];
        let enough =
            |changes: usize, us: u64| usize::from(*count) >= changes && at.since(before(changes)) <= us;
        enough(SHORT, SHORT_US) || enough(LONG, LONG_US)
    }

    /// When the square changed last.
    pub(super) fn last(&self, square: Square) -> Option<MonoTime> {
        let index = usize::from(square);
        let slot = (usize::from(self.next[index]) + LONG - 1) % LONG;
        (self.count[index] > 0).then(|| self.times[index][slot])
    }

    /// The square is taken to have been quiet so far.
    pub(super) fn forget(&mut self, square: Square) {
        self.count[usize::from(square)] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(ms: impl IntoIterator<Item = u64>) -> Vec<bool> {
        let mut contacts = Contacts::new();
        ms.into_iter().map(|ms| contacts.note(Square::F6, MonoTime::ZERO.plus_ms(ms))).collect()
    }

    #[test]
    fn a_hand_is_no_chatter() {
        let placed_and_corrected = [0, 350, 700, 900, 1300, 2000, 2400, 5000, 5500, 6000];
        assert!(changes(placed_and_corrected).iter().all(|chatters| !chatters));
        let weak_magnet = [350, 360, 372, 381, 395, 20_000];
        assert!(changes(weak_magnet).iter().all(|chatters| !chatters));
    }

    #[test]
    fn fast_changes_are_chatter_and_slow_ones_that_do_not_end() {
        assert_eq!(changes((0..9).map(|n| n * 50)).iter().position(|chatters| *chatters), Some(7));
        assert_eq!(changes((0..20).map(|n| n * 400)).iter().position(|chatters| *chatters), Some(15));
    }
}
