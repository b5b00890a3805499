//! The pure core of one board: events with their times go in, facts come out.
//!
//! No I/O, no clock, no randomness, no floating point, no hash order: the same events give the
//! same facts, byte for byte. A deadline acts at its own time, so a late wake-up changes nothing.

pub mod clock;
pub mod debounce;
pub mod event;
pub mod face;
pub mod fact;
pub(crate) mod health;
pub mod io;
pub(crate) mod law;
mod narrator;
mod orientation;
pub mod settings;
pub mod setup;
pub mod text;
pub mod time;
mod tracker;
pub mod view;

use shakmaty::{Bitboard, Board, Chess, Color, Piece, Position as _, Square};

use self::{
    debounce::Debouncer,
    event::{ClockReading, Event, GameResult, Stamped, Unit},
    fact::{Certainty, Conclusion, Fact, FactKind, law::Audience},
    health::Health,
    narrator::{Facts, Moment, Narrator, Now},
    orientation::Orientation,
    settings::OrientationSetting,
    setup::{BoardKind, GameSetup, SetupError, Signal},
    text::MoveText,
    time::MonoTime,
    tracker::{Cause, Observed, Tracker},
    view::{Effort, Physical, View},
};

/// Version of the conclusions: it grows when the same events give other facts.
pub const LOGIC_VERSION: u32 = 12;

/// A ply of the reconstructed game.
#[derive(Clone, Debug, PartialEq)]
pub struct PlyRecord {
    /// The move in UCI.
    pub uci: MoveText,
    /// The move in standard algebraic notation.
    pub san: MoveText,
    /// When it was made.
    pub made: MonoTime,
    /// When it was completed.
    pub completed: Option<MonoTime>,
    /// Time left on the mover's clock at the completion, in milliseconds.
    pub clock_ms: Option<u64>,
    /// True once it was published.
    pub published: bool,
}

/// One board's state machine.
#[derive(Clone, Debug)]
pub struct Session {
    facts: Facts,
    tracker: Tracker,
    narrator: Narrator,
    health: Health,
    debouncer: Option<Debouncer>,
    orientation: Orientation,
    /// A movement, and not the set-up, has shown which way the board lies.
    turned_by_move: bool,
    /// The player to move pressed in front of the first movement: that will be the other one's.
    turn_passed: bool,
    /// The board was turned by a movement over which the other player pressed.
    odd_turn: bool,
    last: MonoTime,
    ev: i64,
    went_back: bool,
    told_backwards: bool,
    signalled: bool,
    /// The link to the board or its power is down.
    offline: bool,
    /// The game had begun before the log.
    mid_game: bool,
    /// What is too short to be a lift is told: the board has debounced before.
    hears_noise: bool,
    /// Nothing has happened yet but time.
    untouched: bool,
    /// What the board shows since the end of the game, while nothing on it is a move: an end may be taken
    /// back.
    after_end: Option<Observed>,
    /// When a square changed last.
    last_change: MonoTime,
}

impl Session {
    /// A session before its first event.
    pub fn new(setup: &GameSetup) -> Result<Session, SetupError> {
        let position = setup.position()?;
        let laws = setup.law_settings()?;
        let standing = position.board().occupied();
        let identity = setup.board == BoardKind::Dgt;
        // Each of two boards is read on its own, and told in the numbering of the game.
        let one_board = setup.board != BoardKind::TwoBoard;
        let mut orientation = match one_board {
            true => Orientation::configured(setup.settings.orientation),
            false => Orientation::configured(OrientationSetting::WhiteSouth),
        };
        let sensors = setup.start_occupied.unwrap_or_else(|| orientation.sensors(standing));
        let turned =
            (!orientation.known).then(|| Orientation::of_setup(position.board(), sensors, None)).flatten();
        orientation = turned.unwrap_or(orientation);
        let occupied = orientation.occupied(sensors);
        let debouncer = match (setup.signal, setup.settings.min_lift_ms) {
            (Signal::Raw, _) => Some((setup.settings.debounce_close_ms, setup.settings.debounce_open_ms)),
            (Signal::Debounced, Some(open_ms)) => Some((0, open_ms)),
            (Signal::Debounced, None) => None,
        };
        let debouncer = debouncer
            .filter(|_| one_board)
            .map(|(close_ms, open_ms)| Debouncer::new(sensors, close_ms, open_ms));
        let men =
            identity.then(|| setup.standing_men(&position, occupied, |square| orientation.square(square)));
        let mut session = Session {
            facts: Facts::new(),
            narrator: Narrator::new(setup, &laws, position.clone(), identity),
            tracker: Tracker::new(position, Observed::of(occupied, men)),
            health: Health::new(),
            debouncer,
            orientation,
            turned_by_move: false,
            turn_passed: false,
            odd_turn: false,
            last: MonoTime::ZERO,
            ev: -1,
            went_back: false,
            told_backwards: false,
            signalled: false,
            offline: false,
            hears_noise: setup.signal == Signal::Debounced,
            mid_game: !setup.history.is_empty(),
            untouched: true,
            after_end: None,
            last_change: MonoTime::ZERO,
        };
        if let Some(way) = turned {
            session.turn_to(MonoTime::ZERO, way);
        }
        session.check_setup();
        Ok(session)
    }

