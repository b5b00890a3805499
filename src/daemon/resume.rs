//! What a board finds at the start: a game that was going on, or none.
//!
//! A game goes on when the latest segment of the board's directory was set up in the same way, is
//! tagged as the same game and holds no end of the game, or names its round: then it stays on the board when it is over,
//! until the configuration names another one. Its inputs are run again, so that the session, the publisher and the
//! feeds stand where they stood; facts that the crash kept out of the file are recorded now. A
//! segment of another logic version, or one whose facts do not come out, is left as it is and its
//! inputs are run into a new segment. So are those of a game whose round the configuration names again after another
//! game was put on the board.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use crate::{
    game::Board,
    journal::{
        Cut, Journal, JournalError, JournalHeader, Recovered,
        read::Reader,
        record::Content,
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
        /// The games before it: outputs that stay behind may not have shown all of them.
        before: Vec<Before>,
    },
    /// A game that goes on, in a new segment.
    Again {
        /// Head of the segment before.
        prev: String,
        /// All inputs of the game.
        inputs: Vec<(MonoTime, Input)>,
        /// What the public was told.
        told: Box<Told>,
        /// The games before it.
        before: Vec<Before>,
        /// Another game was put on the board since.
        returns: bool,
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

/// A game before the one that is recorded.
#[derive(Clone, Debug)]
pub struct Before {
    /// What the public was told of it.
    pub told: Told,
    /// Nothing but its end tells it from the one that is recorded.
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
    /// The games before it, the latest last.
    pub before: Vec<Before>,
    /// What came from the source.
    pub span: Option<Span>,
    /// Plies that had been made.
    pub plies: usize,
    /// A torn last line, cut off.
    pub cut: Option<Cut>,
}

/// Segments that are looked through for games before: a daemon that was started in vain leaves empty ones.
const LOOK_BACK: usize = 32;

/// Games before the one that is recorded of which something may wait: rounds that begin within the delay of others.
const GAMES: usize = 4;

/// Nothing waits longer, in microseconds: the longest delay is a day, and the daemon may have been off for one.
const MOST_AGE_US: u64 = 2 * 86_400_000_000;

/// What is to be found in the journal of a board.
pub struct Look<'l, P> {
    /// Its directory.
    pub dir: &'l Path,
    /// Makes the publisher of a board that is new, for a game with this set-up and these tags.
    pub publisher: P,
    /// An output stays behind: more than one game may not have been shown to its end.
    pub late: bool,
    /// UTC, in microseconds since 1970.
    pub now_us: u64,
}

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

impl<P: Fn(&GameSetup, &Tags, &Board) -> Publisher> Look<'_, P> {
    /// Looks for a game of this set-up.
    pub fn for_game(&self, setup: &GameSetup, tags: &Tags) -> Result<Found, OpenError> {
        let nothing = Found::Nothing { prev: None, before: Vec::new() };
        let paths = segments(self.dir)?;
        let Some(path) = paths.first() else { return Ok(nothing) };
        let mut segment = match Segment::read(path, setup, tags, &self.publisher) {
            Err(OpenError::Journal(error @ (JournalError::Damaged(_) | JournalError::NoHeader { .. }))) => {
                tracing::error!("{error} (the daemon does that now)");
                return Ok(nothing);
            }
            segment => segment?,
        };
        let mut earlier = paths.iter().skip(1).take(LOOK_BACK);
        let prev = segment.recovered.journal.head().to_owned();
        let mut row = Row::new(Some(Game { setup, tags }), if self.late { GAMES } else { 1 }, self.now_us);
        if !segment.stays() {
            if !segment.goes_on {
                tracing::info!("{} holds another game", path.display());
            }
            segment.recovered.journal.sync()?;
            row.take(segment);
            // A segment in which nothing happened counts for nothing. Behind another game one comes back that the
            // configuration names so that it can be no other: by its round and both players.
            let is_named = tags.round.is_some() && tags.white.is_some() && tags.black.is_some();
            for path in earlier {
                let may_return = (row.is_empty() || is_named) && Segment::is_of(path, setup, tags);
                if !may_return && row.is_full() {
                    continue;
                }
                let Ok(segment) = Segment::read(path, setup, tags, &self.publisher) else { continue };
                if !(may_return && segment.stays() && segment.has_begun()) {
                    row.take(segment);
                    continue;
                }
                tracing::info!("the game in {} is named again: it goes on in a new segment", path.display());
                let (mut told, recovered) = segment.told();
                merge(&mut told.left, &row.left);
                let (inputs, told, before) = (recovered.inputs, Box::new(told), row.games());
                return Ok(Found::Again { prev, inputs, told, before, returns: true });
            }
            return Ok(Found::Nothing { prev: Some(prev), before: row.games() });
        }
        // A round is played once: its game stays on the board until the configuration names another one.
        if segment.is_over() {
            tracing::info!(
                "the game in {} is over and stays on the board; the next one needs its tags (round, players) in the \
                 configuration",
                path.display()
            );
        }
        row.left.clone_from(&segment.recovered.left_before);
        let before = row.fill(|| earlier.next(), |path| Segment::read(path, setup, tags, &self.publisher));
        let differs = match replay::check(path) {
            Err(error @ ReplayError::Differs { .. }) => Some(error),
            _ => None,
        };
        let Segment { recovered, facts, .. } = &segment;
        if recovered.header.logic != LOGIC_VERSION || differs.is_some() || facts.len() < recovered.facts {
            let why =
                differs.map_or_else(|| "written by another version".to_owned(), |error| error.to_string());
            tracing::warn!("{}: {why}; the game goes on in a new segment", path.display());
            segment.recovered.journal.sync()?;
            let (told, recovered) = segment.told();
            let (inputs, told) = (recovered.inputs, Box::new(told));
            return Ok(Found::Again { prev, inputs, told, before, returns: false });
        }
        let plies = segment.board.session().plies().len();
        let (board, publisher, facts) =
            (segment.board.clone(), segment.publisher.clone(), segment.facts.clone());
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

    /// The games of a board that the configuration does not have any more, the latest last.
    pub fn for_rest(&self) -> Vec<Told> {
        let Ok(paths) = segments(self.dir) else { return Vec::new() };
        let is_recent = |path: &&PathBuf| {
            let modified = std::fs::metadata(path).and_then(|data| data.modified());
            let age = modified
                .ok()
                .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
                .map(|at| self.now_us.saturating_sub(u64::try_from(at.as_micros()).unwrap_or(u64::MAX)));
            age.is_none_or(|age_us| age_us <= MOST_AGE_US)
        };
        let mut paths = paths.iter().take(LOOK_BACK).take_while(is_recent);
        let row = Row::new(None, GAMES, self.now_us);
        let read = |path: &Path| {
            let header = Segment::header(path).ok_or_else(|| JournalError::NoHeader {
                path: path.to_owned(),
                reason: "it cannot be read".to_owned(),
            })?;
            Segment::read(path, &header.setup, &header.tags, &self.publisher)
        };
        row.fill(|| paths.next(), read).into_iter().map(|before| before.told).collect()
    }
}

