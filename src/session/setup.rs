//! What is known about a game before its first event: the header of a sensor log, the configured
//! board of the daemon.

use serde_json::{Map, Value};
use shakmaty::{CastlingMode, Chess, Setup, fen::Fen, uci::UciMove};

use super::{
    event::Occupancy,
    settings::{OrientationSetting, Settings, full_name},
};
pub use crate::laws::settings::{Discipline, DisciplineSetting, Rules, Supervision};
use crate::laws::settings::{LawKey, LawSettings, SettingError};

/// How a board senses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoardKind {
    /// Reed switches: occupancy only; a lift is a lower bound of a touch.
    #[default]
    Reed,
    /// Pegged board: occupancy only; a lift is the touch that the Laws define (Appendix D.2.2).
    Peg,
    /// DGT board: every square tells which piece stands on it.
    Dgt,
    /// Two boards show one game.
    TwoBoard,
    /// No board.
    None,
}

impl BoardKind {
    /// True for what can be one of two boards.
    pub const fn is_one_board(self) -> bool {
        matches!(self, BoardKind::Reed | BoardKind::Peg | BoardKind::Dgt)
    }

    /// The word of the sensor log.
    pub const fn as_str(self) -> &'static str {
        match self {
            BoardKind::Reed => "reed",
            BoardKind::Peg => "peg",
            BoardKind::Dgt => "dgt",
            BoardKind::TwoBoard => "two-board",
            BoardKind::None => "none",
        }
    }

    /// Reads the word of the sensor log.
    pub fn parse(text: &str) -> Option<BoardKind> {
        [BoardKind::Reed, BoardKind::Peg, BoardKind::Dgt, BoardKind::TwoBoard, BoardKind::None]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// The kind of contact signal that an occupancy board delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Every event is a settled change.
    #[default]
    Debounced,
    /// Contact edges with their bounce; the session debounces.
    Raw,
}

impl Signal {
    /// The word of the sensor log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Signal::Debounced => "debounced",
            Signal::Raw => "raw",
        }
    }

    /// Reads the word of the sensor log.
    pub fn parse(text: &str) -> Option<Signal> {
        [Signal::Debounced, Signal::Raw].into_iter().find(|signal| signal.as_str() == text)
    }
}

/// How one of the two boards of a game is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitSetup {
    /// How it senses: reeds, pegs or a DGT board.
    pub kind: BoardKind,
    /// Settled changes or contact edges.
    pub signal: Signal,
    /// Where edges are told: a closing contact counts after this long without a change, in milliseconds.
    pub debounce_close_ms: u64,
    /// The same of an opening contact, in milliseconds.
    pub debounce_open_ms: u64,
    /// Which way it lies.
    pub orientation: OrientationSetting,
}

impl UnitSetup {
    /// A board of this kind whose changes are settled, with the settings of the game.
    pub const fn new(kind: BoardKind, settings: &Settings) -> UnitSetup {
        UnitSetup {
            kind,
            signal: Signal::Debounced,
            debounce_close_ms: settings.debounce_close_ms,
            debounce_open_ms: settings.debounce_open_ms,
            orientation: settings.orientation,
        }
    }
}

/// Everything that is fixed before the first event of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameSetup {
    /// How the board senses.
    pub board: BoardKind,
    /// Whose board each of two boards is, where one game is played on two: the first and the second. The
    /// first move shows it where it is not known.
    pub sides: Option<[shakmaty::Color; 2]>,
    /// What each of two boards is, and how it is read: the first and the second.
    pub units: [UnitSetup; 2],
    /// Standard chess or Chess960; decides how castling is written and found.
    pub castling: CastlingMode,
    /// Full FEN of the position before [`GameSetup::history`], as it was given.
    pub start_fen: String,
    /// Moves in UCI that were played before the first event.
    pub history: Vec<String>,
    /// Edition of the Laws.
    pub rules: Rules,
    /// Standard, rapid or blitz, or as the time control says.
    pub discipline: DisciplineSetting,
    /// Supervision of a rapid or blitz game.
    pub supervision: Supervision,
    /// Time control in the notation of the sensor log, empty when unknown.
    pub time_control: String,
    /// Settled changes or contact edges.
    pub signal: Signal,
    /// Squares that were really occupied at the start, where that differs from the position.
    pub start_occupied: Option<Occupancy>,
    /// Settings that differ from the defaults, by their dotted names, as given.
    pub config: Map<String, Value>,
    /// What happened before the log, as given (`given` of the header).
    pub given: Map<String, Value>,
    /// Settings of the session that follow from `config`.
    pub settings: Settings,
}

/// The initial position of chess as a full FEN.
pub const INITIAL_FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