    fn tell(&mut self, at: MonoTime, kind: FactKind) {
        self.facts.push_back(Fact { ev: self.ev, at, kind });
    }

    fn advise(&mut self, at: MonoTime, code: &'static str, squares: Bitboard, detail: &str) {
        let kind =
            FactKind::Advisory { code, side: None, squares, to: Audience::Arbiter, detail: detail.into() };
        self.tell(at, kind);
    }

    /// Compares what stands on the board with the position that the game starts from.
    fn check_setup(&mut self) {
        let seen = self.tracker.seen();
        let board = self.narrator.position().board();
        let differs = seen.differs(board);
        let missing = differs & !seen.occupied;
        let wrong = seen.wrong_men(board) & differs;
        let extra = differs & seen.occupied & !wrong;
        if missing.any() {
            self.advise(self.last, "setup-missing", missing, "no man is seen on these squares");
        }
        if extra.any() {
            self.advise(self.last, "setup-extra", extra, "men are seen on squares that should be empty");
        }
        if wrong.any() {
            self.advise(
                self.last,
                "setup-identity",
                wrong,
                "other men stand on these squares than the game has there",
            );
        }
    }

    /// Takes one decoded event. Every deadline that is due before it fires first. A time that goes
    /// back is clamped to the last one and reported once.
    pub fn handle(&mut self, stamped: &Stamped) {
        self.take_event(stamped.at, stamped.unit, &stamped.event);
    }

    /// The same, of an event that is lent.
    pub fn take_event(&mut self, stamp: MonoTime, unit: Unit, event: &Event) {
        self.advance(stamp.max(self.last));
        self.take_event_on_time(stamp, unit, event);
    }

    /// The same, of an event before which every deadline has fired.
    pub(crate) fn take_event_on_time(&mut self, stamp: MonoTime, unit: Unit, event: &Event) {
        let at = stamp.max(self.last);
        self.ev += 1;
        let back = std::mem::take(&mut self.went_back) || stamp < self.last;
        if back && !self.told_backwards {
            self.told_backwards = true;
            self.advise(
                at,
                "time-backwards",
                Bitboard::EMPTY,
                "a time stamp went back; it was set to the one before it",
            );
        }
        self.last = at;
        // What happens on the second of two boards and does not change the game is only counted.
        if unit == Unit::A {
            self.take(event, at);
        } else if let Event::Device(note) = event {
            self.heed_device(note, at);
        }
    }

    /// Takes a change that an earlier event led to after a rest: it has no number of its own.
    pub fn take_settled(&mut self, at: MonoTime, square: Square, occupied: bool) {
        let at = at.max(self.last);
        self.advance(at);
        self.last = at;
        self.untouched = false;
        self.change(at, square, occupied, None);
    }

    /// The contact of an occupied square was open for so many microseconds, which was too short to count; at
    /// `noisy` boards, which debounce by themselves, that is told.
    pub fn note_dip(&mut self, at: MonoTime, square: Square, open_us: u64, noisy: bool) {
        if open_us >= debounce::BOUNCE_US {
            self.tracker.dip(square, at);
        }
        if noisy {
            self.advise(at, "noise", Bitboard::from_square(square), "open for too short a time to be a lift");
        }
    }

    /// The stamp of the next event went back and was clamped by the caller.
    pub fn note_time_backwards(&mut self) {
        self.went_back = true;
    }

    fn now(&self, at: MonoTime) -> Now {
        Now { at, ev: self.ev }
    }

