//! What a board finds at the start: a game that was going on, or none.
//!
//! A game goes on when the latest segment of the board's directory was set up in the same way, is
//! tagged as the same game and holds no end of the game, or names its round: then it stays on the board when it is over,
//! until the configuration names another one. Its inputs are run again, so that the session, the publisher and the
//! feeds stand where they stood; facts that the crash kept out of the file are recorded now. A
//! segment of another logic version, or one whose facts do not come out, is left as it is and its
//! inputs are run into a new segment.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    game::Board,
    journal::{
        Cut, Journal, JournalError, JournalHeader, Recovered,
        replay::{self, ReplayError},
        segments,
    },
    publish::{
        BoardState, FeedEvent, Publisher, Tags,
        release::{Origin, Shown, begins},
    },
    session::{
        LOGIC_VERSION,
        event::Event,
        fact::Fact,
        io::Input,
        setup::{GameSetup, SetupError},
        time::MonoTime,
    },
    wire::sensor_log,
};

use super::{
    engine::{drain, fire_next},
    links::Links,
    source::Span,
};

/// Why a board cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The game cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// What was found.
pub enum Found {
    /// A game that goes on.
    Running(Box<Running>),
    /// No game that goes on; the head of the latest segment, where there is one.
    Nothing {
        /// Head of the segment before.
        prev: Option<String>,
        /// The game before it: outputs that stay behind may not have shown all of it.
        before: Option<Box<Before>>,
    },
    /// A game that goes on, in a new segment.
    Again {
        /// Head of the segment before.
        prev: String,
        /// All inputs of the game.
        inputs: Vec<(MonoTime, Input)>,
        /// What the public was told.
        told: Box<Told>,
        /// The game before it.
        before: Option<Box<Before>>,
    },
}

/// What the public was told of a game, or is to be told later.
#[derive(Clone, Debug)]
pub struct Told {
    /// The board when the game began.
    pub start: BoardState,
    /// What has happened since.
    pub past: Vec<Step>,
    /// What each output has shown of it.
    pub left: BTreeMap<String, Shown>,
    /// Time of the last record.
    pub last: MonoTime,
    /// UTC of the last record, in microseconds since 1970.
    pub last_wall_us: u64,
    /// Identifier of the boot that wrote last, and what it added to its clock, in microseconds.
    pub boot: (String, u64),
}

/// What happened at one moment of a game.
#[derive(Clone, Debug)]
pub struct Step {
    /// Time of the journal.
    pub at: MonoTime,
    /// UTC, in microseconds since 1970.
    pub wall_us: u64,
    /// What it follows from.
    pub origin: Origin,
    /// What happened.
    pub events: Vec<FeedEvent>,
}

/// The game before the one that is recorded.
#[derive(Clone, Debug)]
pub struct Before {
    /// What the public was told of it.
    pub told: Told,
    /// Nothing but its end tells it from the next one.
    pub same: bool,
}

/// A game that goes on.
pub struct Running {
    /// Its journal, ready for the next record.
    pub journal: Journal,
    /// The board as it stood.
    pub board: Board,
    /// What the public knew.
    pub publisher: Publisher,
    /// The facts that follow from its inputs.
    pub facts: Vec<Fact>,
    /// How many of them are in the file; the crash kept the others out.
    pub recorded: usize,
    /// What the public was told.
    pub told: Told,
    /// The game before it.
    pub before: Option<Box<Before>>,
    /// What came from the source.
    pub span: Option<Span>,
    /// Plies that had been made.
    pub plies: usize,
    /// A torn last line, cut off.
    pub cut: Option<Cut>,
}

/// Segments that are looked through for the game before: a daemon that was started in vain leaves empty ones.
const LOOK_BACK: usize = 8;

/// A segment with its game.
struct Segment {
    recovered: Recovered,
    board: Board,
    publisher: Publisher,
    start: BoardState,
    facts: Vec<Fact>,
    past: Vec<Step>,
    /// Its game has the set-up and the tags that are configured.
    goes_on: bool,
}

