//! A clock that the program keeps itself: what it shows is exact, and nothing is read out of it.

use shakmaty::{Color, Position as _};

use super::{Facts, Narrator, Now, tell};
use crate::session::{event::ClockReading, fact::FactKind};

impl Narrator {
    /// The clock shows this. A press was told to it before the move is completed, so that the move has its time;
    /// what a period adds to it comes after.
    pub(in crate::session) fn show_own_clock(
        &mut self,
        reading: ClockReading,
        delay_ms: u64,
        amended: Option<Color>,
        now: Now,
        facts: &mut Facts,
    ) {
        self.delay_ms = delay_ms;
        self.clock = reading;
        tell(facts, now, FactKind::Clock(reading));
        let Some(by) = amended else { return };
        let last = self.told.iter().rposition(|told| !told.after.turn() == by);
        let clock_ms = by.fold_wb(reading.white_ms, reading.black_ms);
        let told = last.and_then(|index| Some((index, self.told.get_mut(index)?)));
        if let (Some((index, told)), Some(clock_ms)) = (told, clock_ms)
            && told.record.clock_ms.is_some_and(|before| before < clock_ms)
        {
            told.record.clock_ms = Some(clock_ms);
            tell(
                facts,
                now,
                FactKind::PlyClock { ply: index + 1, clock_ms, shown_ms: Some(clock_ms), estimate: None },
            );
        }
    }

    /// Milliseconds of a delay that were to go when the clock was told last.
    pub(in crate::session) const fn clock_delay_ms(&self) -> u64 {
        self.delay_ms
    }
}
