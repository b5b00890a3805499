//! Clocks that are stopped and started (Articles 6.6, 6.11; 2005: 6.5, 6.13).

use shakmaty::{Bitboard, ByColor, Color};

use crate::{
    game::conduct::{Conduct, Desk, Order},
    session::{
        fact::law::{Audience, By, ClockCalc, Notice, Side, Times},
        time::MonoTime,
    },
};

impl Conduct {
    /// The clocks were stopped (Article 6.11; 2005: 6.13).
    pub(in crate::game::conduct) fn stopped(&mut self, desk: &mut Desk<'_>) {
        self.clocks.stop(desk.at);
        self.clocks.thinking.stop(desk.at);
        if let Some(own) = &mut self.clocks.own {
            own.stop(desk.at);
        }
        self.clocks.paused = true;
        self.turn.due = None;
        let by = Some(By::Word("unknown"));
        desk.notice(Notice { by, ..Notice::of("paused", Audience::Arbiter) });
        self.sealing_ends(desk);
    }

    /// An arbiter stops the clocks: the one that is kept here stands, and so does the game.
    pub(in crate::game::conduct) fn stop_by_command(&mut self, desk: &mut Desk<'_>) {
        if self.clocks.own.is_some() {
            desk.orders.push(Order::Pause(true));
        }
        self.stopped(desk);
    }

    /// A clock is started by the arbiter's command.
    pub(in crate::game::conduct) fn start_by_command(&mut self, side: Color, desk: &mut Desk<'_>) {
        desk.orders.push(Order::Pause(false));
        self.started(side, desk);
    }

    /// What a clock that ran from one time to another has used.
    pub(in crate::game::conduct) fn tell_elapsed(
        &self,
        who: Color,
        before: u64,
        from: MonoTime,
        to: MonoTime,
        desk: &mut Desk<'_>,
    ) {
        let used = to.since(from) / 1000;
        desk.calc(ClockCalc {
            side: Some(Side(who)),
            before: Some(Times::One(before)),
            from_ms: Some(from.as_micros() / 1000),
            to_ms: Some(to.as_micros() / 1000),
            after: Some(Times::One(before.saturating_sub(used))),
            ..ClockCalc::of("replay-elapsed")
        });
    }

    /// A clock was started: by an arbiter, or at the beginning.
    pub(in crate::game::conduct) fn started(&mut self, side: Color, desk: &mut Desk<'_>) {
        let first = !self.begun && self.clocks.begun.is_none();
        let mut resumption = false;
        let resumed = self.clocks.paused || self.adjournment.is_resuming();
        let side_to_move = desk.turn();
        let equal = desk.session.differs().is_empty();
        if resumed || (first && !self.earlier.is_empty()) {
            let sealed = side_to_move != side && self.adjournment.explains_clock(self.earlier.len(), desk);
            desk.notice(Notice {
                equal: Some(equal),
                running: Some(Side(side)),
                side_to_move: Some(Side(side_to_move)),
                sealed,
                ..Notice::of("resume-check", Audience::Journal)
            });
            resumption = first && sealed;
        } else if first && side_to_move != side {
            let notice = Notice::of("clock-side-mismatch", Audience::Arbiter);
            desk.notice(Notice { expected: Some(Side(side_to_move)), running: Some(Side(side)), ..notice });
        }
        self.adjournment.clock_runs();
        if resumed && let Some((who, from, to, Some(before))) = self.clocks.stretch.take() {
            self.tell_elapsed(who, before, from, to, desk);
        }
        self.exchanging = Bitboard::EMPTY;
        self.clocks.thinking.start(desk.at);
        self.own_run(side, desk);
        if self.clocks.running != Some(side) {
            self.clocks.stop(desk.at);
            self.clocks.run(side, desk.at);
        }
        if resumption {
            // An adjourned game is resumed with this clock: both have to come to the new session (Guideline
            // I.10; 2005: Annex A.10).
            self.clocks.await_players(desk.at, ByColor { white: true, black: true });
        }
        self.clocks.paused = false;
    }
}
