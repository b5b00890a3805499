//! One board: its identity, its game and its sensor.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shakmaty::CastlingMode;

use super::{
    GameControl, TimeControl,
    emulation::BoardEmulation,
    sensor::{MatrixKind, SensorConfig},
};
use crate::{
    laws::settings::{KEYS, LawKey},
    publish::Tags,
    session::{
        clock::Rounding,
        settings::{OrientationSetting, full_name},
        setup::{BoardKind, DisciplineSetting, GameSetup, Rules, Signal, Supervision},
    },
};

/// Identifier of a board: 1 to 32 of the characters `a-z A-Z 0-9 _ -`. It is used in file names
/// and web addresses, so `games`, `pgn` and `round-` with a name, which have a meaning there, are none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoardId(String);

impl BoardId {
    /// Checks an identifier.
    pub fn new(text: &str) -> Option<BoardId> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let reserved = ["games", "pgn"].iter().any(|name| text.eq_ignore_ascii_case(name));
        ((1..=32).contains(&text.len()) && text.chars().all(fits) && !reserved && !BoardId::names_round(text))
            .then(|| BoardId(text.to_owned()))
    }

    /// True for the name that a round has in file names and web addresses, such as `round-1`.
    pub(super) fn names_round(text: &str) -> bool {
        text.to_ascii_lowercase().strip_prefix("round-").is_some_and(|name| !name.is_empty())
    }

    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for BoardId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the operator says of a board in the LiveChess API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveChessBoard {
    /// A remark.
    pub comment: Option<String>,
    /// False where the board is switched off there.
    pub active: bool,
}

impl Default for LiveChessBoard {
    fn default() -> LiveChessBoard {
        LiveChessBoard { comment: None, active: true }
    }
}

/// One configured board.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardConfig {
    /// Identifier, unique in the file.
    pub id: BoardId,
    /// Serial number under which the LiveChess API lists the board.
    pub serial: Option<String>,
    /// What the LiveChess API says of the board besides its game (`board.livechess`).
    pub livechess: LiveChessBoard,
    /// The game. For a sensor log use [`BoardConfig::setup_of_log`].
    pub setup: GameSetup,
    /// Tags of the game.
    pub tags: Tags,
    /// What is read: the only board, or the first of two.
    pub sensor: SensorConfig,
    /// The second board, where the game is played on two; whose each is, `setup.sides` tells.
    pub second: Option<SensorConfig>,
    /// The board as a DGT board for other programs.
    pub emulation: BoardEmulation,
    /// What the board's own table says of the game of a sensor log.
    pub(super) log_game: GameOptions,
}

impl BoardConfig {
    /// The game of a recorded log: what its header says, and over it what the board's own table in
    /// the configuration says.
    pub fn setup_of_log(&self, header: GameSetup) -> GameSetup {
        self.log_game.apply(header)
    }
}

/// What a configuration file says of a game; nothing where a key is not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GameOptions {
    pub(super) rules: Option<Rules>,
    pub(super) discipline: Option<DisciplineSetting>,
    pub(super) supervision: Option<Supervision>,
    pub(super) variant: Option<CastlingMode>,
    pub(super) start_fen: Option<String>,
    pub(super) time_control: ControlOptions,
    pub(super) orientation: Option<OrientationSetting>,
    pub(super) release_dwell_ms: Option<u64>,
    pub(super) extend_ms: Option<u64>,
    pub(super) await_press_ms: Option<u64>,
    pub(super) clock: ClockOptions,
    pub(super) laws: LawChanges,
}

/// What a file says of the time: one control, and one of a side alone that goes over it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ControlOptions {
    pub(super) both: Option<TimeControl>,
    pub(super) white: Option<TimeControl>,
    pub(super) black: Option<TimeControl>,
}

impl ControlOptions {
    /// True where a side alone has a control and the other one has none.
    pub(super) fn lacks_a_side(&self) -> bool {
        self.game().is_none() && (self.white.is_some() || self.black.is_some())
    }

