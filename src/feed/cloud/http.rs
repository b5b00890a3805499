//! The files of the Cloud over HTTP, of the rounds that are played now.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};

use super::{CloudOptions, game, index, meta, tournament};
use crate::{
    feed::{
        conditional::Validators,
        http::{ASK, JSON, conditional, cross_origin, preflight, problem},
        hub::Hub,
        livechess::Now,
    },
    publish::{
        BoardState,
        tournament::{Tournament, is_numbered, tournaments},
    },
    sysclock,
};

#[derive(Clone)]
struct Shared {
    hub: Hub,
    host: Option<Arc<str>>,
}

/// The routes. The query of an address does not matter: clients add `?poll`.
pub(in crate::feed) fn router(hub: Hub, options: &CloudOptions) -> Router {
    let shared = Shared { hub, host: options.host.as_deref().map(Into::into) };
    Router::new()
        .route("/get/{uuid}/{file}", get(of_tournament).options(preflight))
        .route("/get/{uuid}/{round}/{file}", get(of_round).options(preflight))
        .route("/meta/{uuid}", get(of_meta).options(preflight))
        .layer(middleware::from_fn(cross_origin))
        .with_state(shared)
}

async fn of_meta(State(shared): State<Shared>, Path(uuid): Path<String>, headers: HeaderMap) -> Response {
    let asked = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    let asked: String = asked.chars().filter(|c| c.is_ascii_alphanumeric() || ".:-[]".contains(*c)).collect();
    let host = shared.host.as_deref().unwrap_or(&asked);
    shared.serve(&headers, &uuid, |_| Some((meta(host), None)))
}

async fn of_tournament(
    State(shared): State<Shared>,
    Path((uuid, file)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    shared.serve(&headers, &uuid, |known| {
        (file == "tournament.json").then(|| {
            let ids: Vec<&str> = known.boards.iter().map(|state| state.id.as_str()).collect();
            (tournament(known, |_| 0), shared.changed_us(&ids))
        })
    })
}

async fn of_round(
    State(shared): State<Shared>,
    Path((uuid, round, file)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Response {
    shared.serve(&headers, &uuid, |known| {
        let round = round.strip_prefix("round-")?.parse().ok()?;
        let pairings = known.pairings(round);
        if file == "index.json" {
            let ids: Vec<&str> = pairings.iter().map(|pairing| pairing.state.id.as_str()).collect();
            return (!pairings.is_empty()).then(|| (index(&pairings), shared.changed_us(&ids)));
        }
        let number: usize = file.strip_prefix("game-")?.strip_suffix(".json")?.parse().ok()?;
        let pairing = pairings.get(number.checked_sub(1)?)?;
        Some((game(&shared.hub, pairing, Now::read()), shared.changed_us(&[&pairing.state.id])))
    })
}

impl Shared {
    /// When one of these boards changed last.
    fn changed_us(&self, ids: &[&str]) -> Option<u64> {
        ids.iter().filter_map(|id| self.hub.changed_us(id)).max()
    }

    /// What `find` finds in a tournament: a text, and when it changed last.
    fn serve(
        &self,
        headers: &HeaderMap,
        uuid: &str,
        find: impl Fn(&Tournament<'_>) -> Option<(String, Option<u64>)>,
    ) -> Response {
        let states = self.hub.games();
        let refs = states.iter().map(|state| -> &BoardState { state }).filter(|state| is_numbered(state));
        let known = tournaments(refs).into_iter().find(|known| known.uuid.eq_ignore_ascii_case(uuid));
        let Some((text, changed_us)) = known.and_then(|known| find(&known)) else {
            return problem(
                StatusCode::NOT_FOUND,
                "there is no such file of a tournament, round or game now",
            );
        };
        let validators = Validators::strong(text.as_bytes()).modified(changed_us, sysclock::wall_micros());
        let content_type = [(header::CONTENT_TYPE, JSON)];
        conditional(headers, &validators, ASK, || (content_type, text).into_response())
    }
}
