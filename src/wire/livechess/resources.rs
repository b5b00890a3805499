//! The resources of LiveChess that tell of tournaments: those of its local API, and the files of its Cloud. Pure.
//!
//! The key sets are exactly the documented ones, in the documented order.

use serde::Serialize;

use super::Clock;

/// A tournament in the list of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TournamentSummary {
    /// Its identifier.
    pub uuid: String,
    /// Its name.
    pub description: String,
    /// How many rounds it has.
    pub rounds: usize,
}

/// A tournament.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TournamentDetail {
    /// Its identifier.
    pub uuid: String,
    /// Its name.
    pub name: String,
    /// Its name.
    pub description: String,
    /// The place.
    pub location: Option<String>,
    /// The country, three letters.
    pub country: Option<String>,
    /// How many rounds it has.
    pub rounds: usize,
    /// The serial numbers of its boards: the first one is that of table 1.
    pub eboards: Vec<String>,
}

/// A player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Player<I> {
    /// Given name.
    pub fname: Option<String>,
    /// Middle name.
    pub mname: Option<String>,
    /// Family name.
    pub lname: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Federation, three letters.
    pub federation: Option<String>,
    /// Gender.
    pub gender: Option<String>,
    /// Number in the list of FIDE: a text in the local API, a number in the Cloud.
    pub fideid: Option<I>,
}

/// A round of the local API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// Its number, from 1.
    pub nr: usize,
    /// The day, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Its games.
    pub pairings: Vec<Pairing>,
}

/// A game in a round of the local API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pairing {
    /// The number of its table.
    pub nr: usize,
    /// The identifier of the game.
    pub uuid: String,
    /// Player of the white men.
    pub white: Player<String>,
    /// Player of the black men.
    pub black: Player<String>,
    /// True while the game is on.
    pub live: bool,
    /// `WHITEWIN`, `BLACKWIN`, `DRAW`, `WHITEFORFAIT`, `BLACKFORFAIT`: won by White, by Black, a draw, and won by
    /// White or by Black without a game.
    pub result: Option<&'static str>,
}

/// A game of the local API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Game {
    /// Number of the start array.
    pub chess960: Option<u16>,
    /// As in [`Pairing`].
    pub result: Option<&'static str>,
    /// What the list of moves cannot say.
    pub comment: Option<String>,
    /// The clock.
    pub clock: Option<Clock>,
    /// The moves with their times.
    pub moves: Vec<String>,
}

/// A device that boards hang on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// What kind of device it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The device.
    pub device: String,
    /// A name that a person gave it.
    pub name: Option<String>,
    /// True while it answers.
    pub present: bool,
    /// False where the operator switched it off.
    pub active: bool,
    /// What is to be said of it.
    pub status: Option<String>,
}

/// `tournament.json` of the Cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloudTournament {
    /// Its name.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The place.
    pub location: Option<String>,
    /// The country, three letters.
    pub country: Option<String>,
    /// Its page.
    pub website: Option<String>,
    /// `STANDARD`.
    pub rules: &'static str,
    /// `STANDARD`, or `ANY` where games begin with other arrays.
    pub chess960: &'static str,
    /// The time control, as a person reads it.
    pub timecontrol: Option<String>,
    /// Its rounds, from the first one.
    pub rounds: Vec<CloudRounds>,
    /// The serial numbers of its boards.
    pub eboards: Vec<String>,
}

/// How many boards a round has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CloudRounds {
    /// Boards of which there is a file.
    pub count: usize,
    /// Boards on which a game is on.
    pub live: usize,
}

/// `index.json` of a round of the Cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloudRound {
    /// The day, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Its games: the first one is that of `game-1.json`.
    pub pairings: Vec<CloudPairing>,
}

/// A game in the index of a round of the Cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloudPairing {
    /// Player of the white men.
    pub white: Player<u64>,
    /// Player of the black men.
    pub black: Player<u64>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// True while the game is on.
    pub live: bool,
}

/// `game-<M>.json` of the Cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloudGame {
    /// True while the game is on.
    pub live: bool,
    /// The serial number of the board.
    #[serde(rename = "serialNr")]
    pub serial: String,
    /// When the first move was made, in milliseconds since 1970; 0 before.
    #[serde(rename = "firstMove")]
    pub first_move: u64,
    /// Number of the start array.
    pub chess960: Option<u16>,
    /// `WHITEWIN`, `BLACKWIN`, `DRAW` or `NOTPLAYED`.
    pub result: Option<&'static str>,
    /// What the list of moves cannot say.
    pub comment: Option<String>,
    /// The clock.
    pub clock: Option<Clock>,
    /// The moves with their times.
    pub moves: Vec<String>,
}

/// Where the files of a tournament are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloudMeta {
    /// The host, with its port where it has one of its own.
    pub host: String,
    /// `1`.
    pub format: &'static str,
}