    /// A control of both that is given here replaces those of the sides elsewhere, too.
    fn or(self, other: &ControlOptions) -> ControlOptions {
        if self.both.is_some() {
            return self;
        }
        ControlOptions {
            both: other.both.clone(),
            white: self.white.or_else(|| other.white.clone()),
            black: self.black.or_else(|| other.black.clone()),
        }
    }

    /// The control of the game, where every side has one.
    pub(super) fn game(&self) -> Option<GameControl> {
        let white = self.white.as_ref().or(self.both.as_ref())?;
        let black = self.black.as_ref().or(self.both.as_ref())?;
        Some(GameControl::new(white.clone(), black.clone()))
    }
}

/// Settings of the Laws that a file names, by their dotted names.
pub(super) type LawChanges = BTreeMap<&'static str, Value>;

impl GameOptions {
    /// These options, and those of `other` where these say nothing.
    pub(super) fn or(self, other: &GameOptions) -> GameOptions {
        GameOptions {
            rules: self.rules.or(other.rules),
            discipline: self.discipline.or(other.discipline),
            supervision: self.supervision.or(other.supervision),
            variant: self.variant.or(other.variant),
            start_fen: self.start_fen.or_else(|| other.start_fen.clone()),
            time_control: self.time_control.or(&other.time_control),
            orientation: self.orientation.or(other.orientation),
            release_dwell_ms: self.release_dwell_ms.or(other.release_dwell_ms),
            clock: self.clock.or(other.clock),
            extend_ms: self.extend_ms.or(other.extend_ms),
            await_press_ms: self.await_press_ms.or(other.await_press_ms),
            laws: other.laws.clone().into_iter().chain(self.laws).collect(),
        }
    }

    /// `base` with these options over it. Settings are written into the set-up's `config`, too.
    pub(super) fn apply(&self, base: GameSetup) -> GameSetup {
        let mut setup = base;
        if let Some(rules) = self.rules {
            setup.rules = rules;
        }
        if let Some(discipline) = self.discipline {
            setup.discipline = discipline;
        }
        if let Some(supervision) = self.supervision {
            setup.supervision = supervision;
        }
        if let Some(castling) = self.variant {
            setup.castling = castling;
        }
        if let Some(fen) = &self.start_fen {
            setup.start_fen.clone_from(fen);
        }
        if let Some(control) = self.time_control.game() {
            setup.time_control = control.to_string();
        }
        if let Some(orientation) = self.orientation {
            setup.settings.orientation = orientation;
            record(&mut setup, "board.orientation", json!(orientation.as_str()));
        }
        if let Some(ms) = self.release_dwell_ms {
            setup.settings.release_dwell_ms = ms;
            record(&mut setup, "touch.release_dwell_ms", json!(ms));
        }
        if let Some(ms) = self.await_press_ms {
            setup.settings.await_press_ms = ms;
            record(&mut setup, "publish.await_press_ms", json!(ms));
        }
        if let Some(ms) = self.extend_ms {
            setup.settings.extend_ms = ms;
            record(&mut setup, "publish.extend_ms", json!(ms));
        }
        self.clock.apply(&mut setup);
        for (name, value) in &self.laws {
            record_law(&mut setup, name, value);
        }
        setup
    }
}

/// What is said of an external clock and of the way of its readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClockOptions {
    pub lag_ms: Option<u64>,
    pub rate_ppm: Option<u64>,
    /// The rounding; `Some(None)`: to be found out.
    pub rounding: Option<Option<Rounding>>,
}

impl ClockOptions {
    /// These options, and those of `other` where these say nothing.
    fn or(self, other: ClockOptions) -> ClockOptions {
        ClockOptions {
            lag_ms: self.lag_ms.or(other.lag_ms),
            rate_ppm: self.rate_ppm.or(other.rate_ppm),
            rounding: self.rounding.or(other.rounding),
        }
    }