impl Default for GameSetup {
    fn default() -> GameSetup {
        let settings = Settings::default();
        GameSetup {
            board: BoardKind::Reed,
            sides: None,
            units: [BoardKind::Reed, BoardKind::Peg].map(|kind| UnitSetup::new(kind, &settings)),
            castling: CastlingMode::Standard,
            start_fen: INITIAL_FEN.to_owned(),
            history: Vec::new(),
            rules: Rules::default(),
            discipline: DisciplineSetting::default(),
            supervision: Supervision::default(),
            time_control: String::new(),
            signal: Signal::Debounced,
            start_occupied: None,
            config: Map::new(),
            given: Map::new(),
            settings,
        }
    }
}

/// Why a game cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The start position is not a FEN.
    #[error("start_fen {fen:?} is not a FEN: {reason}")]
    Fen {
        /// What was given.
        fen: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The start position breaks the rules in a way that no game can start from.
    #[error("start_fen {fen:?} is not a legal position: {reason}")]
    Position {
        /// What was given.
        fen: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A move of the history is not legal.
    #[error("history move {number} ({uci:?}) is not legal in its position")]
    History {
        /// Number of the ply, counted from 1.
        number: usize,
        /// What was given.
        uci: String,
    },
    /// A setting is refused.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

impl GameSetup {
    /// True for Chess960.
    pub fn is_chess960(&self) -> bool {
        self.castling == CastlingMode::Chess960
    }

    /// The settings of the Laws for this game: those of its edition, discipline and supervision, and
    /// over them what `config` says.
    ///
    /// # Errors
    /// A name in `config` is unknown, a value is refused, or the discipline is `auto` and the time
    /// control cannot be read.
    pub fn law_settings(&self) -> Result<LawSettings, SettingError> {
        let mut changes = Vec::new();
        for (key, value) in &self.config {
            let name = full_name(key)?;
            if LawKey::find(name).is_some() {
                changes.push((name, value));
            }
        }
        LawSettings::resolve(self.rules, self.discipline, self.supervision, &self.time_control, &changes)
    }

    /// The men that an identity board shows at the start: those of the position on the squares of
    /// `occupied`, but for what `given.identities` says, in the numbering of the sensors; `square` is the
    /// square of the game over one of theirs.
    pub fn standing_men(
        &self,
        position: &Chess,
        occupied: Occupancy,
        square: impl Fn(shakmaty::Square) -> shakmaty::Square,
    ) -> shakmaty::Board {
        use shakmaty::Position as _;
        let mut men = position.board().clone();
        for square in men.occupied() & !occupied {
            men.discard_piece_at(square);
        }
        if let Some(Value::Object(identities)) = self.given.get("identities") {
            for (name, letter) in identities {
                let square = name.parse::<shakmaty::Square>().ok().map(&square);
                let piece =
                    letter.as_str().and_then(|text| text.chars().next()).and_then(shakmaty::Piece::from_char);
                if let (Some(square), Some(piece)) = (square, piece) {
                    men.set_piece_at(square, piece);
                }
            }
        }
        men
    }

    /// The positions before the one that the first event meets, the first one first.
    ///
    /// # Errors
    /// As those of [`GameSetup::position`].
    pub fn earlier_positions(&self) -> Result<Vec<Chess>, SetupError> {
        use shakmaty::Position as _;
        let mut position = GameSetup { history: Vec::new(), ..self.clone() }.position()?;
        let mut earlier = Vec::new();
        for (index, text) in self.history.iter().enumerate() {
            let illegal = || SetupError::History { number: index + 1, uci: text.clone() };
            let uci: UciMove = text.parse().map_err(|_| illegal())?;
            let mv = uci.to_move(&position).map_err(|_| illegal())?;
            earlier.push(position.clone());
            position.play_unchecked(mv);
        }
        Ok(earlier)
    }

    /// The position that the first event of the log meets.
    pub fn position(&self) -> Result<Chess, SetupError> {
        use shakmaty::Position as _;
        let fen: Fen = self
            .start_fen
            .parse()
            .map_err(|error| SetupError::Fen { fen: self.start_fen.clone(), reason: format!("{error}") })?;
        let mut position: Chess = fen
            .clone()
            .into_position(self.castling)
            .or_else(|error| error.ignore_too_much_material())
            .or_else(|error| error.ignore_impossible_check())
            .or_else(|error| after_an_illegal_move(fen.into_setup(), self.castling).ok_or(error))
            .map_err(|error| SetupError::Position {
                fen: self.start_fen.clone(),
                reason: format!("{error}"),
            })?;
        for (index, text) in self.history.iter().enumerate() {
            let illegal = || SetupError::History { number: index + 1, uci: text.clone() };
            let uci: UciMove = text.parse().map_err(|_| illegal())?;
            let chosen = uci.to_move(&position).map_err(|_| illegal())?;
            position.play_unchecked(chosen);
        }
        Ok(position)
    }
}

/// The position of a set-up, which an illegal move that stands may have led to.
pub(crate) fn position_anyhow(setup: Setup, mode: CastlingMode) -> Option<Chess> {
    let position: Result<Chess, _> = setup.clone().position(mode);
    position
        .or_else(|error| error.ignore_too_much_material())
        .or_else(|error| error.ignore_impossible_check())
        .ok()
        .or_else(|| after_an_illegal_move(setup, mode))
}

/// A position in which the king of the side that does not have the move can be taken: an illegal move led
/// to it, and a record may begin there. The chess library sets up legal positions only, so that side is let
/// make a last move to get there.
pub(crate) fn after_an_illegal_move(setup: Setup, mode: CastlingMode) -> Option<Chess> {
    use shakmaty::Position as _;
    let mover = !setup.turn;
    let mut men: Vec<(shakmaty::Square, shakmaty::Piece)> =
        setup.board.clone().into_iter().filter(|(_, man)| man.color == mover).collect();
    // A man whose move ends no right and starts no count is the best one.
    men.sort_by_key(|(_, man)| match man.role {
        shakmaty::Role::Queen | shakmaty::Role::Bishop | shakmaty::Role::Knight => 0,
        shakmaty::Role::Rook => 1,
        shakmaty::Role::King => 2,
        shakmaty::Role::Pawn => 3,
    });
    for (to, man) in men.into_iter().filter(|(_, man)| man.role != shakmaty::Role::Pawn) {
        for from in !setup.board.occupied() {
            let mut before = setup.clone();
            before.turn = mover;
            before.ep_square = None;
            before.halfmoves = before.halfmoves.saturating_sub(1);
            if mover == shakmaty::Color::Black {
                before.fullmoves = std::num::NonZeroU32::new(before.fullmoves.get().saturating_sub(1))
                    .unwrap_or(before.fullmoves);
            }
            before.board.discard_piece_at(to);
            before.board.set_piece_at(from, man);
            let Ok(mut position) = before.position::<Chess>(mode) else { continue };
            let role = man.role;
            // A capture is what leaves no moves to count.
            let capture = (setup.halfmoves == 0).then_some(shakmaty::Role::Pawn);
            position.play_unchecked(shakmaty::Move::Normal { role, from, capture, to, promotion: None });
            if position.castles().castling_rights() == setup.castling_rights {
                return Some(position);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn setup(header: &Value) -> Result<GameSetup, String> {
        crate::wire::sensor_log::header_from_map(header.as_object().unwrap()).map_err(|e| e.to_string())
    }

    fn laws(mut header: Value) -> LawSettings {
        header["sensor_log"] = json!(1);
        setup(&header).unwrap().law_settings().unwrap()
    }

    #[test]
    fn config_goes_over_what_the_edition_says() {
        let laws = laws(json!({"rules": "fide-2005", "config": {"illegal.loss_at": 2, "auto_75": true}}));
        assert_eq!((laws.illegal.loss_at, laws.draw.auto_75, laws.draw.auto_fivefold), (2, true, false));
        assert!(!laws.implied_by_next_move);
    }

    #[test]
    fn the_discipline_may_follow_from_the_time_control() {
        let header = json!({"rules": "fide-2005", "discipline": "auto", "time_control": "900+10"});
        assert_eq!(laws(header).discipline, Discipline::Rapid);
        let error = setup(&json!({"sensor_log": 1, "discipline": "auto"})).unwrap_err();
        assert!(error.contains("\"auto\" is found from time_control, found \"\""), "{error}");
    }

    #[test]
    fn config_may_name_the_edition_the_discipline_and_the_supervision() {
        let config = json!({"rules.profile": "ua", "discipline": "blitz", "supervision": "full",
                            "variant": "chess960", "quickplay": "on"});
        let setup = setup(&json!({"sensor_log": 1, "rules": "fide-2005", "config": config})).unwrap();
        assert_eq!((setup.rules, setup.supervision), (Rules::Ua, Supervision::Full));
        assert_eq!(setup.discipline, DisciplineSetting::Fixed(Discipline::Blitz));
        assert!(setup.is_chess960());
        assert_eq!(setup.config.keys().collect::<Vec<_>>(), ["quickplay"]);
        let header = crate::wire::sensor_log::header_to_map(&setup);
        assert_eq!(crate::wire::sensor_log::header_from_map(&header).unwrap(), setup);
    }

    #[test]
    fn a_wrong_setting_is_refused_with_its_name() {
        let refused = |config: Value| setup(&json!({"sensor_log": 1, "config": config})).unwrap_err();
        let error = refused(json!({"draw.claim_lost_on": "press"}));
        assert!(error.contains("draw.claim_lost_on"), "{error}");
        assert!(error.contains("expected \"move\" or \"touch\", found \"press\""), "{error}");
        assert!(refused(json!({"draw.claims": 1})).contains("unknown setting \"draw.claims\""));
        assert!(refused(json!({"rules.profile": "fide-2014"})).contains("fide-2014"));
    }
}
