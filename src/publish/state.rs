//! What the public knows of one board, and the events that change it.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

/// Nothing was played yet and no clock runs.
pub const STATUS_WAITING: &str = "waiting";
/// The game is on.
pub const STATUS_PLAYING: &str = "playing";
/// The clocks were stopped in the middle of the game.
pub const STATUS_PAUSED: &str = "paused";
/// What stands on the board is no position of the game, and the event shows that to spectators
/// (`feed.show_irregular`).
pub const STATUS_IRREGULAR: &str = "irregular";
/// The game has a result.
pub const STATUS_ENDED: &str = "ended";

/// A ply that has been published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicPly {
    /// The move in UCI.
    pub uci: String,
    /// The move in standard algebraic notation.
    pub san: String,
    /// True once the move was completed (Article 6.2.1).
    pub completed: bool,
    /// Time left on the mover's clock at the press, in milliseconds, where a clock told it.
    pub clock_ms: Option<u64>,
    /// How long the player thought, in milliseconds, where that is published (`clock.think_times`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
}

/// A part of the game that ended when another position was set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EarlierPart {
    /// Full FEN of the position that it began with.
    pub start_fen: String,
    /// Its moves in standard algebraic notation. The last one may be two squares, where what was played is
    /// no legal move and stands.
    pub san: Vec<String>,
    /// The times of its moves, as far as there are any. Streams do not tell them again.
    #[serde(skip)]
    pub times: Vec<PlyTimes>,
}

/// The times of a ply that was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyTimes {
    /// Time left on the mover's clock at the press, in milliseconds.
    pub clock_ms: Option<u64>,
    /// How long the player thought, in milliseconds, where that is published.
    pub elapsed_ms: Option<u64>,
}

/// What is known of a player besides the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlayerTags {
    /// Title: `GM`, `WIM`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elo: Option<u64>,
    /// Number in the list of FIDE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fide_id: Option<u64>,
    /// Federation, three letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub federation: Option<String>,
}

impl PlayerTags {
    /// True where nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == PlayerTags::default()
    }
}

/// The seven tags of a PGN and a few more, as configured for the board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tags {
    /// Name of the event.
    pub event: Option<String>,
    /// Place.
    pub site: Option<String>,
    /// Date as `YYYY.MM.DD`.
    pub date: Option<String>,
    /// Round.
    pub round: Option<String>,
    /// Number of the board in the round.
    pub board: Option<String>,
    /// Player of the white men.
    pub white: Option<String>,
    /// Player of the black men.
    pub black: Option<String>,
    /// Time control in PGN notation.
    pub time_control: Option<String>,
    /// More of the player of the white men.
    #[serde(skip_serializing_if = "PlayerTags::is_empty")]
    pub white_player: PlayerTags,
    /// More of the player of the black men.
    #[serde(skip_serializing_if = "PlayerTags::is_empty")]
    pub black_player: PlayerTags,
}

/// Everything that the public may know of one board at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardState {
    /// Identifier of the board in this daemon (`1`, `a7`).
    pub id: String,
    /// Tags of the game.
    pub tags: Tags,
    /// True for Chess960.
    pub chess960: bool,
    /// Full FEN of the position before the first ply of `plies`.
    pub start_fen: String,
    /// What was played before that position was set up in the middle of the game; empty otherwise.
    #[serde(skip_serializing_if = "no_parts", serialize_with = "as_list")]
    pub earlier: Arc<Vec<EarlierPart>>,
    /// Piece placement that stands on the board physically now (first field of a FEN): men in the
    /// air are missing.
    pub board: String,
    /// Full FEN of the position after the last published ply.
    pub fen: String,
    /// The published plies, `history` included. States that differ in something else share them: a
    /// long game is not copied for every lift.
    #[serde(serialize_with = "as_list")]
    pub plies: Arc<Vec<PublicPly>>,
    /// `white` or `black`: the side that has the move after the last published ply.
    pub turn: &'static str,
    /// The clock, where one is connected.
    pub clock: Option<PublicClock>,
    /// `1-0`, `0-1`, `1/2-1/2`, `0-0` (both players lost) or `*`.
    pub result: &'static str,
    /// How the game ended where it did not end as games do: `time forfeit`, `rules infraction`,
    /// `adjudication`, `abandoned` (nothing was played, or the game does not count).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination: Option<&'static str>,
    /// `waiting`, `playing`, `paused`, `irregular`, `ended`: what the spectator sees of the state.
    pub status: &'static str,
    /// True while the link to the board is up.
    pub connected: bool,
    /// True where a clock or a lever tells that moves are completed (Article 6.2.1). Without one an
    /// output that waits for completed moves takes the published ones instead.
    pub has_presses: bool,
    /// Serial number for the LiveChess API where one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
}

