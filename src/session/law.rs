//! What the Laws layer reads of a session, and what rulings and persons change in it.

use shakmaty::{Bitboard, Board, ByColor, Chess, Color, Move, Position as _, Square};

use crate::laws::{arithmetic::clock::PerMove, touch};

use super::{
    PlyRecord, Session,
    event::ClockReading,
    fact::{Conclusion, law::Reach},
    narrator::{Now, is_unfinished},
    text::MoveText,
    time::MonoTime,
    tracker::{Observed, Ply, Tracker, asked},
};

/// When the clock was pressed over a move, over the reply to it and over the move after that, as far as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presses {
    /// Over the move itself.
    pub own: Option<MonoTime>,
    /// Over the reply.
    pub reply: Option<MonoTime>,
    /// Over the next move of the same player.
    pub next: Option<MonoTime>,
}

impl Session {
    /// The position after this many plies of the log, where so many were told.
    pub fn position_after(&self, plies: usize) -> Option<&Chess> {
        self.narrator.position_after(plies)
    }

    /// The told move of this index, counted from 0 at the first event.
    pub fn move_at(&self, index: usize) -> Option<Move> {
        self.narrator.move_at(index)
    }

    /// The told ply of this index, counted from 0 at the first event.
    pub fn ply_at(&self, index: usize) -> Option<&PlyRecord> {
        self.narrator.ply_at(index)
    }

    /// So many plies from the first one on were completed, each of them.
    pub fn completed_to(&self) -> usize {
        self.narrator.completed_to()
    }

    /// The ply that was told last.
    pub fn last_ply(&self) -> Option<&PlyRecord> {
        self.plies().len().checked_sub(1).and_then(|last| self.ply_at(last))
    }

    /// The legal moves of [`Session::position`].
    pub fn legal_moves(&self) -> &[Move] {
        self.narrator.legal_moves()
    }

    /// The legal moves of the man on a square: castling is the king's. Without generating all moves.
    pub fn moves_of(&self, square: shakmaty::Square) -> Vec<Move> {
        let mut of_man = Vec::with_capacity(8);
        asked::of_man(self.position(), square, |mv| of_man.push(mv));
        of_man
    }

    /// Hands the legal moves of the man on a square over one by one: castling is the king's.
    pub fn each_move_of(&self, square: shakmaty::Square, take: impl FnMut(Move)) {
        asked::of_man(self.position(), square, take);
    }

    /// The legal moves of the man on a square, where they have the common form.
    pub fn reach_of(&self, square: shakmaty::Square) -> Option<Reach> {
        asked::reach(self.position(), square)
    }

    /// The legal moves that capture the man on a square.
    pub fn captures_of(&self, square: shakmaty::Square) -> Vec<Move> {
        let moves = asked::landing(self.position(), square);
        let is_one = |mv: &Move| touch::captured(*mv) == Some(square) && touch::is_move(*mv);
        moves.into_iter().filter(is_one).collect()
    }

    /// Whether the side to move has a legal move.
    pub fn can_move(&self) -> bool {
        super::tracker::has_legal_move(self.position())
    }

    /// A move in UCI, in the form of the variant.
    pub fn move_text(&self, mv: Move) -> MoveText {
        self.narrator.move_text(mv)
    }

    /// The square of the game that a sensor's square is.
    pub fn square_of(&self, sensor: shakmaty::Square) -> shakmaty::Square {
        self.orientation.square(sensor)
    }

    /// The sensor's square that a square of the game is.
    pub fn sensor_of(&self, square: shakmaty::Square) -> shakmaty::Square {
        self.orientation.sensors(Bitboard::from_square(square)).first().unwrap_or(square)
    }

    /// The occupied squares, in the numbering of the game.
    pub fn occupied(&self) -> Bitboard {
        self.tracker.seen().occupied
    }

    /// The men on them, where the board tells.
    pub fn men(&self) -> Option<&Board> {
        self.tracker.seen().men.as_ref()
    }

    /// Squares on which the board contradicts the told game, masked ones aside.
    pub fn differs(&self) -> Bitboard {
        self.tracker.seen().differs(self.position().board())
    }

    /// The same for another position.
    pub fn differs_from(&self, position: &Chess) -> Bitboard {
        self.tracker.seen().differs(position.board())
    }

    /// True where what the sensors tell may be a bounce, and counts only once it has rested.
    pub fn debounces(&self) -> bool {
        self.debouncer.is_some()
    }

    /// A legal move of which a part is still to do: castling without its rook, en passant without the
    /// captured pawn, a pawn on the last rank.
    pub fn unfinished(&self) -> Option<Move> {
        self.narrator.unfinished_move(&self.tracker)
    }

