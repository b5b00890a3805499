//! Running a recorded game again and printing what came of it: the emit forms of `replay`.
//!
//! Pure: inputs in, lines out.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    feed::pgn::{AfterSetUp, pgn_of},
    game::Board,
    journal::{
        record::RecordedFact,
        replay::{Difference, FactCheck},
    },
    laws::time_control::GameControl,
    publish::{Publisher, Tags},
    session::{
        Session,
        fact::{Fact, FactKind},
        io::Input,
        setup::{GameSetup, SetupError},
        time::MonoTime,
        view::View,
    },
};

/// What `replay` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Emit {
    /// Moves as they become publishable, then the final list
    #[default]
    Moves,
    /// The state after every event
    States,
    /// Every fact
    Facts,
    /// The game as PGN
    Pgn,
    /// The final moves in UCI on one line
    Uci,
}

/// When `--emit moves` prints a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Threshold {
    /// When it is published: made, and sure
    #[default]
    Made,
    /// When it is completed
    Completed,
}

/// Runs one board and writes its lines.
#[derive(Debug)]
pub struct Replay {
    board: Board,
    emit: Emit,
    log: Option<String>,
    described: i64,
    threshold: Threshold,
    /// How many plies were printed, at the threshold `completed`.
    printed: usize,
    publisher: Option<Publisher>,
    check: Option<FactCheck>,
    out: String,
}

impl Replay {
    /// A replay that names its log in every line when `log` is given (several files). The PGN of a log without
    /// tags names the time control of its header.
    pub fn new(setup: &GameSetup, emit: Emit, log: Option<String>) -> Result<Replay, SetupError> {
        let board = Board::new(setup)?;
        let publisher = (emit == Emit::Pgn)
            .then(|| Publisher::new("1", setup, tags_of(setup), board.session()).with_presses(true));
        Ok(Replay {
            board,
            emit,
            log,
            described: -1,
            threshold: Threshold::Made,
            printed: 0,
            publisher,
            check: None,
            out: String::new(),
        })
    }

    /// Prints moves at another threshold.
    #[must_use]
    pub fn at(mut self, threshold: Threshold) -> Replay {
        self.threshold = threshold;
        self
    }

    /// Compares what comes out with the facts that a journal holds, and shows its tags in the PGN.
    #[must_use]
    pub fn of_journal(mut self, id: &str, setup: &GameSetup, tags: &Tags) -> Replay {
        self.check = Some(FactCheck::new());
        if self.publisher.is_some() {
            self.publisher =
                Some(Publisher::new(id, setup, tags.clone(), self.board.session()).with_presses(true));
        }
        self
    }

    /// Takes a fact that the journal holds.
    pub fn recorded(&mut self, fact: RecordedFact) -> Result<(), Box<Difference>> {
        match &mut self.check {
            Some(check) => check.recorded(fact),
            None => Ok(()),
        }
    }

    /// Takes one input. The deadlines before it fire first, and the moment before it is described.
    pub fn input(&mut self, at: MonoTime, input: &Input) -> Result<(), Box<Difference>> {
        if self.emit == Emit::States {
            self.board.advance(at);
            self.describe();
        }
        self.board.input(at, input);
        self.drain()
    }

    /// The log is at its end: every deadline fires.
    pub fn finish(&mut self) -> Result<(), Box<Difference>> {
        self.board.finish(self.check.as_ref().map_or(MonoTime::ZERO, FactCheck::recorded_to));
        self.drain()?;
        if let Some(check) = self.check.take() {
            check.finish()?;
        }
        if self.emit == Emit::States {
            self.describe();
        }
        let session = self.board.session();
        // A sealed move that was made on the board is nobody's before the envelope is opened.
        let shown = self.board.shown_plies().unwrap_or(usize::MAX);
        let mut line = session.best_line();
        line.truncate(shown);
        match self.emit {
            Emit::Moves => {
                let mut doubts = session.doubts();
                doubts.retain(|ply| *ply <= shown);
                let line = json!({
                    "final": line,
                    "result": self.board.shown_result().as_str(),
                    "certain": doubts.is_empty(),
                    "doubts": doubts,
                });
                self.line(line);
            }
            Emit::Uci => {
                let _ = writeln!(self.out, "{}", line.join(" "));
            }
            Emit::Pgn => {
                if let Some(publisher) = &self.publisher {
                    self.out.push_str(&pgn_of(publisher.state(), AfterSetUp::GoOn));
                }
            }
            Emit::States | Emit::Facts => {}
        }
        Ok(())
    }

    /// The board after the replay.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Takes the lines that are ready.
    pub fn take_output(&mut self) -> String {
        std::mem::take(&mut self.out)
    }

    /// How many bytes are ready.
    pub fn pending(&self) -> usize {
        self.out.len()
    }

    fn drain(&mut self) -> Result<(), Box<Difference>> {
        while let Some(fact) = self.board.poll_fact() {
            if let Some(check) = &mut self.check {
                check.computed(&fact)?;
            }
            if let Some(publisher) = &mut self.publisher {
                publisher.apply(std::slice::from_ref(&fact), self.board.session());
            }
            match self.emit {
                Emit::Facts => self.line(fact.to_value()),
                Emit::Moves if self.threshold == Threshold::Completed => self.completed_lines(&fact),
                Emit::Moves => self.move_line(&fact),
                Emit::States | Emit::Pgn | Emit::Uci => {}
            }
        }
        Ok(())
    }

