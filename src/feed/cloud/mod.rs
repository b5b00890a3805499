//! The files that DGT LiveChess Cloud has of a tournament, for programs that read games there:
//! `get/<uuid>/tournament.json`, `get/<uuid>/round-<N>/index.json` and `game-<M>.json`, and `meta/<uuid>`.

mod files;
mod http;

use serde::Serialize;

pub(super) use self::{files::CloudFiles, http::router};
use super::{
    hub::Hub,
    livechess::{Now, player, serial},
};
use crate::{
    publish::tournament::{Outcome, Pairing, Score, Tournament, country, date, is_live, location},
    wire::livechess::resources::{
        CloudGame, CloudMeta, CloudPairing, CloudRound, CloudRounds, CloudTournament,
    },
};

/// Where the files of the Cloud are to be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloudOptions {
    /// The directory that they are written to.
    pub dir: Option<std::path::PathBuf>,
    /// The host that `meta/<uuid>` names. Without it the one that was asked.
    pub host: Option<String>,
}

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// `meta/<uuid>`.
fn meta(host: &str) -> String {
    text(&CloudMeta { host: host.to_owned(), format: "1" })
}

/// `tournament.json`. `known` tells how many games a round has that no board plays now.
fn tournament(of: &Tournament<'_>, known: impl Fn(usize) -> usize) -> String {
    let site = of.tag(|state| state.tags.site.as_deref());
    let rounds = (1..=of.rounds()).map(|round| {
        let pairings = of.pairings(round);
        let live = pairings.iter().filter(|pairing| is_live(pairing.state)).count();
        CloudRounds { count: pairings.len().max(known(round)), live }
    });
    text(&CloudTournament {
        id: of.name.to_owned(),
        name: of.name.to_owned(),
        location: site.map(|site| location(site).to_owned()),
        country: site.and_then(country).map(str::to_owned),
        website: None,
        rules: "STANDARD",
        chess960: if of.boards.iter().any(|state| state.chess960) { "ANY" } else { "STANDARD" },
        timecontrol: of.tag(|state| state.tags.time_control.as_deref()).map(str::to_owned),
        rounds: rounds.collect(),
        eboards: serials(of),
    })
}

/// The boards of a tournament. One may have games of several rounds.
fn serials(of: &Tournament<'_>) -> Vec<String> {
    let mut serials: Vec<String> = Vec::new();
    for serial in of.boards.iter().map(|state| serial(state)) {
        if !serials.contains(&serial) {
            serials.push(serial);
        }
    }
    serials
}

/// `index.json` of a round.
fn index(pairings: &[Pairing<'_>]) -> String {
    let pairing = |pairing: &Pairing<'_>| {
        let tags = &pairing.state.tags;
        CloudPairing {
            white: player(tags.white.as_deref(), &tags.white_player, |id| id),
            black: player(tags.black.as_deref(), &tags.black_player, |id| id),
            // Nothing stands for a game that both players lost.
            result: if pairing.state.result == "0-0" { "*" } else { pairing.state.result },
            live: is_live(pairing.state),
        }
    };
    let day = pairings.iter().find_map(|pairing| date(pairing.state.tags.date.as_deref()?));
    text(&CloudRound { date: day, pairings: pairings.iter().map(pairing).collect() })
}

/// `game-<M>.json`: everything that this output may show.
fn game(hub: &Hub, pairing: &Pairing<'_>, now: Now) -> String {
    let state = pairing.state;
    let Score { chess960, moves, comment } = Score::of(state, state.plies.len());
    let result = Outcome::of(state).map(|outcome| match outcome {
        Outcome::White | Outcome::WhiteByForfeit => "WHITEWIN",
        Outcome::Black | Outcome::BlackByForfeit => "BLACKWIN",
        Outcome::Draw => "DRAW",
        Outcome::None => "NOTPLAYED",
    });
    // The clock needs a time of both sides; without one it is left out.
    let began_us = if moves.is_empty() { None } else { hub.began_us(state) };
    text(&CloudGame {
        live: is_live(state),
        serial: serial(state),
        first_move: began_us.unwrap_or(0) / 1000,
        chess960,
        result,
        comment,
        clock: now.clock(state.clock),
        moves,
    })
}
