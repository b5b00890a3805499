//! The same game on a board that is turned or seen in a mirror.

use shakmaty::{Color, Square};
use touchmoved::session::{
    clock::Finding,
    event::{ClockReading, Event, GameResult, Stamped},
    fact::{Fact, FactKind},
    settings::OrientationSetting,
    setup::GameSetup,
    text::MoveText,
};

/// What is done to a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirror {
    /// The board lies turned by 180 degrees, and the session knows it. The game is the same.
    Turned,
    /// White and Black have changed places: ranks from 8 to 1, colours exchanged.
    Colours,
    /// The files from h to a; for positions in which nobody may castle.
    Files,
}

impl Mirror {
    /// The game of `setup` and `events` in this mirror.
    pub fn game(self, setup: &GameSetup, events: &[Stamped]) -> (GameSetup, Vec<Stamped>) {
        let mut mirrored = setup.clone();
        mirrored.settings.orientation = OrientationSetting::WhiteSouth;
        match self {
            Mirror::Turned => mirrored.settings.orientation = OrientationSetting::WhiteNorth,
            Mirror::Colours | Mirror::Files => mirrored.start_fen = self.fen(&setup.start_fen),
        }
        (mirrored, events.iter().map(|stamped| self.stamped(stamped)).collect())
    }

    /// Where a square of the sensor is in this mirror.
    fn square(self, square: Square) -> Square {
        match self {
            Mirror::Turned => square.rotate_180(),
            Mirror::Colours => square.flip_vertical(),
            Mirror::Files => square.flip_horizontal(),
        }
    }

    fn color(self, color: Color) -> Color {
        if self == Mirror::Colours { !color } else { color }
    }

    fn result(self, result: GameResult) -> GameResult {
        match (self, result) {
            (Mirror::Colours, GameResult::WhiteWins) => GameResult::BlackWins,
            (Mirror::Colours, GameResult::BlackWins) => GameResult::WhiteWins,
            _ => result,
        }
    }

    fn fen(self, fen: &str) -> String {
        let mut fields: Vec<String> = fen.split(' ').map(str::to_owned).collect();
        let swap = |text: &str| -> String {
            let swapped =
                |c: char| if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
            text.chars().map(swapped).collect()
        };
        let ranks: Vec<&str> = fields[0].split('/').collect();
        if self == Mirror::Colours {
            fields[0] = swap(&ranks.into_iter().rev().collect::<Vec<_>>().join("/"));
            fields[1] = if fields[1] == "w" { "b" } else { "w" }.to_owned();
            fields[2] = swap(&fields[2]);
        } else {
            assert_eq!(fields[2], "-", "a mirror of the files knows no castling");
            let turned: Vec<String> = ranks.iter().map(|rank| rank.chars().rev().collect()).collect();
            fields[0] = turned.join("/");
        }
        fields[3] = self.text(&fields[3]);
        fields.join(" ")
    }