    /// A completed move, and the ones before it; they are never taken back.
    fn completed_lines(&mut self, fact: &Fact) {
        let (ev, us) = (fact.ev, fact.at.as_micros());
        match &fact.kind {
            FactKind::MoveCompleted { ply, .. } => {
                let ply = &self.board.shown_plies().map_or(*ply, |shown| shown.min(*ply));
                let session = self.board.session();
                let new: Vec<Value> = session
                    .plies()
                    .take(*ply)
                    .skip(self.printed)
                    .map(|ply| json!({"ev": ev, "move": ply.uci, "us": us, "made_us": ply.made.as_micros()}))
                    .collect();
                self.printed = self.printed.max(*ply);
                new.into_iter().for_each(|line| self.line(line));
            }
            FactKind::MoveRevised { ply, was, uci, .. } if *ply <= self.printed => {
                self.line(json!({"ev": ev, "correct": ply, "was": was, "now": uci, "us": us}));
            }
            _ => {}
        }
    }

    fn move_line(&mut self, fact: &Fact) {
        let (ev, us) = (fact.ev, fact.at.as_micros());
        match &fact.kind {
            FactKind::MovePublished { uci, made, .. } => {
                // The common line, written without a detour.
                self.out.push_str(if ev < 0 { "{\"ev\":-" } else { "{\"ev\":" });
                push_number(&mut self.out, ev.unsigned_abs());
                self.out.push_str(",\"move\":\"");
                self.out.push_str(uci);
                self.out.push_str("\",\"us\":");
                push_number(&mut self.out, us);
                self.out.push_str(",\"made_us\":");
                push_number(&mut self.out, made.as_micros());
                if let Some(log) = &self.log {
                    let _ = write!(self.out, ",\"log\":{}", json!(log));
                }
                self.out.push_str("}\n");
            }
            FactKind::MoveWithdrawn { published: true, .. } => {
                self.line(json!({"ev": ev, "undo": 1, "us": us}))
            }
            FactKind::MoveRevised { ply, was, uci, published: true, .. } => {
                self.line(json!({"ev": ev, "correct": ply, "was": was, "now": uci, "us": us}));
            }
            _ => {}
        }
    }

    /// Writes the states of the events that were not described yet (bytes decode to several).
    fn describe(&mut self) {
        let last = self.board.session().last_event();
        if last <= self.described {
            return;
        }
        self.described = last;
        let session = self.board.session();
        let line = state_line(last, session, &session.view());
        self.line(line);
    }

    fn line(&mut self, mut value: Value) {
        if let (Some(log), Value::Object(map)) = (&self.log, &mut value) {
            map.insert("log".to_owned(), json!(log));
        }
        let _ = writeln!(self.out, "{value}");
    }
}

/// What a header says that a tag can hold.
fn tags_of(setup: &GameSetup) -> Tags {
    let control = setup.time_control.parse::<GameControl>().ok();
    Tags { time_control: control.and_then(|control| control.pgn()), ..Tags::default() }
}

/// Writes a number without the formatter.
fn push_number(out: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    for place in digits.iter_mut().rev() {
        *place += u8::try_from(number % 10).unwrap_or(0);
        first -= 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(digits.get(first..).unwrap_or(&[])).unwrap_or(""));
}

fn moves(session: &Session, count: usize) -> Vec<String> {
    session.plies().take(count).map(|ply| ply.uci.into()).collect()
}

fn state_line(ev: i64, session: &Session, view: &View) -> Value {
    let mut map = serde_json::Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    let names =
        |squares: &[shakmaty::Square]| json!(squares.iter().map(|s| s.to_string()).collect::<Vec<_>>());
    put("ev", json!(ev));
    put("state", json!(view.state.as_str()));
    put("moves", json!(moves(session, view.plies)));
    if let Some(candidate) = &view.candidate {
        put("candidate", json!(candidate));
    }
    if !view.candidates.is_empty() {
        // Two plies at once are a pair.
        let candidate = |text: &String| match text.split_once(' ') {
            Some((first, second)) => json!([first, second]),
            None => json!(text),
        };
        put("candidates", view.candidates.iter().map(candidate).collect());
    }
    for (key, squares) in [
        ("must_move", &view.must_move),
        ("must_capture", &view.must_capture),
        ("in_hand", &view.in_hand),
        ("squares", &view.squares),
    ] {
        if !squares.is_empty() {
            put(key, names(squares));
        }
    }
    if !view.flags.is_empty() {
        put("flags", json!(view.flags));
    }
    if let Some(attempt) = &view.attempt {
        put("attempt", json!(attempt));
    }
    if let Some(alert) = &view.alert {
        put("alert", json!(alert));
    }
    if let Some(result) = view.result {
        put("result", json!(result.as_str()));
    }
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pgn_under(time_control: &str) -> String {
        let setup = GameSetup { time_control: time_control.to_owned(), ..GameSetup::default() };
        let mut replay = Replay::new(&setup, Emit::Pgn, None).unwrap();
        replay.finish().unwrap();
        replay.take_output()
    }

    #[test]
    fn the_pgn_of_a_log_names_the_time_control_of_its_header() {
        for control in ["5400+30", "40/7200:1800"] {
            let pgn = pgn_under(control);
            assert!(pgn.contains(&format!("[TimeControl \"{control}\"]\n")), "{pgn}");
        }
        assert!(pgn_under("90min/40 + 30min + 30s").contains("[TimeControl \"40/5400+30:1800+30\"]\n"));
        // None, one that the tag cannot hold, one for each side, and no time control at all.
        for control in ["", "5400d30", "300+3|180+2", "soon"] {
            assert!(!pgn_under(control).contains("TimeControl"), "{control}");
        }
    }
}
