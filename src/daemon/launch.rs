//! From a configured board to its running parts, in two halves: [`prepare`] looks and writes
//! nothing new, [`launch`] writes the first records and starts the writer. In between the sockets
//! are bound, so that a start that fails leaves no trace in the journals.

use std::{path::PathBuf, sync::Arc, thread::JoinHandle, time::Duration};

use super::{
    engine::Engine,
    health::BoardHealth,
    ledger::Ledger,
    lock::DataDir,
    outbox::Outbox,
    resume::{self, Before, Found, Look, OpenError, Running, Step, Told},
    run::RunError,
    segments::Segments,
    source::{self, Known, Planned, Span},
    supervisor::Open,
    writer::{self, Store as _},
};
use crate::{
    config::{BoardConfig, Config},
    desk::Records,
    feed::{
        Outputs,
        outputs::{Arrival, Story},
    },
    game::Board,
    journal::{
        Body, Entry, JournalHeader, Resume,
        record::{program, resume_offset},
    },
    publish::{Publisher, Tags, release::Past},
    sensor::{Timeline, matrix::leds::SetUp},
    session::{LOGIC_VERSION, event::Unit, fact::Fact, io::Input, setup::GameSetup, time::MonoTime},
    sysclock,
};

/// A board that is ready to start.
pub struct Prepared {
    config: BoardConfig,
    dir: PathBuf,
    header: JournalHeader,
    planned: Planned,
    found: Found,
    sync_interval: Duration,
}

/// The parts of a board whose journal is open.
pub struct Launched {
    /// For the board thread.
    pub engine: Engine,
    /// The writer thread.
    pub writer: JoinHandle<()>,
    /// For the board thread.
    pub outbox: Arc<Outbox>,
    /// Figures of the board.
    pub health: Arc<BoardHealth>,
    /// What the stamps of the source mean.
    pub timeline: Timeline,
    /// Added to every stamp, in microseconds.
    pub offset_us: u64,
    /// Opens the source, or those of two boards.
    pub opens: Vec<(Unit, Open)>,
    /// The journal that is written.
    pub path: PathBuf,
    /// The facts for the arbiter, where he has a desk.
    pub records: Option<Arc<Records>>,
}

/// Finds out what the board's source will deliver and whether a game goes on.
pub fn prepare(config: &Config, board: &BoardConfig, data: &DataDir) -> Result<Prepared, RunError> {
    let id = board.id.as_str();
    let _span = super::log::board_span(id).entered();
    let planned = source::plan(board).map_err(|source| RunError::Source { board: id.to_owned(), source })?;
    let dir = data.board(id)?;
    let mut header = JournalHeader::new(id, planned.setup.clone(), planned.tags.clone());
    header.boot = boot_id();
    header.config.clone_from(&config.digest);
    let look = Look {
        dir: &dir,
        publisher: |setup: &GameSetup, tags: &Tags, new: &Board| publisher(board, setup, tags, new),
        late: config.is_late(),
        now_us: sysclock::wall_micros(),
    };
    let found = look
        .for_game(&planned.setup, &planned.tags)
        .map_err(|source| RunError::Board { board: id.to_owned(), source })?;
    Ok(Prepared {
        config: board.clone(),
        dir,
        header,
        planned,
        found,
        sync_interval: Duration::from_millis(config.sync_interval_ms),
    })
}

fn publisher(config: &BoardConfig, setup: &GameSetup, tags: &Tags, board: &Board) -> Publisher {
    Publisher::new(config.id.as_str(), setup, tags.clone(), board.session())
        .with_serial(config.serial.clone())
}

/// Identifier of this boot; empty where the system tells none.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// What the boot that wrote a journal, or this one, adds to its clock.
fn offset_of(this_boot: &str, told: &Told) -> u64 {
    let Told { last, last_wall_us, boot, .. } = told;
    if boot.0 == this_boot {
        return boot.1;
    }
    resume_offset(*last, *last_wall_us, sysclock::monotonic(), sysclock::wall_micros())
}