    /// Text with every name of a square in it in the mirror.
    fn text(self, text: &str) -> String {
        let mut mirrored = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let square = rest.get(..2).and_then(|name| name.parse::<Square>().ok());
            let length = if square.is_some() { 2 } else { rest.chars().next().map_or(1, char::len_utf8) };
            let (taken, left) = rest.split_at(length);
            mirrored += &square.map_or(taken.to_owned(), |square| self.square(square).to_string());
            rest = left;
        }
        mirrored
    }

    fn stamped(self, stamped: &Stamped) -> Stamped {
        let event = match stamped.event.clone() {
            Event::Square { square, occupied } => Event::Square { square: self.square(square), occupied },
            Event::Piece { square, piece } => Event::Piece {
                square: self.square(square),
                piece: piece.map(|piece| piece.role.of(self.color(piece.color))),
            },
            Event::Occupied(occupied) => {
                Event::Occupied(occupied.into_iter().map(|square| self.square(square)).collect())
            }
            Event::Pieces(men) => {
                let mut mirrored = shakmaty::Board::empty();
                for (square, piece) in men {
                    mirrored.set_piece_at(self.square(square), piece.role.of(self.color(piece.color)));
                }
                Event::Pieces(mirrored)
            }
            Event::Press(side) => Event::Press(self.color(side)),
            Event::Run(side) => Event::Run(self.color(side)),
            Event::Flag(side) => Event::Flag(self.color(side)),
            Event::Times(reading) => Event::Times(self.times(reading)),
            Event::Result(result) => Event::Result(self.result(result)),
            other => other,
        };
        Stamped { event, ..stamped.clone() }
    }

    fn times(self, reading: ClockReading) -> ClockReading {
        let ClockReading { white_ms, black_ms, running } = reading;
        match self {
            Mirror::Colours => {
                ClockReading { white_ms: black_ms, black_ms: white_ms, running: running.map(|side| !side) }
            }
            Mirror::Turned | Mirror::Files => reading,
        }
    }

    /// What the facts of the game become in the mirror; what depends on letters of squares (standard
    /// algebraic notation, explanations) is left out, and lists are put in order.
    pub fn facts(self, facts: &[Fact]) -> Vec<Fact> {
        let seen =
            facts.iter().filter(|fact| !matches!(fact.kind, FactKind::Law(_) | FactKind::Contact { .. }));
        seen.map(|fact| Fact { kind: self.kind(fact.kind.clone()), ..fact.clone() }).collect()
    }

    fn kind(self, mut kind: FactKind) -> FactKind {
        // A turned board is the same game: its facts name the squares as they are played.
        let text = |text: &mut String| {
            if self != Mirror::Turned {
                *text = self.text(text);
            }
        };
        let square = |square: &mut Square| {
            if self != Mirror::Turned {
                *square = self.square(*square);
            }
        };
        let side = |side: &mut Color| *side = self.color(*side);
        let played = |uci: &mut MoveText| {
            let mut letters = uci.to_string();
            text(&mut letters);
            *uci = letters.as_str().into();
        };
        match &mut kind {
            FactKind::Touch { by, square: at, piece, .. } => {
                side(by);
                square(at);
                if self == Mirror::Colours {
                    *piece = if piece.is_uppercase() {
                        piece.to_ascii_lowercase()
                    } else {
                        piece.to_ascii_uppercase()
                    };
                }
            }
            FactKind::PutBack { square: at, .. } => square(at),
            FactKind::MoveMade { uci, san, by, .. } => {
                played(uci);
                *san = MoveText::default();
                side(by);
            }
            FactKind::MovePublished { uci, .. } | FactKind::MoveWithdrawn { uci, .. } => played(uci),
            FactKind::MoveCompleted { uci, by, .. } => {
                played(uci);
                side(by);
            }
            FactKind::MoveRevised { was, uci, san, .. } => {
                played(was);
                played(uci);
                *san = MoveText::default();
            }
            FactKind::IllegalMove { by, attempt, .. } => {
                side(by);
                attempt.iter_mut().for_each(text);
            }
            FactKind::Ambiguous { candidates } => {
                candidates.iter_mut().for_each(text);
                candidates.sort();
            }
            FactKind::TwoPly { candidates } => {
                candidates.iter_mut().flatten().for_each(text);
                candidates.sort();
            }
            FactKind::Advisory { side: about, squares, detail, .. } => {
                about.iter_mut().for_each(side);
                let mirrored = |mut of: Square| {
                    square(&mut of);
                    of
                };
                *squares = squares.into_iter().map(mirrored).collect();
                *detail = "".into();
            }
            FactKind::GameEnd { result, .. } => *result = self.result(*result),
            FactKind::Clock(reading) => *reading = self.times(*reading),
            FactKind::ClockFinding(
                Finding::Changed { side, .. }
                | Finding::Frozen { side, .. }
                | Finding::Pressed { by: side, .. },
            ) => *side = self.color(*side),
            FactKind::ClockFinding(Finding::Standing | Finding::Exchanged) => {}
            FactKind::PlyClock { .. }
            | FactKind::PlyTime { .. }
            | FactKind::Orientation { .. }
            | FactKind::Obligation(_)
            | FactKind::ResultWithdrawn
            | FactKind::Contact { .. }
            | FactKind::Law(_) => {}
        }
        kind
    }
}

/// The facts of the game itself, to be compared with those in a mirror; what the Laws make of them is
/// left out.
pub fn plain(facts: &[Fact]) -> Vec<Fact> {
    let seen = facts.iter().filter(|fact| !matches!(fact.kind, FactKind::Law(_) | FactKind::Contact { .. }));
    let mut facts: Vec<Fact> = seen.cloned().collect();
    for fact in &mut facts {
        match &mut fact.kind {
            FactKind::MoveMade { san, .. } | FactKind::MoveRevised { san, .. } => *san = MoveText::default(),
            FactKind::Ambiguous { candidates } => candidates.sort(),
            FactKind::TwoPly { candidates } => candidates.sort(),
            FactKind::Advisory { detail, .. } => *detail = "".into(),
            _ => {}
        }
    }
    facts
}