    fn take(&mut self, event: &Event, at: MonoTime) {
        self.untouched &=
            matches!(event, Event::Occupied(_) | Event::Pieces(_) | Event::Tick | Event::Wall(_));
        match event {
            Event::Square { square, occupied } => {
                let square = *square;
                match &mut self.debouncer {
                    Some(debouncer) => {
                        let open_us = debouncer.edge(at, square, *occupied);
                        self.dipped(at, square, open_us);
                        self.advance(at);
                    }
                    None => self.change(at, square, *occupied, None),
                }
            }
            Event::Piece { square, piece } => self.change(at, *square, piece.is_some(), *piece),
            Event::Occupied(occupied) => self.report(at, *occupied, None),
            Event::Pieces(men) => self.report(at, men.occupied(), Some(men.clone())),
            Event::Press(side) => self.press(*side, at),
            rare => self.take_rare(rare, at),
        }
    }

    /// The contact of an occupied square was open for so long, which is too short to count.
    fn dipped(&mut self, at: MonoTime, sensor: Square, open_us: Option<u64>) {
        let Some(open_us) = open_us else { return };
        self.note_dip(at, self.orientation.square(sensor), open_us, self.hears_noise);
    }

    fn press(&mut self, side: Color, at: MonoTime) {
        if self.narrator.is_over() {
            self.narrator.press_after_end(side);
            return;
        }
        self.pass_time(at);
        let now = self.now(at);
        self.narrator.clock_pressed(side, now, &mut self.facts);
        if self.narrator.look_for_the_move_after_ruling(&self.tracker) {
            self.tracker.take_as_played();
        }
        self.set_pause(at, false);
        self.doubt_turn(side);
        self.note_turn(side);
        self.tracker.press(side, at);
        self.narrate(at, Moment::Board(Cause::Press(side)));
        if let Some(over) = self.narrator.pressed_back_over() {
            self.tracker.unpress(!side, Some(over));
        }
    }

    /// Takes an event that is none of a contact, nor a press.
    #[cold]
    fn take_rare(&mut self, event: &Event, at: MonoTime) {
        match event {
            Event::Pause => {
                self.narrator.clock_paused(self.now(at), &mut self.facts);
                self.pause(at, true);
            }
            Event::Run(side) => {
                self.narrator.clock_started(*side, self.now(at), &mut self.facts);
                self.take_board_as_it_is();
                let over = self.narrator.undo_press(*side);
                self.tracker.unpress(*side, over);
                self.pause(at, false);
            }
            Event::Times(reading) => {
                let now = self.now(at);
                self.narrator.set_clock(*reading, now, &mut self.facts);
            }
            Event::Result(result) => {
                let now = self.now(at);
                self.pass_time(at);
                if !self.narrator.stands_against(*result) {
                    let end = Conclusion::of(*result, "entered", Certainty::Arbiter);
                    self.narrator.conclude(end, &self.tracker, now, &mut self.facts);
                    self.resume_after_end(at);
                }
            }
            Event::Link(false) | Event::Power(false) => {
                self.pass_time(at);
                self.offline = true;
                self.advise(at, "link-down", Bitboard::EMPTY, "the board is not read until it comes back");
            }
            Event::Link(true) | Event::Power(true) => {
                self.pass_time(at);
                self.offline = false;
            }
            Event::Device(note) => self.heed_device(note, at),
            // What persons and the clock say is for the Laws layer.
            _ => {}
        }
    }

    /// A board that is read and not in order is for the arbiter to look at.
    fn heed_device(&mut self, note: &serde_json::Value, at: MonoTime) {
        let now = self.now(at);
        self.narrator.heed_clock(note, now, &mut self.facts);
        if let Some(trouble) = event::standing_trouble(note) {
            self.advise(at, "board-faulty", Bitboard::EMPTY, trouble);
        } else if event::is_settled(note) {
            self.advise(at, "board-recovered", Bitboard::EMPTY, "what it tells counts again");
        }
    }

    /// Time that kings stand in the centre, or in which nobody reads the board, speaks against no reading.
    fn pass_time(&mut self, at: MonoTime) {
        self.tracker.pass_time(at, self.signalled || self.offline);
    }

    fn set_pause(&mut self, at: MonoTime, paused: bool) {
        let now = self.now(at);
        self.narrator.pause(paused, &self.tracker, now, &mut self.facts);
    }

    fn pause(&mut self, at: MonoTime, paused: bool) {
        self.pass_time(at);
        self.set_pause(at, paused);
        self.narrate(at, Moment::Other);
    }