/// The clock as the public sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PublicClock {
    /// Milliseconds left for White at `at_us`.
    pub white_ms: Option<u64>,
    /// Milliseconds left for Black at `at_us`.
    pub black_ms: Option<u64>,
    /// `white`, `black` or nothing: whose clock runs.
    pub running: Option<&'static str>,
    /// Milliseconds from `at_us` on before the time of the running side begins to run down (delay); left out
    /// where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// Microseconds of the reading, on the time line of the board. The hub of the feeds replaces
    /// it by its own monotonic time, from which a viewer counts down.
    pub at_us: u64,
}

/// One thing that happened, for the public.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum FeedEvent {
    /// Men were lifted or placed: the placement that stands on the board now.
    Board {
        /// First field of a FEN. In JSON it is `placement`, because `board` names the board there.
        #[serde(rename = "placement")]
        board: String,
    },
    /// A move was published.
    Move {
        /// Number of the ply, counted from 1, `history` included.
        ply: usize,
        /// The move.
        #[serde(flatten)]
        played: PublicPly,
        /// Full FEN after the move.
        fen: String,
    },
    /// The last `n` published plies were taken back.
    Undo {
        /// How many.
        n: usize,
        /// Full FEN after it.
        fen: String,
    },
    /// A published ply was corrected; the later ones stand.
    Correct {
        /// Number of the ply.
        ply: usize,
        /// The move as it is now.
        #[serde(flatten)]
        played: PublicPly,
        /// Full FEN after the last ply.
        fen: String,
    },
    /// A published move was completed.
    Completed {
        /// Number of the ply.
        ply: usize,
        /// Time left on the mover's clock in milliseconds.
        clock_ms: Option<u64>,
        /// True when the player pressed the clock; false when the end of the game or the player's
        /// next move completed it (Articles 6.2.1.1 and 6.2.1.2).
        pressed: bool,
    },
    /// How long the player thought about a published move.
    Elapsed {
        /// Number of the ply.
        ply: usize,
        /// Milliseconds.
        elapsed_ms: u64,
    },
    /// A clock reading.
    Clock(PublicClock),
    /// The game goes on from another position: an arbiter set it up, or went back to an earlier one of
    /// another part. Plies are counted anew.
    Setup {
        /// Full FEN of the position.
        fen: String,
        /// What was played before.
        earlier: Vec<EarlierPart>,
    },
    /// The result, or `*` when it was withdrawn.
    Result {
        /// `1-0`, `0-1`, `1/2-1/2`, `0-0` or `*`.
        result: &'static str,
        /// How the game ended where it did not end as games do.
        #[serde(skip_serializing_if = "Option::is_none")]
        termination: Option<&'static str>,
    },
    /// The status or the link changed.
    Status {
        /// `waiting`, `playing`, `paused`, `ended`.
        status: &'static str,
        /// True while the link to the board is up.
        connected: bool,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(ms: &u64) -> bool {
    *ms == 0
}

impl PublicClock {
    /// The clock as it stands when it was stopped at `at_us`.
    #[must_use]
    pub fn stopped(self, at_us: u64) -> PublicClock {
        let charged = (at_us.saturating_sub(self.at_us) / 1000).saturating_sub(self.delay_ms);
        let left = |ms: Option<u64>, side: &str| {
            let runs = self.running == Some(side);
            ms.map(|ms| if runs { ms.saturating_sub(charged) } else { ms })
        };
        PublicClock {
            white_ms: left(self.white_ms, "white"),
            black_ms: left(self.black_ms, "black"),
            running: None,
            delay_ms: 0,
            at_us,
        }
    }
}

fn as_list<T: Serialize, S: Serializer>(list: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    list.serialize(serializer)
}

fn no_parts(parts: &Arc<Vec<EarlierPart>>) -> bool {
    parts.is_empty()
}

impl FeedEvent {
    /// The value of `type` in JSON, which is also the event name of a server-sent event.
    pub const fn name(&self) -> &'static str {
        match self {
            FeedEvent::Board { .. } => "board",
            FeedEvent::Move { .. } => "move",
            FeedEvent::Undo { .. } => "undo",
            FeedEvent::Correct { .. } => "correct",
            FeedEvent::Completed { .. } => "completed",
            FeedEvent::Elapsed { .. } => "elapsed",
            FeedEvent::Clock(_) => "clock",
            FeedEvent::Setup { .. } => "setup",
            FeedEvent::Result { .. } => "result",
            FeedEvent::Status { .. } => "status",
        }
    }

    /// True for what may leave before its record is on stable storage: the physical board, the
    /// clock and the link. Moves, results and the end of the game wait.
    pub fn is_immediate(&self) -> bool {
        match self {
            FeedEvent::Board { .. } | FeedEvent::Clock(_) => true,
            FeedEvent::Status { status, .. } => *status != STATUS_ENDED,
            _ => false,
        }
    }

    /// True for what changes the score of the game, and so a PGN of it.
    pub const fn changes_score(&self) -> bool {
        !matches!(self, FeedEvent::Board { .. } | FeedEvent::Clock(_) | FeedEvent::Status { .. })
    }
}