    /// Whether this legal move, of which a part was to do, still is so, whatever else has changed.
    pub fn is_unfinished(&self, mv: Move) -> bool {
        is_unfinished(mv, self.tracker.seen(), self.position().turn())
    }

    /// A person ended the game, or took its end back.
    pub fn conclude(&mut self, at: MonoTime, ev: i64, end: Conclusion) {
        let now = Now { at, ev };
        self.pass_time(at);
        self.narrator.conclude(end, &self.tracker, now, &mut self.facts);
        self.resume_after_end(at);
    }

    /// The end was taken back: what changed on the board since then is read as after an outage.
    pub(super) fn resume_after_end(&mut self, at: MonoTime) {
        if self.narrator.is_over() {
            return;
        }
        if let Some(seen) = self.after_end.take() {
            let seen = Observed { occupied: seen.occupied, men: seen.men, ..self.tracker.seen().clone() };
            self.tracker.report(seen, at);
            self.narrate(at, super::Moment::Board(super::Cause::Report));
        }
    }

    /// Men are moved although the clocks are stopped: a sealed move is put on the board.
    pub fn play_on(&mut self, at: MonoTime) {
        self.pass_time(at);
        self.set_pause(at, false);
    }

    /// The arbiter stopped the clock that is kept here, or started it.
    pub fn pause_by_arbiter(&mut self, at: MonoTime, stopped: bool) {
        if !stopped {
            self.take_board_as_it_is();
        }
        self.pause(at, stopped);
    }

    /// A clock was started by hand: what the board shows was played in the position that was ruled.
    pub(super) fn take_board_as_it_is(&mut self) {
        if self.narrator.take_board_as_it_is(&self.tracker) {
            self.tracker.take_as_played();
        }
    }

    /// A clock that is kept here shows this, exactly, with so many milliseconds of a delay to go. `amended`: the
    /// side that got the time of a period with its last move, after that was told.
    pub fn show_own_clock(
        &mut self,
        at: MonoTime,
        ev: i64,
        reading: ClockReading,
        delay_ms: u64,
        amended: Option<Color>,
    ) {
        let now = Now { at, ev };
        self.narrator.show_own_clock(reading, delay_ms, amended, now, &mut self.facts);
    }

    /// Milliseconds of a delay that were to go at the last reading of a clock that is kept here.
    pub fn clock_delay_ms(&self) -> u64 {
        self.narrator.clock_delay_ms()
    }

    /// Between which moments the time of a side ran out at an external clock, as its readings before tell.
    pub fn clock_zero(&self, side: Color, at: MonoTime) -> Option<(MonoTime, MonoTime)> {
        self.narrator.clock_zero(side, at)
    }

    /// By how many milliseconds the reading of the clock that was told last showed other times than the ones before
    /// it allow, whatever their lag and rounding; nothing for the first one.
    pub fn clock_missed_ms(&self) -> ByColor<Option<u64>> {
        self.narrator.clock_missed_ms()
    }

    /// The external clock is being set to these times, in milliseconds: White's and Black's.
    pub fn expect_clock(&mut self, at: MonoTime, times_ms: [Option<u64>; 2]) {
        self.narrator.expect_clock(at, times_ms);
    }

    /// From now on a move adds this at the clock: it was ruled.
    pub fn rule_per_move(&mut self, per_move: PerMove) {
        self.narrator.rule_per_move(per_move);
    }

    /// What was told is beyond doubt: a ruling or an envelope says so.
    pub fn confirm_told(&mut self, at: MonoTime, ev: i64) {
        let now = Now { at, ev };
        self.narrator.publish_all(now, &mut self.facts);
    }

    /// An arbiter takes the game back to the position after its first `plies` plies. The board may show
    /// another one until it is put right.
    pub fn restore(&mut self, at: MonoTime, ev: i64, plies: usize) {
        let firm = self.narrator.firm_plies(plies);
        let now = Now { at, ev };
        self.narrator.take_back_to(plies, now, &mut self.facts);
        self.resume(firm, None);
        self.tracker.forget_presses();
        self.narrator.await_position(&self.tracker);
        // A man of the player alone is off its square: he has it in his hand.
        if self.differs().is_subset(self.position().us() & !self.occupied()) && !self.narrator.is_frozen() {
            self.tracker.take_as_played();
        }
    }

    /// An illegal move stands, and the game goes on after it.
    pub fn adopt(&mut self, at: MonoTime, mv: Move, after: Chess) {
        let mut firm = self.narrator.firm_plies(usize::MAX);
        firm.push(self.narrator.adopt(mv, after, at));
        self.resume(firm, None);
        // The opponent has gone on already.
        if self.differs().any() {
            self.tracker.look_on(at);
            self.narrate(at, super::Moment::Board(super::Cause::Report));
        }
    }

