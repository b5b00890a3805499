//! What the API tells of tournaments, rounds and games. Pure: the times come in.

use super::follow::{Now, serial};
use crate::{
    publish::{
        BoardState, PlayerTags, completed_plies,
        release::Threshold,
        tournament::{Outcome, Score, Tournament, country, date, is_live, location, name, tournaments},
    },
    wire::livechess::resources::{Game, Pairing, Player, Round, TournamentDetail, TournamentSummary},
};

/// The list of tournaments.
pub(super) fn summaries<'s>(states: impl IntoIterator<Item = &'s BoardState>) -> Vec<TournamentSummary> {
    let summary = |known: Tournament<'_>| TournamentSummary {
        description: known.name.to_owned(),
        rounds: known.rounds(),
        uuid: known.uuid,
    };
    tournaments(states).into_iter().map(summary).collect()
}

/// A tournament.
pub(super) fn detail<'s>(
    states: impl IntoIterator<Item = &'s BoardState>,
    uuid: &str,
) -> Option<TournamentDetail> {
    let found = find(states, uuid)?;
    let site = found.tag(|state| state.tags.site.as_deref());
    Some(TournamentDetail {
        name: found.name.to_owned(),
        description: found.name.to_owned(),
        location: site.map(|site| location(site).to_owned()),
        country: site.and_then(country).map(str::to_owned),
        rounds: found.rounds(),
        eboards: found.boards.iter().map(|state| serial(state)).collect(),
        uuid: found.uuid,
    })
}

/// A round of a tournament; the first one has the index 0.
pub(super) fn round<'s>(
    states: impl IntoIterator<Item = &'s BoardState>,
    uuid: &str,
    index: usize,
) -> Option<Round> {
    let found = find(states, uuid)?;
    let nr = index.checked_add(1).filter(|nr| *nr <= found.rounds())?;
    let pairings = found.pairings(nr);
    let day = pairings.iter().find_map(|pairing| date(pairing.state.tags.date.as_deref()?));
    let pairing = |pairing: crate::publish::tournament::Pairing<'_>| {
        let tags = &pairing.state.tags;
        Pairing {
            nr: pairing.nr,
            uuid: pairing.uuid,
            white: player(tags.white.as_deref(), &tags.white_player, |id| id.to_string()),
            black: player(tags.black.as_deref(), &tags.black_player, |id| id.to_string()),
            live: is_live(pairing.state),
            result: result(pairing.state),
        }
    };
    Some(Round { nr, date: day, pairings: pairings.into_iter().map(pairing).collect() })
}

/// The game with this identifier. Of a board that is not `told` there is the result alone.
pub(super) fn game<'s>(
    states: impl IntoIterator<Item = &'s BoardState>,
    uuid: &str,
    moves: Threshold,
    told: impl Fn(&BoardState) -> bool,
    now: Now,
) -> Option<Game> {
    let state = tournaments(states).iter().find_map(|known| known.game(uuid))?;
    if !told(state) {
        let (chess960, result) = (Score::of(state, 0).chess960, result(state));
        return Some(Game { chess960, result, comment: None, clock: None, moves: Vec::new() });
    }
    let plies = match moves {
        Threshold::Made => state.plies.len(),
        Threshold::Completed => completed_plies(state),
    };
    let Score { chess960, moves, comment } = Score::of(state, plies);
    Some(Game { chess960, result: result(state), comment, clock: now.clock(state.clock), moves })
}

fn find<'s>(states: impl IntoIterator<Item = &'s BoardState>, uuid: &str) -> Option<Tournament<'s>> {
    tournaments(states).into_iter().find(|known| known.uuid.eq_ignore_ascii_case(uuid))
}

/// A player in the terms of LiveChess; `number` writes the number in the list of FIDE.
pub(in crate::feed) fn player<I>(
    tag: Option<&str>,
    more: &PlayerTags,
    number: impl Fn(u64) -> I,
) -> Player<I> {
    let name = name(tag);
    Player {
        fname: name.given.map(str::to_owned),
        mname: None,
        lname: name.family.map(str::to_owned),
        title: more.title.clone(),
        federation: more.federation.clone(),
        gender: None,
        fideid: more.fide_id.map(number),
    }
}

fn result(state: &BoardState) -> Option<&'static str> {
    match Outcome::of(state)? {
        Outcome::White => Some("WHITEWIN"),
        Outcome::Black => Some("BLACKWIN"),
        Outcome::Draw => Some("DRAW"),
        Outcome::WhiteByForfeit => Some("WHITEFORFAIT"),
        Outcome::BlackByForfeit => Some("BLACKFORFAIT"),
        Outcome::None => None,
    }
}