/// Looks for a game of this set-up. `publisher` makes the publisher of a board that is new, for a game with this
/// set-up and these tags.
pub fn look(
    dir: &Path,
    setup: &GameSetup,
    tags: &Tags,
    publisher: impl Fn(&GameSetup, &Tags, &Board) -> Publisher,
) -> Result<Found, OpenError> {
    let paths = segments(dir)?;
    let Some(path) = paths.first() else { return Ok(Found::Nothing { prev: None, before: None }) };
    let read = |path: &Path| Segment::read(path, setup, tags, &publisher);
    let mut segment = match read(path) {
        Err(OpenError::Journal(error @ (JournalError::Damaged(_) | JournalError::NoHeader { .. }))) => {
            tracing::error!("{error} (the daemon does that now)");
            return Ok(Found::Nothing { prev: None, before: None });
        }
        segment => segment?,
    };
    let earlier = paths.iter().skip(1).take(LOOK_BACK);
    let prev = segment.recovered.journal.head().to_owned();
    let over = segment.board.session().is_over();
    if !segment.goes_on {
        tracing::info!("{} holds another game: a new one begins", path.display());
    }
    // A round is played once: its game stays on the board until the configuration names another one.
    if !segment.goes_on || over && tags.round.is_none() {
        segment.recovered.journal.sync()?;
        let before = if segment.has_begun() {
            let same = segment.goes_on;
            Some(Box::new(Before { told: segment.told().0, same }))
        } else {
            before(&segment.recovered.left_before, earlier, read)
        };
        return Ok(Found::Nothing { prev: Some(prev), before });
    }
    if over {
        tracing::info!(
            "the game in {} is over and stays on the board; the next one needs its tags (round, players) in the \
             configuration",
            path.display()
        );
    }
    let before = before(&segment.recovered.left_before, earlier, read);
    let differs = match replay::check(path) {
        Err(error @ ReplayError::Differs { .. }) => Some(error),
        _ => None,
    };
    let Segment { recovered, facts, .. } = &segment;
    if recovered.header.logic != LOGIC_VERSION || differs.is_some() || facts.len() < recovered.facts {
        let why = differs.map_or_else(|| "written by another version".to_owned(), |error| error.to_string());
        tracing::warn!("{}: {why}; the game goes on in a new segment", path.display());
        segment.recovered.journal.sync()?;
        let (told, recovered) = segment.told();
        return Ok(Found::Again { prev, inputs: recovered.inputs, told: Box::new(told), before });
    }
    let plies = segment.board.session().plies().len();
    let (board, publisher, facts) = (segment.board.clone(), segment.publisher.clone(), segment.facts.clone());
    let (told, recovered) = segment.told();
    Ok(Found::Running(Box::new(Running {
        facts,
        recorded: recovered.facts,
        told,
        before,
        span: Span::of(&recovered.inputs),
        plies,
        cut: recovered.cut,
        journal: recovered.journal,
        board,
        publisher,
    })))
}

/// The latest game of these segments that is another one than the one that goes on. `left` is what left of it while
/// a later segment was written. One that cannot be read is passed over: its outputs have what they have.
fn before<'p>(
    left: &BTreeMap<String, Shown>,
    paths: impl Iterator<Item = &'p PathBuf>,
    read: impl Fn(&Path) -> Result<Segment, OpenError>,
) -> Option<Box<Before>> {
    let mut left = left.clone();
    for path in paths {
        let Ok(segment) = read(path) else { continue };
        let over = segment.board.session().is_over();
        let is_another = !segment.goes_on || over && segment.start.tags.round.is_none();
        if is_another && segment.has_begun() {
            let same = segment.goes_on;
            let mut told = segment.told().0;
            merge(&mut told.left, &left);
            return Some(Box::new(Before { told, same }));
        }
        merge(&mut left, &segment.recovered.left_before);
    }
    None
}