    /// The illegal move after the first `plies` plies, which stood, does not: it is as it was when the clock was
    /// pressed over it.
    pub fn disown(&mut self, at: MonoTime, ev: i64, plies: usize) {
        let firm = self.narrator.firm_plies(plies);
        let now = Now { at, ev };
        self.narrator.disown(plies, now, &mut self.facts);
        self.resume(firm, None);
    }

    /// What the clock was pressed over with this man is no legal move, it seems: none is read into it before the
    /// position before it stands, but one that was seen. Nothing where it may be one after all.
    pub fn refuse(&mut self, from: Option<Square>) {
        self.narrator.refuse(from);
    }

    /// The same for certain: a man took another one, which is not legal. What had been read into it is given up.
    pub fn found_illegal(&mut self, attempt: (Square, Square)) {
        self.narrator.found_illegal(attempt);
        self.tracker.give_up_beyond(self.narrator.plies().len());
    }

    /// An arbiter finds that what the clock was pressed over is no illegal move: it is read as it looks.
    pub fn excuse(&mut self, at: MonoTime) {
        self.pass_time(at);
        self.narrator.excuse();
        self.narrate(at, super::Moment::Other);
    }

    /// The game goes on from another position that an arbiter set up; plies are counted from there.
    pub fn set_up(&mut self, position: Chess) {
        self.narrator.set_up(position.clone());
        self.resume(Vec::new(), Some(position));
        self.tracker.forget_presses();
        self.narrator.await_position(&self.tracker);
    }

    /// An arbiter, or an announcement, corrects the ply of `index`: the moves from it on, which are legal one after another.
    pub fn correct(&mut self, at: MonoTime, ev: i64, index: usize, line: &[Move], reason: &'static str) {
        let mut firm = self.narrator.firm_plies(usize::MAX);
        for (ply, mv) in firm.iter_mut().skip(index).zip(line) {
            ply.mv = *mv;
        }
        let now = Now { at, ev };
        self.narrator.correct_from(index, line, reason, now, &mut self.facts);
        self.resume(firm, None);
    }

    /// An arbiter names the move that was made, where the board does not tell it. What its opponent has gone on to
    /// since is read of the board.
    pub fn play(&mut self, at: MonoTime, ev: i64, mv: Move, presses: Presses) {
        let now = Now { at, ev };
        let by = self.position().turn();
        self.pass_time(at);
        let mut firm = self.narrator.firm_plies(usize::MAX);
        firm.push(self.narrator.rule_move(mv, presses.own.is_some(), now, &mut self.facts));
        self.resume(firm, None);
        if let Some(since) = presses.own.filter(|_| self.differs().any()) {
            self.tracker.look_on_after(since, [presses.reply, presses.next], at);
            self.narrate(at, super::Moment::Board(super::Cause::Report));
            let opponent = self.position().turn();
            if presses.reply.is_some() && opponent != by {
                // What he had pressed over is no move.
                self.narrator.judge_press(&self.tracker, opponent, now, &mut self.facts);
            }
        }
    }

    /// Who has the move, where the clock was pressed over something that fits several moves.
    pub fn undecided_turn(&self) -> Option<Color> {
        self.narrator.undecided_turn(&self.tracker)
    }

    /// The ply of this index was completed by the press that came before it.
    pub fn complete(&mut self, at: MonoTime, ev: i64, index: usize) {
        self.narrator.complete_by_earlier_press(index, Now { at, ev }, &mut self.facts);
    }

    /// A report that opens the record of a game under way and shows men elsewhere than the game has them: no
    /// move, since nobody had been absent. They were displaced (Article 7.6; 2005: 7.5).
    pub(super) fn begins_displaced(&mut self, at: MonoTime, occupied: Bitboard, men: Option<&Board>) -> bool {
        let shown = Observed::of(occupied, men.cloned());
        let differs = shown.differs(self.position().board());
        if !self.untouched || !self.mid_game || self.narrator.plies().len() > 0 || differs.is_empty() {
            return false;
        }
        self.tracker.see(shown);
        self.resume(Vec::new(), None);
        self.advise(at, "displaced", differs, "men stand on other squares than in the game so far");
        true
    }

    fn resume(&mut self, firm: Vec<Ply>, start: Option<Chess>) {
        let start = start.unwrap_or_else(|| self.tracker.start().clone());
        self.tracker = Tracker::resume(&self.tracker, firm, start, self.narrator.position().clone());
    }
}
