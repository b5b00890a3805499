//! The clock that this program keeps: presses, arbiters and the count of moves drive it, and it tells the same
//! facts as one that is read.
//!
//! Every press of the side that runs counts for the clock, whatever stands on the board: a clock that made a
//! difference there would tell the players. Only the time of a new period waits for the moves of the game.

use shakmaty::{Color, Position as _};

use super::{AtPress, BOTH};
use crate::{
    game::{
        conduct::{Conduct, Desk, Order},
        own_clock::Due,
    },
    laws::{arithmetic::periods, settings::ClockKind},
    session::{
        Session,
        event::{ClockReading, Event},
        face::ClockFace,
        fact::law::{Audience, Notice, Side},
        time::MonoTime,
    },
};

impl Conduct {
    /// False for an event that this game does not take: readings of a clock that is not the game's, and presses
    /// that do nothing at a clock which this program keeps.
    pub(in crate::game) fn admits(&self, event: &Event, session: &Session) -> bool {
        match (event, &self.clocks.own) {
            // After the end a press says that the players go on.
            (Event::Press(side), Some(own)) => own.heeds_press(*side) || session.is_over(),
            (Event::Times(_) | Event::Flag(_), _) => self.settings.clock.kind == ClockKind::External,
            _ => true,
        }
    }

    /// The press that starts a clock which stood since it was set: the opponent of the player to move makes it,
    /// with no move of his own to press (Article 6.6; 2005: 6.5).
    pub(in crate::game) fn as_start(&self, event: &Event, session: &Session) -> Option<Event> {
        let (Event::Press(side), Some(own)) = (event, &self.clocks.own) else { return None };
        let stood = own.running().is_none() && own.heeds_press(*side);
        let made = session.last_ply().is_some_and(|last| last.completed.is_none());
        let turn = session.position().turn();
        (stood && !made && turn != *side).then_some(Event::Run(turn))
    }

    /// Such an event came.
    pub(in crate::game) fn leave(&mut self, event: &Event, desk: &mut Desk<'_>) {
        if let Event::Press(side) = event {
            self.clocks.see(*side, desk.at);
            // A press that bounced, came twice, or came while the clock stands (Article 6.2.1.1).
            let notice = Notice::of("press-idle-side", Audience::Journal);
            desk.notice(Notice { side: Some(Side(*side)), ..notice });
        }
        self.begun = true;
    }

    /// The lever was pressed, before the game knows of it: the clock has no time to lose.
    pub(in crate::game::conduct) fn own_press(&mut self, side: Color, desk: &mut Desk<'_>) {
        if self.clocks.own.as_ref().is_none_or(|own| !own.heeds_press(side)) {
            return;
        }
        let completed = |by| self.completed_by(by, desk);
        let (adds, next) =
            (self.clocks.per_move(side, completed(side)), self.clocks.per_move(!side, completed(!side)));
        let opponent = self.clocks.remaining(!side, desk.at);
        if let Some(own) = &mut self.clocks.own {
            let pressed = own.press(side, desk.at, adds, next);
            let times = AtPress { own: Some(pressed.own_ms), credited: Some(pressed.credited_ms), opponent };
            self.clocks.note_press(side, desk.at, times);
        }
    }

    /// The same, after the game has taken it.
    pub(in crate::game::conduct) fn own_pressed(&mut self, desk: &Desk<'_>) {
        if !self.is_over(desk) {
            self.clocks.paused = false;
            self.clocks.begin(desk.at);
        }
    }

    /// A clock was started by hand.
    pub(in crate::game::conduct) fn own_run(&mut self, side: Color, desk: &Desk<'_>) {
        let per_move = self.clocks.per_move(side, self.completed_by(side, desk));
        if let Some(own) = &mut self.clocks.own {
            own.run(side, desk.at, per_move);
        }
    }

    /// Whose clock goes on when nobody says which: the one that was stopped, or that of the side to move.
    pub(in crate::game::conduct) fn to_run(&self, desk: &Desk<'_>) -> Color {
        let halted = self.clocks.own.as_ref().and_then(|own| own.halted());
        halted.unwrap_or_else(|| desk.turn())
    }