    fn narrate(&mut self, at: MonoTime, moment: Moment) {
        let now = self.now(at);
        self.narrator.after_event(&self.tracker, now, moment, &mut self.facts);
        self.heed_signal();
        self.care(at);
    }

    /// Kings in the centre are no move: the tracker forgets the step of the first one.
    fn heed_signal(&mut self) {
        let told = self.narrator.signal_is_told();
        if told && !self.signalled {
            let step =
                self.tracker.best().is_some_and(|best| self.tracker.len(best) > self.narrator.plies().len());
            if step {
                self.tracker.forget_last_ply();
            }
        }
        self.signalled = told;
    }

    /// A settled change of one square, in the numbering of the sensor.
    fn change(&mut self, at: MonoTime, raw: Square, occupied: bool, piece: Option<Piece>) {
        let square = self.orientation.square(raw);
        let seen = self.tracker.seen();
        if self.narrator.is_over() {
            self.after_end.get_or_insert_with(|| seen.clone()).set(square, occupied, piece);
            return;
        }
        let was = seen.occupied.contains(square);
        let same_man = seen.men.as_ref().is_none_or(|men| men.piece_at(square) == piece);
        self.pass_time(at);
        if was && occupied && same_man {
            return;
        }
        self.last_change = at;
        if self.heed_contact(at, square, occupied) {
            self.tracker.change_unseen(square, occupied, piece);
            self.care(at);
            return;
        }
        self.tell(at, FactKind::Contact { square, occupied, piece });
        if was {
            self.tracker.lift(square, at);
            self.narrate(at, Moment::Board(Cause::Lift(square)));
        }
        if occupied {
            self.tracker.place(square, piece, at);
            self.turn_if_needed(at);
            self.narrate(at, Moment::Board(Cause::Place(square)));
            self.reopen_turn();
        }
    }

    fn report(&mut self, at: MonoTime, occupied: Bitboard, men: Option<Board>) {
        if let Some(debouncer) = &mut self.debouncer {
            debouncer.reset(occupied);
        }
        if self.narrator.is_over() {
            let (occupied, men) =
                (self.orientation.occupied(occupied), men.map(|men| self.orientation.board(men)));
            self.after_end = Some(Observed::of(occupied, men));
            return;
        }
        self.turn_by_setup(at, occupied, men.as_ref());
        let occupied = self.orientation.occupied(occupied);
        let men = men.map(|men| self.orientation.board(men));
        self.pass_time(at);
        if self.begins_displaced(at, occupied, men.as_ref()) {
            return;
        }
        self.heed_report(at, occupied);
        self.last_change = at;
        let changed = self.tracker.report(Observed::of(occupied, men), at);
        if changed.any() || self.ev == 0 {
            self.turn_if_needed(at);
            self.narrate(at, Moment::Board(Cause::Report));
        }
        if self.narrator.plies().len() == 0 && changed.any() && !self.narrator.is_undecided() {
            self.check_setup();
        }
    }

    /// Fires every deadline up to and including `now`, each at its own time.
    pub fn advance(&mut self, now: MonoTime) {
        while let Some(at) = self.deadline().filter(|at| *at <= now) {
            self.last = self.last.max(at);
            let orientation = self.orientation;
            let settled = self
                .debouncer
                .as_mut()
                .and_then(|debouncer| debouncer.next(at, |square| orientation.square(square)));
            if let Some((at, square, occupied)) = settled {
                self.change(at, square, occupied, None);
                continue;
            }
            self.pass_time(at);
            if self.narrator.clock_deadline().is_some_and(|due| due <= at) {
                let moment = self.now(at);
                self.narrator.clock_deadline_passed(moment, &mut self.facts);
            }
            if self.narrator.deadline().is_some_and(|due| due <= at) {
                let moment = self.now(at);
                self.narrator.after_deadline(&self.tracker, moment, &mut self.facts);
                self.heed_signal();
            }
            self.care(at);
        }
    }

    /// The next deadline.
    pub fn deadline(&self) -> Option<MonoTime> {
        let soonest = self.soonest();
        (soonest < MonoTime::END).then_some(soonest)
    }

    /// The next deadline, or the end of time.
    #[inline]
    pub(crate) fn soonest(&self) -> MonoTime {
        // Asked at every event: the least of them without a branch for each.
        let at = |due: Option<MonoTime>| due.unwrap_or(MonoTime::END);
        let soonest = at(self.narrator.deadline()).min(at(self.health.deadline()));
        let others = self.debouncer.is_some() || self.narrator.heeds_clock();
        if others { soonest.min(at(self.seldom_due())) } else { soonest }
    }

