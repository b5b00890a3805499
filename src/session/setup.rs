//! What is known about a game before its first event: the header of a sensor log, the configured
//! board of the daemon.

use serde_json::{Map, Value};
use shakmaty::{CastlingMode, Chess, fen::Fen, uci::UciMove};

use super::{event::Occupancy, settings::Settings};

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

/// The edition of the Laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Laws of Chess, edition in force from July 2005.
    Fide2005,
    /// Laws of Chess, edition in force from January 2023.
    #[default]
    Fide2023,
    /// Edition of 2023 with the Ukrainian adjournment and quickplay rules.
    Ua,
}

impl Rules {
    /// The word of the sensor log and of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Rules::Fide2005 => "fide-2005",
            Rules::Fide2023 => "fide-2023",
            Rules::Ua => "ua",
        }
    }

    /// Reads the word of the sensor log and of the configuration.
    pub fn parse(text: &str) -> Option<Rules> {
        [Rules::Fide2005, Rules::Fide2023, Rules::Ua].into_iter().find(|rules| rules.as_str() == text)
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

/// Everything that is fixed before the first event of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameSetup {
    /// How the board senses.
    pub board: BoardKind,
    /// Standard chess or Chess960; decides how castling is written and found.
    pub castling: CastlingMode,
    /// Full FEN of the position before [`GameSetup::history`], as it was given.
    pub start_fen: String,
    /// Moves in UCI that were played before the first event.
    pub history: Vec<String>,
    /// Edition of the Laws.
    pub rules: Rules,
    /// `standard`, `rapid`, `blitz` or `auto`.
    pub discipline: String,
    /// `full` or `basic`.
    pub supervision: String,
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
        GameSetup {
            board: BoardKind::Reed,
            castling: CastlingMode::Standard,
            start_fen: INITIAL_FEN.to_owned(),
            history: Vec::new(),
            rules: Rules::default(),
            discipline: "standard".to_owned(),
            supervision: "full".to_owned(),
            time_control: String::new(),
            signal: Signal::Debounced,
            start_occupied: None,
            config: Map::new(),
            given: Map::new(),
            settings: Settings::default(),
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
}

impl GameSetup {
    /// True for Chess960.
    pub fn is_chess960(&self) -> bool {
        self.castling == CastlingMode::Chess960
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

    /// The position that the first event of the log meets.
    pub fn position(&self) -> Result<Chess, SetupError> {
        use shakmaty::Position as _;
        let fen: Fen = self
            .start_fen
            .parse()
            .map_err(|error| SetupError::Fen { fen: self.start_fen.clone(), reason: format!("{error}") })?;
        let mut position: Chess = fen
            .into_position(self.castling)
            .or_else(|error| error.ignore_too_much_material())
            .or_else(|error| error.ignore_impossible_check())
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