/// When the steps of a game happened, in microseconds of the clock of this machine.
struct Ages {
    now: i64,
    wall_us: i64,
    offset_us: i64,
}

impl Ages {
    fn of(this_boot: &str, told: &Told) -> Ages {
        let offset_us = i64::try_from(offset_of(this_boot, told)).unwrap_or(i64::MAX);
        let (now, wall_us) = (signed(sysclock::monotonic().as_micros()), signed(sysclock::wall_micros()));
        Ages { now, wall_us, offset_us }
    }

    /// By the time of the journal.
    fn by_clock(&self, step: &Step) -> i64 {
        signed(step.at.as_micros()).saturating_sub(self.offset_us).min(self.now)
    }

    /// By its UTC.
    fn by_utc(&self, step: &Step) -> i64 {
        self.now.saturating_sub(self.wall_us.saturating_sub(signed(step.wall_us)).max(0))
    }
}

fn signed(us: u64) -> i64 {
    i64::try_from(us).unwrap_or(i64::MAX)
}

/// A game as the outputs are told of it; `times` tells when a step could have left, and when it happened.
fn story(told: Told, times: impl Fn(&Step) -> (i64, i64)) -> Story {
    let past = told.past.into_iter().map(|step| {
        let (at, known) = times(&step);
        Past { at, known, origin: step.origin, events: step.events }
    });
    Story { start: told.start, past: past.collect(), left: told.left, returns: false }
}

/// The games of boards that the configuration does not have any more, of which something may wait: their rounds are
/// shown to the end. Nobody knows whether their sensors had a time of their own, so the later time of each step counts.
pub fn rests(config: &Config, data: &DataDir) -> Vec<Story> {
    if !config.is_late() {
        return Vec::new();
    }
    let is_gone = |name: &str| !config.boards.iter().any(|board| board.id.as_str() == name);
    let boot = boot_id();
    let rest = |(name, dir): (String, PathBuf)| {
        let publisher = |setup: &GameSetup, tags: &Tags, board: &Board| {
            Publisher::new(&name, setup, tags.clone(), board.session())
        };
        Look { dir: &dir, publisher, late: true, now_us: sysclock::wall_micros() }.for_rest()
    };
    let games = data.boards().into_iter().filter(|(name, _)| is_gone(name)).flat_map(rest);
    games
        .map(|told| {
            let ages = Ages::of(&boot, &told);
            story(told, |step| {
                let at = ages.by_clock(step).max(ages.by_utc(step));
                (at, at)
            })
        })
        .collect()
}