    fn apply(self, setup: &mut GameSetup) {
        let number = |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok());
        if let Some(ms) = number(self.lag_ms) {
            setup.settings.clock.lag_ms = ms;
        }
        if let Some(ppm) = number(self.rate_ppm) {
            setup.settings.clock.rate_ppm = ppm;
        }
        if let Some(rounding) = self.rounding {
            setup.settings.clock.rounding = rounding;
        }
        if self != ClockOptions::default() {
            record_clock(setup);
        }
    }
}

/// States the assumptions about the clock in the set-up's `config`.
fn record_clock(setup: &mut GameSetup) {
    let clock = setup.settings.clock;
    record(setup, "clock.reading_lag_ms", json!(clock.lag_ms));
    record(setup, "clock.rate_ppm", json!(clock.rate_ppm));
    record(setup, "clock.rounding", json!(clock.rounding.map_or("auto", Rounding::as_str)));
}

/// The orientations with their words in the configuration and in a sensor log.
pub(super) const ORIENTATIONS: [(&str, OrientationSetting); 3] = [
    (OrientationSetting::Auto.as_str(), OrientationSetting::Auto),
    (OrientationSetting::WhiteSouth.as_str(), OrientationSetting::WhiteSouth),
    (OrientationSetting::WhiteNorth.as_str(), OrientationSetting::WhiteNorth),
];

pub(super) fn record(setup: &mut GameSetup, name: &str, value: Value) {
    setup.config.insert(name.to_owned(), value);
}

/// Writes a setting of the Laws into the set-up's `config`. What the edition says anyway needs no
/// entry.
fn record_law(setup: &mut GameSetup, name: &'static str, value: &Value) {
    let Some(key) = LawKey::find(name) else { return };
    // An entry of a sensor log may have the short name.
    setup.config.retain(|given, _| full_name(given) != Ok(name));
    let said = setup.law_settings().is_ok_and(|laws| key.value(&laws) == *value);
    if !said || !key.follows_edition() {
        record(setup, name, value.clone());
    }
}

/// The set-up of a board with this sensor before its options. Its `config` states every setting
/// that the edition of the Laws does not settle, so that a journal can be run again by a version with
/// other defaults.
pub(super) fn base_setup(sensor: &SensorConfig, debounce: Option<(u64, u64)>) -> GameSetup {
    let (board, signal) = match sensor {
        SensorConfig::Dgt { .. } => (BoardKind::Dgt, Signal::Debounced),
        // The firmware of the board debounces.
        SensorConfig::Peg { .. } => (BoardKind::Peg, Signal::Debounced),
        SensorConfig::Matrix(matrix) => match matrix.kind {
            MatrixKind::Peg => (BoardKind::Peg, Signal::Raw),
            MatrixKind::Reed => (BoardKind::Reed, Signal::Raw),
        },
        SensorConfig::Simulated { .. } | SensorConfig::SensorLog { .. } => {
            (BoardKind::Reed, Signal::Debounced)
        }
    };
    let mut setup = GameSetup { board, signal, ..GameSetup::default() };
    let settings = setup.settings;
    if let Some((close_ms, open_ms)) = debounce {
        setup.settings.debounce_close_ms = close_ms;
        setup.settings.debounce_open_ms = open_ms;
        record(&mut setup, "sensor.debounce_close_ms", json!(close_ms));
        record(&mut setup, "sensor.debounce_open_ms", json!(open_ms));
    }
    record(&mut setup, "touch.release_dwell_ms", json!(settings.release_dwell_ms));
    record(&mut setup, "publish.extend_ms", json!(settings.extend_ms));
    record(&mut setup, "publish.await_press_ms", json!(settings.await_press_ms));
    record(&mut setup, "board.orientation", json!(settings.orientation.as_str()));
    record_clock(&mut setup);
    if let Ok(laws) = setup.law_settings() {
        for key in KEYS.iter().filter(|key| !key.follows_edition()) {
            let value = key.value(&laws);
            if !value.is_null() {
                record(&mut setup, key.name, value);
            }
        }
    }
    setup
}