fn merge(known: &mut BTreeMap<String, Shown>, more: &BTreeMap<String, Shown>) {
    for (output, shown) in more {
        known.entry(output.clone()).and_modify(|known| known.merge(*shown)).or_insert(*shown);
    }
}

impl Segment {
    fn read(
        path: &Path,
        setup: &GameSetup,
        tags: &Tags,
        publisher: impl Fn(&GameSetup, &Tags, &Board) -> Publisher,
    ) -> Result<Segment, OpenError> {
        let recovered = Journal::recover(path)?;
        let header = &recovered.header;
        let goes_on = same_setup(header, setup) && same_game(&header.tags, tags);
        // The tags of a game that goes on may have been corrected.
        let (setup, tags) = if goes_on { (setup, tags) } else { (&header.setup, &header.tags) };
        let mut board = Board::new(setup)?;
        let mut publisher = publisher(setup, tags, &board);
        let start = publisher.state().clone();
        let (facts, past) = run_again(&recovered, &mut board, &mut publisher);
        Ok(Segment { recovered, board, publisher, start, facts, past, goes_on })
    }

    fn has_begun(&self) -> bool {
        self.past.iter().any(|step| begins(&step.events))
    }

    fn told(self) -> (Told, Recovered) {
        let Segment { recovered, start, past, .. } = self;
        let told = Told {
            start,
            past,
            left: recovered.left.clone(),
            last: recovered.last,
            last_wall_us: recovered.last_wall_us,
            boot: recovered.boot.clone(),
        };
        (told, recovered)
    }
}

/// Runs the inputs of a segment through a new board, to the time of its last record. The steps are those of the
/// engine: a deadline that fired between two inputs is one of its own, at its time.
fn run_again(recovered: &Recovered, board: &mut Board, publisher: &mut Publisher) -> (Vec<Fact>, Vec<Step>) {
    let (mut facts, mut past) = (Vec::new(), Vec::new());
    let mut links = Links::new(board.has_two_boards());
    let mut conclude = |board: &mut Board, at: MonoTime, wall_us: u64, up: Option<bool>| {
        let origin = Origin { ev: board.session().last_event(), us: at.as_micros() };
        let new = drain(board);
        let mut events = up.map(|up| publisher.link(up)).unwrap_or_default();
        events.extend(publisher.apply(&new, board.session()));
        facts.extend(new);
        if !events.is_empty() {
            past.push(Step { at, wall_us, origin, events });
        }
    };
    for ((at, input), wall_us) in recovered.inputs.iter().zip(&recovered.walls) {
        let before = MonoTime::from_micros(at.as_micros().saturating_sub(1));
        while let Some(due) = fire_next(board, before) {
            conclude(board, due, *wall_us, None);
        }
        board.input(*at, input);
        conclude(board, *at, *wall_us, links.heed(input));
    }
    while let Some(due) = fire_next(board, recovered.last) {
        conclude(board, due, recovered.last_wall_us, None);
    }
    board.advance(recovered.last);
    conclude(board, recovered.last, recovered.last_wall_us, None);
    (facts, past)
}

fn same_setup(header: &JournalHeader, setup: &GameSetup) -> bool {
    sensor_log::header_to_map(&header.setup) == sensor_log::header_to_map(setup)
}

/// Tells a correction of the tags, with which a game goes on, from another game: another event, round
/// or date, or two other players. Without it a game that ended without a signal at the board would go
/// on in the next round.
fn same_game(recorded: &Tags, configured: &Tags) -> bool {
    let players = recorded.white != configured.white && recorded.black != configured.black;
    !players
        && (&recorded.event, &recorded.round, &recorded.date)
            == (&configured.event, &configured.round, &configured.date)
}

/// What the daemon puts in when it goes on with a game: a mark, then power off and on. The mark
/// tells these inputs from those of the source.
pub fn resume_inputs(last: MonoTime, now: MonoTime) -> [(MonoTime, Input); 3] {
    let mark = Event::Device(serde_json::json!({ "daemon": "resumed" }));
    [
        (last, Input::from(mark)),
        (last, Input::from(Event::Power(false))),
        (now.max(last), Input::from(Event::Power(true))),
    ]
}