    fn seldom_due(&self) -> Option<MonoTime> {
        let debounce = self.debouncer.as_ref().and_then(Debouncer::deadline);
        MonoTime::sooner(debounce, self.narrator.clock_deadline())
    }

    /// The next fact, in order.
    pub fn poll_fact(&mut self) -> Option<Fact> {
        self.facts.pop_front()
    }

    /// The same as it lies there.
    pub(crate) fn next_fact(&self) -> Option<&Fact> {
        self.facts.front()
    }

    /// Passes over the next fact, which is a contact.
    pub(crate) fn skip_contact(&mut self) {
        // It has no memory of its own, and to look for some would cost more than the contact.
        std::mem::forget(self.facts.pop_front());
    }

    /// The state at this moment.
    pub fn view(&self) -> View {
        self.narrator.view(&self.tracker)
    }

    /// The plies of the reconstructed game, counted from the first event.
    pub fn plies(&self) -> impl ExactSizeIterator<Item = &PlyRecord> {
        self.narrator.plies()
    }

    /// The position after [`Session::plies`].
    pub fn position(&self) -> &Chess {
        self.narrator.position()
    }

    /// Index of the last event, -1 before the first.
    pub fn last_event(&self) -> i64 {
        self.ev
    }

    /// The last reading of the clock.
    pub fn clock(&self) -> ClockReading {
        self.narrator.clock()
    }

    /// True while both clocks are stopped.
    pub fn is_paused(&self) -> bool {
        self.narrator.is_paused()
    }

    /// How much is kept in mind at this moment.
    pub fn effort(&self) -> Effort {
        self.tracker.effort()
    }

    /// What stands on the board.
    pub fn physical(&self) -> Physical {
        let seen = self.tracker.seen();
        let position =
            self.tracker.best().map_or(self.narrator.position(), |best| self.tracker.position(best));
        if let Some(men) = &seen.men {
            return Physical { board: men.clone(), unknown: Bitboard::EMPTY, turn: position.turn() };
        }
        let mut board = position.board().clone();
        let believed = seen.believed(board.occupied());
        for square in board.occupied() & !believed {
            board.discard_piece_at(square);
        }
        let mut unknown = believed & !board.occupied();
        if let (Some(square), Some(man)) = (unknown.single_square(), self.man_in_hand(position)) {
            board.set_piece_at(square, man);
            unknown = Bitboard::EMPTY;
        }
        Physical { board, unknown, turn: position.turn() }
    }

    /// The man of the side to move that is in the air: the only one, or the king whose rook follows.
    fn man_in_hand(&self, position: &Chess) -> Option<Piece> {
        let board = position.board();
        let missing = position.us() & !self.tracker.seen().believed(board.occupied());
        let king = (missing & board.kings()).single_square();
        missing.single_square().or(king).and_then(|square| board.piece_at(square))
    }

    /// The result, [`GameResult::Ongoing`] while the game goes on.
    pub fn result(&self) -> GameResult {
        self.narrator.result()
    }

    /// True when the game has a result or does not count.
    pub fn is_over(&self) -> bool {
        self.narrator.is_over()
    }

    /// The game as it looks best: the plies that were told, and what the best reading adds to them.
    pub fn best_line(&self) -> Vec<String> {
        self.narrator.best_line(&self.tracker)
    }

    /// Every reading of the board, the best first: what it costs in thousandths of a nat, its plies
    /// that are not common to all, and the squares on which the board contradicts it.
    pub fn readings(&self) -> Vec<(u32, Vec<shakmaty::Move>, Bitboard)> {
        let tracker = &self.tracker;
        let one = |reading: &tracker::Reading| {
            let moves = tracker.loose(reading).iter().map(|ply| ply.mv).collect();
            (tracker.weight(reading), moves, reading.differs)
        };
        let mut all: Vec<_> = tracker.readings().iter().map(one).collect();
        all.sort_by_key(|(cost, _, _)| *cost);
        all
    }

    /// Plies, counted from 1, that the session is not sure of.
    pub fn doubts(&self) -> Vec<usize> {
        let mut doubts = self.narrator.doubts(&self.tracker);
        if self.odd_turn && doubts.first() != Some(&1) {
            doubts.insert(0, 1);
        }
        doubts
    }
}