/// A game, as the configuration or a segment names it.
#[derive(Clone, Copy)]
struct Game<'g> {
    setup: &'g GameSetup,
    tags: &'g Tags,
}

/// The games before another one, as they are found one by one, the latest first.
struct Row {
    games: Vec<Before>,
    /// The headers of all later games: each is found once, also where it went on in another segment.
    known: Vec<JournalHeader>,
    /// What later segments tell of the next one that is found: it left while they were written.
    left: BTreeMap<String, Shown>,
    most: usize,
    now_us: u64,
    /// Nothing of what is still earlier can be waited for.
    ends: bool,
}

impl Row {
    /// The games before this one; `most` is how many are looked for.
    fn new(game: Option<Game<'_>>, most: usize, now_us: u64) -> Row {
        let known = game.map(|Game { setup, tags }| JournalHeader::new("", setup.clone(), tags.clone()));
        let (games, left) = (Vec::new(), BTreeMap::new());
        Row { games, known: known.into_iter().collect(), left, most, now_us, ends: false }
    }

    fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    fn is_full(&self) -> bool {
        self.games.len() >= self.most || self.ends
    }

    /// Takes a segment, unless nothing happened in it or its game is known.
    fn take(&mut self, segment: Segment) {
        if self.is_full() {
            return;
        }
        let header = &segment.recovered.header;
        let is_same =
            |known: &JournalHeader| same_setup(known, &header.setup) && same_game(&known.tags, &header.tags);
        let stays = header.tags.round.is_some() || !segment.is_over();
        let goes_on = stays && self.known.iter().any(is_same);
        if goes_on || !segment.has_begun() {
            merge(&mut self.left, &segment.recovered.left_before);
            return;
        }
        if !self.is_empty() && self.now_us.saturating_sub(segment.recovered.last_wall_us) > MOST_AGE_US {
            self.ends = true;
            return;
        }
        let left = std::mem::replace(&mut self.left, segment.recovered.left_before.clone());
        self.known.push(header.clone());
        let same = segment.goes_on;
        let (mut told, _) = segment.told();
        merge(&mut told.left, &left);
        self.games.push(Before { told, same });
    }

    /// Looks through these segments, the latest first. One that cannot be read is passed over: its outputs have what
    /// they have.
    fn fill<'p>(
        mut self,
        mut next: impl FnMut() -> Option<&'p PathBuf>,
        read: impl Fn(&Path) -> Result<Segment, OpenError>,
    ) -> Vec<Before> {
        while let Some(path) = next().filter(|_| !self.is_full()) {
            if let Ok(segment) = read(path) {
                self.take(segment);
            }
        }
        self.games()
    }

    /// The games, the latest last.
    fn games(mut self) -> Vec<Before> {
        self.games.reverse();
        self.games
    }
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

    /// The header of a segment.
    fn header(path: &Path) -> Option<JournalHeader> {
        let record = Reader::open(path).ok()?.next_record().ok()??;
        match record.content {
            Content::Header(header) => Some(*header),
            _ => None,
        }
    }

    /// True where a segment has the set-up and the tags of this game.
    fn is_of(path: &Path, setup: &GameSetup, tags: &Tags) -> bool {
        Segment::header(path)
            .is_some_and(|header| same_setup(&header, setup) && same_game(&header.tags, tags))
    }

    fn is_over(&self) -> bool {
        self.board.session().is_over()
    }

    /// True where its game is the one of the configuration: one that is over, where it names its round.
    fn stays(&self) -> bool {
        self.goes_on && (!self.is_over() || self.start.tags.round.is_some())
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