/// What a person in charge says at the desk, behind a mark that tells it from the inputs of the source.
pub fn desk_inputs(said: Event) -> [Input; 2] {
    let mark = Event::Device(serde_json::json!({ "daemon": "desk" }));
    [Input::from(mark), Input::from(said)]
}

/// Time passes at the clock that this program keeps, and nothing else is recorded.
pub fn time_mark() -> Input {
    Input::from(Event::Device(serde_json::json!({ "daemon": "clock" })))
}

/// The inputs that came from the source: all but those of [`resume_inputs`], [`desk_inputs`] and
/// [`time_mark`].
pub fn from_source(inputs: &[(MonoTime, Input)]) -> impl Iterator<Item = &(MonoTime, Input)> {
    let mut expected = 0;
    let mut said = false;
    inputs.iter().filter(move |(_, input)| match input {
        Input::Event(_, Event::Device(value)) if is_mark(value, "resumed") => {
            (expected, said) = (2, false);
            false
        }
        Input::Event(_, Event::Device(value)) if is_mark(value, "clock") => false,
        Input::Event(_, Event::Device(value)) if is_mark(value, "desk") => {
            (expected, said) = (0, true);
            false
        }
        _ if said => {
            said = false;
            false
        }
        Input::Event(_, Event::Power(on)) if expected == if *on { 1 } else { 2 } => {
            expected -= 1;
            false
        }
        _ => {
            expected = 0;
            true
        }
    })
}

fn is_mark(value: &serde_json::Value, word: &str) -> bool {
    value.get("daemon").and_then(serde_json::Value::as_str) == Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrected_name_is_the_same_game_and_another_round_is_not() {
        let tags = |round: &str, white: &str, black: &str| Tags {
            round: Some(round.to_owned()),
            white: Some(white.to_owned()),
            black: Some(black.to_owned()),
            ..Tags::default()
        };
        let recorded = tags("1", "Alpha", "Beta");
        assert!(same_game(&recorded, &recorded));
        assert!(same_game(&recorded, &tags("1", "Alfa", "Beta")));
        assert!(!same_game(&recorded, &tags("2", "Alpha", "Beta")));
        assert!(!same_game(&recorded, &tags("1", "Gamma", "Delta")));
    }

    #[test]
    fn the_inputs_of_the_source_are_told_from_those_of_the_daemon() {
        let at = MonoTime::ZERO;
        let tick = || (at, Input::from(Event::Tick));
        let power = |on| (at, Input::from(Event::Power(on)));
        let mut inputs = vec![tick(), power(false), power(true), tick()];
        assert_eq!(from_source(&inputs).count(), 4, "a recording may hold a power cut of its own");
        inputs.extend(resume_inputs(at, at));
        inputs.extend([tick(), power(true)]);
        assert_eq!(from_source(&inputs).count(), 6);
        // The daemon was killed while it was resuming.
        inputs.extend(resume_inputs(at, at).into_iter().take(2));
        inputs.extend(resume_inputs(at, at));
        inputs.push(tick());
        assert_eq!(from_source(&inputs).count(), 7);
        // A command at the desk, and one before which the daemon was killed.
        inputs.extend(desk_inputs(Event::Button("resign-white".to_owned())).map(|input| (at, input)));
        inputs.push(tick());
        assert_eq!(from_source(&inputs).count(), 8);
        inputs.extend(desk_inputs(Event::Tick).map(|input| (at, input)).into_iter().take(1));
        inputs.extend(resume_inputs(at, at));
        inputs.push(tick());
        assert_eq!(from_source(&inputs).count(), 9);
        inputs.extend([(at, time_mark()), tick(), (at, time_mark())]);
        assert_eq!(from_source(&inputs).count(), 10);
    }
}