/// Opens the journal, puts the board into the outputs and, when a game goes on, records that it does. With
/// `desk` the facts are kept for the arbiter, too. What leaves goes into the `ledger`.
pub fn launch(
    mut prepared: Prepared,
    outputs: &Outputs,
    desk: bool,
    ledger: Arc<Ledger>,
) -> Result<Launched, RunError> {
    let id = prepared.config.id.to_string();
    let _span = super::log::board_span(&id).entered();
    let found = std::mem::replace(&mut prepared.found, Found::Nothing { prev: None, before: Vec::new() });
    let opened = match found {
        Found::Nothing { prev, before } => prepared.begin(prev, before, None).inspect(|opened| {
            tracing::info!("a new game is recorded in {}", opened.segments.path().display());
        }),
        Found::Again { prev, inputs, told, before, returns } => {
            prepared.begin_again(prev, inputs, *told, before, returns)
        }
        Found::Running(running) => Ok(prepared.go_on(*running)),
    };
    let opened = opened.map_err(|source| RunError::Board { board: id.clone(), source })?;
    let health = match prepared.config.second {
        Some(_) => BoardHealth::of_two_boards(&id),
        None => BoardHealth::new(&id),
    };
    let health = Arc::new(health);
    let outbox = Arc::new(Outbox::new(&id, Box::new(outputs.clone())));
    let path = opened.segments.path().to_owned();
    outputs.set(Arrival { log: Some(ledger), ..opened.arrival });
    let (pen, writer) =
        writer::start(opened.segments, outbox.clone(), health.clone(), prepared.sync_interval)
            .map_err(|source| RunError::System { what: "a thread", source })?;
    let records = desk.then(Arc::<Records>::default);
    if let Some(records) = &records {
        records.add(&opened.told);
    }
    let mut engine =
        Engine::new(opened.board, opened.publisher, pen, outbox.clone(), health.clone(), opened.last)
            .with_records(records.clone())
            .with_set_up(opened.set_up);
    if let Some((inputs, last)) = opened.caught_up {
        engine.catch_up(inputs, last);
    }
    for (at, input) in opened.inputs {
        engine.input(at, input);
    }
    engine.show_clock(engine.last());
    for unit in Unit::ALL {
        if prepared.config.unit(unit).is_some_and(|board| source::answers(&board.sensor)) {
            engine.wait_for(unit);
        }
    }
    let opens = Unit::ALL.into_iter().filter_map(|unit| {
        let board = prepared.config.unit(unit)?;
        let known = Known { span: opened.span, dgt_squares: engine.dgt_squares(unit) };
        let setup = prepared.planned.setup.clone();
        Some((unit, source::opener(&board, setup, known, health.source(unit).shared().clone())))
    });
    let opens = opens.collect();
    Ok(Launched {
        engine,
        writer,
        outbox,
        health: health.clone(),
        timeline: prepared.planned.timeline,
        offset_us: opened.offset_us,
        opens,
        path,
        records,
    })
}

/// A board with its journal.
struct Opened {
    segments: Segments,
    board: Board,
    publisher: Publisher,
    last: MonoTime,
    /// The facts so far.
    told: Vec<Fact>,
    /// How the board comes to the outputs.
    arrival: Arrival,
    /// What happened before, for a segment that does not hold it yet, and the time up to which.
    caught_up: Option<(Vec<(MonoTime, Input)>, MonoTime)>,
    /// What has to be put in before the first reading.
    inputs: Vec<(MonoTime, Input)>,
    offset_us: u64,
    /// The part of a recording that is in the journal already.
    span: Option<Span>,
    /// Of a new game; one that goes on is set up.
    set_up: Option<SetUp>,
}

impl Prepared {
    /// A new game; `first` is the time of its first record, where that is known.
    fn begin(
        &self,
        prev: Option<String>,
        before: Vec<Before>,
        first: Option<MonoTime>,
    ) -> Result<Opened, OpenError> {
        let board = Board::new(&self.planned.setup)?;
        let publisher = publisher(&self.config, &self.planned.setup, &self.planned.tags, &board);
        let header = JournalHeader { prev, ..self.header.clone() };
        // A recording brings its own time, which may begin at zero.
        let at = first.unwrap_or_else(|| match self.planned.timeline {
            Timeline::Live => sysclock::monotonic(),
            Timeline::Scaled { .. } | Timeline::AsFastAsPossible => MonoTime::ZERO,
        });
        let segments = Segments::begin(&self.dir, header, at, sysclock::wall_micros())?;
        let arrival = self.arrival(Story::of(publisher.state().clone()), before);
        let (told, inputs) = (Vec::new(), Vec::new());
        let set_up = Some(SetUp::new(&self.planned.setup));
        Ok(Opened {
            segments,
            board,
            publisher,
            last: at,
            told,
            arrival,
            caught_up: None,
            inputs,
            offset_us: 0,
            span: None,
            set_up,
        })
    }

