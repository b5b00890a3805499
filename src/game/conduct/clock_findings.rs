//! What the readings of an external clock show beyond its times: for the arbiter, who alone decides what it means
//! (Article 6.10; 2005: 6.11).

use super::{Conduct, Desk};
use crate::session::{
    clock::{Change, Finding},
    fact::law::{Audience, Notice, Side},
};

impl Conduct {
    /// Something was found at the clock.
    pub(super) fn clock_found(&mut self, finding: Finding, desk: &mut Desk<'_>) {
        if self.is_over(desk) {
            return;
        }
        let notice = match finding {
            Finding::Changed { change, side, before_ms, after_ms, .. } => {
                if change == Change::Period {
                    self.period_was_added(side, desk);
                }
                let notice = match change {
                    // That it shows what was ordered is no news to the arbiter.
                    _ if self.clock_desk.has_ordered(side, after_ms, desk.at) => {
                        Notice::of("clock-adjusted", Audience::Journal)
                    }
                    Change::Adjusted if self.clock_desk.is_flooded(desk.at) => {
                        Notice::of("clock-adjusted", Audience::Journal)
                    }
                    Change::Adjusted => Notice::of("clock-adjusted", Audience::Arbiter),
                    Change::Jump => Notice::of("clock-jump", Audience::Arbiter),
                    Change::Period => Notice::of("clock-period", Audience::Journal),
                };
                let (before_ms, after_ms) = (Some(before_ms), Some(after_ms));
                Notice { side: Some(Side(side)), before_ms, after_ms, ..notice }
            }
            Finding::Frozen { side, shown_ms, .. } => {
                let notice = Notice::of("clock-frozen", Audience::Arbiter);
                Notice { side: Some(Side(side)), reported_ms: Some(shown_ms), ..notice }
            }
            Finding::Standing => Notice::of("clock-standing", Audience::Arbiter),
            Finding::Exchanged => Notice::of("clock-sides-exchanged", Audience::Arbiter),
            Finding::Pressed { .. } => return,
        };
        desk.notice(notice);
    }
}
