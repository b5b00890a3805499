//! The duty to record the moves (Article 8.4).

use super::BOTH;
use crate::{
    game::conduct::{Conduct, Desk},
    session::fact::law::{Audience, LawFact, Notice, Side},
};

impl Conduct {
    /// Who has to record the moves (Article 8.4).
    pub(in crate::game::conduct) fn look_at_recording(&mut self, desk: &mut Desk<'_>) {
        let settings = self.settings.record;
        if !settings.required {
            return;
        }
        for side in BOTH {
            let Some(remaining_ms) = self.clocks.remaining(side, desk.at) else { continue };
            let half = self.clocks.half(side);
            if half.required == Some(true) && half.duty.is_untouched(&settings, remaining_ms) {
                continue;
            }
            let per_move = self.clocks.per_move(side, self.completed_by(side, desk));
            let half = self.clocks.half_mut(side);
            let required = half.duty.observe(&settings, remaining_ms, per_move);
            let was_below = !required && remaining_ms >= settings.threshold_ms;
            if half.required != Some(required) || half.was_below != was_below {
                half.required = Some(required);
                half.was_below = was_below;
                let (color, inc_ms) = (Side(side), per_move.ms());
                desk.tell(LawFact::Recording { color, remaining_ms, inc_ms, required, was_below });
            }
        }
        let nobody = BOTH.iter().all(|side| self.clocks.half(*side).required == Some(false));
        if nobody && !self.clocks.scribe_told {
            desk.notice(Notice::of("scribe-needed", Audience::Arbiter));
        }
        self.clocks.scribe_told = nobody;
    }
}