    /// A move was completed: its player gets the time of the next period with the last move of the one before.
    pub(in crate::game::conduct) fn own_completed(&mut self, by: Color, desk: &Desk<'_>) {
        if !self.keeps_clock() {
            return;
        }
        let completed = self.completed_by(by, desk);
        let counted = self.clocks.period(by, completed);
        while let Some(period) = self.clocks.own.as_ref().map(|own| own.period(by) + 1)
            && period <= counted
        {
            let flag = self.clocks.flag(by).is_some();
            let ms = self.clocks.control_of(by).and_then(|control| periods::added_ms(control, period));
            let Some(own) = &mut self.clocks.own else { return };
            // Nothing is added once the time is overstepped.
            own.begin_period(by, period, ms.filter(|_| !flag).unwrap_or(0));
            self.clocks.amended = Some(by);
        }
    }

    /// The game ended. Where its end is taken back, the arbiter starts the clock.
    pub(in crate::game::conduct) fn own_ended(&mut self, desk: &Desk<'_>) {
        if let Some(own) = &mut self.clocks.own {
            own.stop(desk.at);
        }
    }

    /// Power failed, or came back: the times are those of the last record, and the clock stands until an
    /// arbiter starts it.
    pub(in crate::game::conduct) fn own_power(&mut self, on: bool, desk: &mut Desk<'_>) {
        let Some(own) = &mut self.clocks.own else { return };
        if !on {
            let running = own.running();
            own.stop(desk.at);
            self.clocks.stop(desk.at);
            self.clocks.thinking.stop(desk.at);
            self.clocks.dark = Some((desk.at, running));
            return;
        }
        let Some((since, running)) = self.clocks.dark.take() else { return };
        if let Some(side) = running {
            self.clocks.paused = true;
            let gap_ms = Some(desk.at.since(since) / 1000);
            let notice = Notice::of("clock-gap", Audience::Arbiter);
            desk.notice(Notice { running: Some(Side(side)), gap_ms, ..notice });
        }
    }

    /// The next deadline of the clock.
    pub(in crate::game::conduct) fn own_due(&self) -> Option<MonoTime> {
        self.clocks.own.as_ref().and_then(|own| own.due())
    }

    /// A deadline of the clock has passed.
    pub(in crate::game::conduct) fn own_fire(&mut self, desk: &mut Desk<'_>) {
        if let Some(side) = self.clocks.own.as_ref().and_then(|own| own.running()) {
            // The moves of the period may have been found complete by now.
            self.own_completed(side, desk);
        }
        let due = self.clocks.own.as_mut().and_then(|own| own.fire(desk.at));
        if let Some(Due::Flag(side)) = due {
            self.end_before_flag(desk);
            self.flag(side, desk);
        }
    }

    /// Tells what the clock shows, where that has changed.
    pub(in crate::game) fn tell_own_clock(&mut self, desk: &mut Desk<'_>) {
        if let Some(own) = &mut self.clocks.own
            && own.take_news()
        {
            let (reading, delay_ms) = (own.reading(desk.at), own.delay_ms(desk.at));
            desk.orders.push(Order::Clock { reading, delay_ms, amended: self.clocks.amended.take() });
        }
    }

    /// What it shows is told: the account follows.
    pub(super) fn own_read(&mut self, reading: ClockReading, desk: &mut Desk<'_>) {
        for side in BOTH {
            self.clocks.half_mut(side).left = side.fold_wb(reading.white_ms, reading.black_ms);
        }
        self.clocks.read = Some(desk.at);
        self.clocks.now_runs(reading.running, desk.at);
        self.clocks.since = desk.at;
        self.look_at_recording(desk);
    }

    /// The face of the clock, where this program keeps one.
    pub(in crate::game) fn own_face(&self, at: MonoTime) -> Option<ClockFace> {
        self.clocks.own.as_ref().map(|own| own.face(at))
    }

    /// Which flags are down.
    pub(in crate::game) fn flags(&self) -> [bool; 2] {
        BOTH.map(|side| self.clocks.flag(side).is_some())
    }

    /// True where this program is the clock.
    pub(in crate::game) const fn keeps_clock(&self) -> bool {
        self.clocks.own.is_some()
    }

    /// True while this program keeps a clock that runs.
    pub(in crate::game) fn own_runs(&self) -> bool {
        self.clocks.own.as_ref().is_some_and(|own| own.running().is_some())
    }
}