impl BoardState {
    /// Brings the state up to date with one event. An event that does not fit (an unknown ply)
    /// changes nothing.
    pub fn apply(&mut self, event: &FeedEvent) {
        match event {
            FeedEvent::Board { board } => self.board.clone_from(board),
            FeedEvent::Move { ply, played, fen } => {
                if *ply == self.plies.len() + 1 {
                    Arc::make_mut(&mut self.plies).push(played.clone());
                    self.set_fen(fen);
                }
            }
            FeedEvent::Undo { n, fen } => {
                let left = self.plies.len().saturating_sub(*n);
                Arc::make_mut(&mut self.plies).truncate(left);
                self.set_fen(fen);
            }
            FeedEvent::Correct { ply, played, fen } => {
                if let Some(known) = self.ply_mut(*ply) {
                    *known = played.clone();
                    self.set_fen(fen);
                }
            }
            FeedEvent::Completed { ply, clock_ms, pressed } => {
                if let Some(known) = self.ply_mut(*ply) {
                    known.completed = true;
                    known.clock_ms = clock_ms.or(known.clock_ms);
                }
                self.has_presses |= *pressed;
            }
            FeedEvent::Elapsed { ply, elapsed_ms } => {
                if let Some(known) = self.ply_mut(*ply) {
                    known.elapsed_ms = Some(*elapsed_ms);
                }
            }
            FeedEvent::Clock(clock) => {
                self.clock = Some(*clock);
                self.has_presses = true;
            }
            FeedEvent::Setup { fen, earlier } => {
                self.start_fen.clone_from(fen);
                self.earlier = Arc::new(earlier.clone());
                self.plies = Arc::default();
                self.set_fen(fen);
            }
            FeedEvent::Result { result, termination } => {
                self.result = result;
                self.termination = *termination;
            }
            FeedEvent::Status { status, connected } => {
                self.status = status;
                self.connected = *connected;
            }
        }
    }

    /// Only the first `plies` half-moves, after which the position is `fen`.
    pub(super) fn truncate(&mut self, plies: usize, fen: String) {
        if plies < self.plies.len() {
            Arc::make_mut(&mut self.plies).truncate(plies);
            self.set_fen(&fen);
        }
    }

    fn set_fen(&mut self, fen: &str) {
        self.fen.clear();
        self.fen.push_str(fen);
        self.turn = if fen.split(' ').nth(1) == Some("b") { "black" } else { "white" };
    }

    fn ply_mut(&mut self, ply: usize) -> Option<&mut PublicPly> {
        ply.checked_sub(1).and_then(|index| Arc::make_mut(&mut self.plies).get_mut(index))
    }
}

/// The moves that an output with the threshold `completed` shows: everything up to the last
/// completed ply. A ply before a completed one counts; the last move of a game needs no press;
/// where nothing tells presses, published moves are taken.
pub fn completed_san(state: &BoardState) -> Vec<&str> {
    state.plies.iter().take(completed_plies(state)).map(|ply| ply.san.as_str()).collect()
}

/// How many plies [`completed_san`] shows.
pub(crate) fn completed_plies(state: &BoardState) -> usize {
    if !state.has_presses || state.result != "*" {
        return state.plies.len();
    }
    state.plies.iter().rposition(|ply| ply.completed).map_or(0, |index| index + 1)
}