    /// A running game from the beginning, in a new segment.
    fn begin_again(
        &self,
        prev: String,
        inputs: Vec<(MonoTime, Input)>,
        told: Told,
        before: Vec<Before>,
        returns: bool,
    ) -> Result<Opened, OpenError> {
        let first = inputs.first().map_or(told.last, |(at, _)| *at);
        let mut opened = self.begin(Some(prev), Vec::new(), Some(first))?;
        tracing::info!("the game is recorded in {} from its beginning", opened.segments.path().display());
        let reached = inputs.last().map_or(told.last, |(at, _)| told.last.max(*at));
        let last = reached.plus_micros(1);
        (opened.span, opened.set_up) = (Span::of(&inputs), None);
        opened.offset_us = self.offset(last, last.since(sysclock::monotonic()));
        if opened.offset_us > 0 {
            let boot = self.header.boot.clone();
            let resume =
                Resume { boot, program: program(), logic: LOGIC_VERSION, offset_us: opened.offset_us };
            let entry = Entry { at: first, wall_us: sysclock::wall_micros(), body: Body::Resume(resume) };
            opened.segments.append(&entry)?;
        }
        opened.arrival = self.arrival(Story { returns, ..self.story(told) }, before);
        opened.inputs = resume::resume_inputs(last, self.now(last, opened.offset_us)).into();
        opened.caught_up = Some((inputs, reached));
        Ok(opened)
    }

    /// A running game in its own segment.
    fn go_on(&self, running: Running) -> Opened {
        let Running { mut journal, board, publisher, facts, recorded, told, before, .. } = running;
        let (last, wall_us) = (told.last, sysclock::wall_micros());
        let offset_us = self.offset(last, self.offset_of(&told));
        let arrival = self.arrival(self.story(told), before);
        let resume =
            Resume { boot: self.header.boot.clone(), program: program(), logic: LOGIC_VERSION, offset_us };
        let missing = facts.iter().skip(recorded).cloned().map(Body::Fact);
        let written = missing
            .chain([Body::Resume(resume)])
            .try_for_each(|body| journal.append(&Entry { at: last, wall_us, body }))
            .and_then(|()| journal.sync());
        match written {
            Ok(()) => tracing::info!(
                "the game in {} goes on after {} plies",
                journal.path().display(),
                running.plies
            ),
            // What was appended stays in memory; the writer tries again and flags the trouble.
            Err(error) => tracing::error!("{error}"),
        }
        if let Some(cut) = &running.cut {
            tracing::warn!("{} bytes of a record that was not complete were cut off", cut.bytes);
        }
        let last = last.plus_micros(1);
        Opened {
            segments: Segments::resume(&self.dir, journal),
            board,
            publisher,
            last,
            told: facts,
            arrival,
            caught_up: None,
            inputs: resume::resume_inputs(last, self.now(last, offset_us)).into(),
            offset_us,
            span: running.span,
            set_up: None,
        }
    }

    fn offset_of(&self, told: &Told) -> u64 {
        offset_of(&self.header.boot, told)
    }

    /// A game on its way to the outputs, behind what is left of those before.
    fn arrival(&self, game: Story, before: Vec<Before>) -> Arrival {
        let keep = before.last().is_some_and(|before| before.same);
        let before = before.into_iter().map(|before| self.story(before.told)).collect();
        Arrival { before, keep, game, log: None }
    }

    /// A game as the outputs are told of it. A recording has a time of its own: what has not left counts as new.
    fn story(&self, told: Told) -> Story {
        let ages = Ages::of(&self.header.boot, &told);
        story(told, |step| match self.planned.timeline {
            Timeline::Live => {
                let at = ages.by_clock(step);
                (at, at)
            }
            Timeline::Scaled { .. } | Timeline::AsFastAsPossible => (ages.now, ages.by_utc(step)),
        })
    }

    /// What is added to the stamps so that none comes before `last`. Recordings bring their own
    /// time and go on where they were.
    fn offset(&self, last: MonoTime, offset_us: u64) -> u64 {
        match self.planned.timeline {
            Timeline::Live => offset_us.max(last.since(sysclock::monotonic())),
            Timeline::Scaled { .. } | Timeline::AsFastAsPossible => 0,
        }
    }

    /// The time of the journal.
    fn now(&self, last: MonoTime, offset_us: u64) -> MonoTime {
        match self.planned.timeline {
            Timeline::Live => sysclock::monotonic().plus_micros(offset_us),
            Timeline::Scaled { .. } | Timeline::AsFastAsPossible => last,
        }
    }
}
