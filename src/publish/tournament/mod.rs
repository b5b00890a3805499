//! The boards as the rounds of a tournament, for programs that look for games there. Pure.
//!
//! Boards with the same event are one tournament, in the order in which the daemon has them. The round is the
//! number with which the tag `Round` begins. Identifiers are made of the names, so that they are the same after
//! every start.

mod players;
mod score;
mod uuid;

use self::uuid::uuid;
pub use self::{
    players::{Name, country, date, location, name},
    score::{Outcome, Score, legal, rest},
};
use super::{BoardState, STATUS_IRREGULAR, STATUS_PAUSED, STATUS_PLAYING};

/// The highest number of a round. A tag `Round` that begins with a higher one, or with none, names a day or
/// something else.
pub const MOST_ROUNDS: usize = 99;
/// What an event without a name is called.
const NAMELESS: &str = "?";

/// A tournament: the boards with one event.
#[derive(Clone, Debug)]
pub struct Tournament<'s> {
    /// Its identifier.
    pub uuid: String,
    /// The event.
    pub name: &'s str,
    /// Its boards, in order; at least one.
    pub boards: Vec<&'s BoardState>,
}

/// One game of a round.
#[derive(Clone, Debug)]
pub struct Pairing<'s> {
    /// The place of its board among the boards of the tournament, from 1.
    pub nr: usize,
    /// Its identifier.
    pub uuid: String,
    /// The board.
    pub state: &'s BoardState,
}

/// The tournaments that these boards belong to, in the order of their first boards.
pub fn tournaments<'s>(states: impl IntoIterator<Item = &'s BoardState>) -> Vec<Tournament<'s>> {
    let mut found: Vec<Tournament<'s>> = Vec::new();
    for state in states {
        let name = state.tags.event.as_deref().unwrap_or(NAMELESS);
        match found.iter_mut().find(|known| known.name == name) {
            Some(known) => known.boards.push(state),
            None => {
                let uuid = uuid(&["tournament", name]);
                found.push(Tournament { uuid, name, boards: vec![state] });
            }
        }
    }
    found
}

impl<'s> Tournament<'s> {
    /// How many rounds are known: the number of the latest one.
    pub fn rounds(&self) -> usize {
        self.boards.iter().map(|state| round_of(state)).max().unwrap_or(1)
    }

    /// The games of a round, from 1; none where no board plays it.
    pub fn pairings(&self, round: usize) -> Vec<Pairing<'s>> {
        let of_round = self.boards.iter().zip(1..).filter(|(state, _)| round_of(state) == round);
        of_round.map(|(state, nr)| Pairing { nr, uuid: self.game_uuid(state), state }).collect()
    }

    /// The game with this identifier.
    pub fn game(&self, wanted: &str) -> Option<&'s BoardState> {
        self.boards.iter().copied().find(|state| self.game_uuid(state).eq_ignore_ascii_case(wanted))
    }

    fn game_uuid(&self, state: &BoardState) -> String {
        uuid(&["game", self.name, &round_of(state).to_string(), &state.id])
    }

    /// What the first board that knows it says.
    pub fn tag(&self, of: impl Fn(&'s BoardState) -> Option<&'s str>) -> Option<&'s str> {
        self.boards.iter().copied().find_map(of)
    }
}

/// The round of a board, where it has to have a number.
pub fn round_of(state: &BoardState) -> usize {
    round_number(state).unwrap_or(1)
}

/// The number of the round of a board; nothing where the tag begins with none that can be one.
pub fn round_number(state: &BoardState) -> Option<usize> {
    let tag = state.tags.round.as_deref()?;
    let end = tag.find(|c: char| !c.is_ascii_digit()).unwrap_or(tag.len());
    tag.get(..end)?.parse().ok().filter(|number| (1..=MOST_ROUNDS).contains(number))
}

/// The longest name of a round in a path, in bytes: file systems take names of 255, and more is put before and behind.
const LONGEST_NAME: usize = 128;
/// Digits that tell names apart which are longer, in hexadecimal.
const MARK: usize = 16;

/// A name of a round as it may stand in a path. Of one that is too long the beginning stays, with a mark that is made
/// of all of it.
fn fitting(name: String) -> String {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let begin = name.get(..name.floor_char_boundary(LONGEST_NAME - MARK - 1)).unwrap_or_default();
    let mark: String = uuid(&["round", &name]).chars().filter(|c| *c != '-').take(MARK).collect();
    format!("{begin}-{mark}")
}

/// What the round of a board is called in a path: its number, otherwise the tag up to the first point, with a hyphen
/// for what is no letter and no digit, shortened where it is very long. Nothing where the tag is missing or has neither.
pub fn round_name(state: &BoardState) -> Option<String> {
    if let Some(number) = round_number(state) {
        return Some(number.to_string());
    }
    let tag = state.tags.round.as_deref()?;
    let name = tag.split('.').next().unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let name: String = name.trim().chars().map(plain).collect();
    name.contains(char::is_alphanumeric).then(|| fitting(name))
}

/// True for a board whose round has a number, or none at all: then it is the first.
pub fn is_numbered(state: &BoardState) -> bool {
    state.tags.round.is_none() || round_number(state).is_some()
}

/// True while the game of a board is on.
pub fn is_live(state: &BoardState) -> bool {
    state.result == "*" && [STATUS_PLAYING, STATUS_PAUSED, STATUS_IRREGULAR].contains(&state.status)
}

#[cfg(test)]
mod tests;
