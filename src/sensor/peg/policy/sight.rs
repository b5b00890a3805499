//! Whether the board sees its holes, and when that is told.
//!
//! Trouble is told at once. Its end is told at once as well, but for a board that says now this and now that: there
//! it is told when nothing was said against it for [`CALM_MS`], with a count.

use crate::session::time::MonoTime;

/// So long a board that has taken its word back is watched before it is believed again, in milliseconds.
pub(super) const CALM_MS: u64 = 5000;

/// What is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The holes are not seen.
    Blind,
    /// They are seen again; so many times that was said and taken back, untold.
    Sees(u64),
}

/// What a board says of its holes.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    /// It says that it does not see its holes.
    blind: bool,
    /// That is what was told.
    told: bool,
    /// When the end of a trouble was told last.
    ended: Option<MonoTime>,
    /// The end of this trouble waits for calm; the time until when, while the board says that it sees.
    unsteady: bool,
    calm: Option<MonoTime>,
    untold: u64,
}

impl Sight {
    /// True while the trouble stands.
    pub(super) const fn stands(&self) -> bool {
        self.told
    }

    /// The board introduces itself: it sees until it says otherwise. What was told went with the link, unless that is
    /// still up for its readers.
    pub(super) fn introduced(&mut self, at: MonoTime, is_up: bool) {
        if is_up && self.told {
            (self.blind, self.unsteady, self.calm) = (false, true, Some(at.plus_ms(CALM_MS)));
        } else {
            *self = Sight { ended: self.ended, ..Sight::default() };
        }
    }

    /// The board says whether it sees.
    pub(super) fn say(&mut self, at: MonoTime, sees: bool) -> Option<News> {
        if self.blind != sees {
            return None;
        }
        self.blind = !sees;
        match (sees, self.told) {
            (false, false) => {
                self.unsteady = self.ended.is_some_and(|ended| at < ended.plus_ms(CALM_MS));
                self.told = true;
                Some(News::Blind)
            }
            (false, true) => {
                self.calm = None;
                self.untold = self.untold.saturating_add(1);
                None
            }
            (true, true) if self.unsteady => {
                self.calm = Some(at.plus_ms(CALM_MS));
                None
            }
            (true, true) => Some(self.end(at)),
            (true, false) => None,
        }
    }

    fn end(&mut self, at: MonoTime) -> News {
        (self.told, self.unsteady, self.calm, self.ended) = (false, false, None, Some(at));
        News::Sees(std::mem::take(&mut self.untold))
    }

    /// What is due at this time.
    pub(super) fn poll(&mut self, at: MonoTime) -> Option<News> {
        self.calm.filter(|calm| at >= *calm).map(|_| self.end(at))
    }

    /// When something is due.
    pub(super) const fn deadline(&self) -> Option<MonoTime> {
        self.calm
    }
}
