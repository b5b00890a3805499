//! The games that the demonstration plays: three that have been in every book for over a century
//! and a half, and two of our own that contain the rare kinds of moves.

use super::Game;
use crate::session::{
    event::GameResult,
    setup::{GameSetup, INITIAL_FEN},
};

/// A game that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemoGame {
    /// The word by which it is chosen.
    pub name: &'static str,
    /// The tag pair `Event`.
    pub event: &'static str,
    /// The tag pair `Site`.
    pub site: &'static str,
    /// The tag pair `Date`.
    pub date: &'static str,
    /// Full FEN of the start position.
    pub start_fen: &'static str,
    /// True for Chess960.
    pub chess960: bool,
    /// The moves in standard algebraic notation, separated by white space.
    pub moves: &'static str,
    /// The result.
    pub result: GameResult,
}

/// All of them.
pub const GAMES: &[DemoGame] = &[
    DemoGame {
        name: "opera",
        event: "Game at the opera",
        site: "Paris",
        date: "1858.??.??",
        start_fen: INITIAL_FEN,
        chess960: false,
        moves: "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 \
                Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#",
        result: GameResult::WhiteWins,
    },
    DemoGame {
        name: "immortal",
        event: "Immortal game",
        site: "London",
        date: "1851.06.21",
        start_fen: INITIAL_FEN,
        chess960: false,
        moves: "e4 e5 f4 exf4 Bc4 Qh4+ Kf1 b5 Bxb5 Nf6 Nf3 Qh6 d3 Nh5 Nh4 Qg5 Nf5 c6 g4 Nf6 Rg1 \
                cxb5 h4 Qg6 h5 Qg5 Qf3 Ng8 Bxf4 Qf6 Nc3 Bc5 Nd5 Qxb2 Bd6 Bxg1 e5 Qxa1+ Ke2 Na6 \
                Nxg7+ Kd8 Qf6+ Nxf6 Be7#",
        result: GameResult::WhiteWins,
    },
    DemoGame {
        name: "evergreen",
        event: "Evergreen game",
        site: "Berlin",
        date: "1852.??.??",
        start_fen: INITIAL_FEN,
        chess960: false,
        moves: "e4 e5 Nf3 Nc6 Bc4 Bc5 b4 Bxb4 c3 Ba5 d4 exd4 O-O d3 Qb3 Qf6 e5 Qg6 Re1 Nge7 Ba3 \
                b5 Qxb5 Rb8 Qa4 Bb6 Nbd2 Bb7 Ne4 Qf5 Bxd3 Qh5 Nf6+ gxf6 exf6 Rg8 Rad1 Qxf3 Rxe7+ \
                Nxe7 Qxd7+ Kxd7 Bf5+ Ke8 Bd7+ Kf8 Bxe7#",
        result: GameResult::WhiteWins,
    },
    DemoGame {
        name: "rarities",
        event: "Rare moves",
        site: "?",
        date: "????.??.??",
        start_fen: INITIAL_FEN,
        chess960: false,
        moves: "e4 Nf6 e5 d5 exd6 cxd6 Nf3 Nc6 Be2 Bg4 O-O Qa5 d3 O-O-O h3 Bxf3 Bxf3 g5 Bxc6 bxc6 \
                Nc3 g4 hxg4 h5 gxh5 Rg8 h6 Rg6 h7 Rg7 h8=N Rg8 Nxf7 Rd7 Ng5 Rxg5 Bxg5 Qxg5 Qf3 \
                d5 b4 d4 Ne2 e5 c4 dxc3 Nxc3 e4 dxe4 Rd2 Rad1 Rxd1 Rxd1 Qc1 Qh3+ Nd7 Rxc1 \
                Bxb4 Qh8+ Kb7 Rb1 a5 a3 Kc7 axb4 axb4 Rxb4 c5 Qd8+ Kc6 Rb6+ Nxb6 Qa8+",
        result: GameResult::WhiteWins,
    },
    DemoGame {
        name: "chess960",
        event: "Chess960",
        site: "?",
        date: "????.??.??",
        start_fen: "nrkbbrqn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBRQN w KQkq - 0 1",
        chess960: true,
        moves: "e4 e5 Ng3 Ng6 f3 f6 Nb3 Nb6 d3 d6 Bf2 Bf7 Be2 Be7 O-O-O Qh8 Kb1 O-O h4 d5 h5 Nf4 \
                Bxb6 axb6 exd5 Bxd5 Nf5 Bc5 Nxc5 bxc5 Qe3 Rfd8 g3 Nxe2 Qxe2",
        result: GameResult::Draw,
    },
];

impl DemoGame {
    /// The game of that name.
    pub fn find(name: &str) -> Option<&'static DemoGame> {
        GAMES.iter().find(|game| game.name == name)
    }

    /// The game for the simulator, with `setup` for everything but position and variant.
    pub fn game(&self, setup: GameSetup) -> Game {
        let castling =
            if self.chess960 { shakmaty::CastlingMode::Chess960 } else { shakmaty::CastlingMode::Standard };
        Game {
            setup: GameSetup {
                castling,
                start_fen: self.start_fen.to_owned(),
                history: Vec::new(),
                start_occupied: None,
                ..setup
            },
            moves: self.moves.split_whitespace().map(str::to_owned).collect(),
            think_ms: Vec::new(),
            result: self.result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{
        Move, Position as _, Role,
        san::{San, SanPlus},
    };
    use std::collections::BTreeSet;

    fn play(game: &DemoGame) -> Vec<Move> {
        let mut position = game.game(GameSetup::default()).setup.position().unwrap();
        let mut moves = Vec::new();
        for (index, text) in game.moves.split_whitespace().enumerate() {
            let san: San = text.parse().unwrap();
            let chosen = san
                .to_move(&position)
                .unwrap_or_else(|error| panic!("{}, ply {}: {text}: {error}", game.name, index + 1));
            let mut copy = position.clone();
            assert_eq!(
                SanPlus::from_move_and_play_unchecked(&mut copy, chosen).to_string(),
                text,
                "{}, ply {}",
                game.name,
                index + 1
            );
            position = copy;
            moves.push(chosen);
        }
        let mated = position.is_checkmate();
        assert_eq!(mated, game.moves.ends_with('#'), "{}", game.name);
        assert!(!mated || game.result == GameResult::win(!position.turn()), "{}", game.name);
        moves
    }

    #[test]
    fn every_game_is_legal_and_written_as_it_should_be() {
        for game in GAMES {
            assert!(play(game).len() >= 30, "{}", game.name);
        }
    }

    #[test]
    fn the_rare_kinds_of_moves_are_there() {
        let moves = play(DemoGame::find("rarities").unwrap());
        let castlings = moves.iter().filter(|m| m.is_castle()).count();
        assert_eq!(castlings, 2);
        assert_eq!(moves.iter().filter(|m| m.is_en_passant()).count(), 2);
        assert!(moves.iter().any(|m| m.promotion() == Some(Role::Knight)));
        assert_eq!(play(DemoGame::find("chess960").unwrap()).iter().filter(|m| m.is_castle()).count(), 2);
    }

    #[test]
    fn the_names_differ() {
        let names: BTreeSet<&str> = GAMES.iter().map(|game| game.name).collect();
        assert_eq!(names.len(), GAMES.len());
        assert!(DemoGame::find("none").is_none());
    }
}
