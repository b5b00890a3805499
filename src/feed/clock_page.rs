//! The clock page and its stream: `/clock`, `/api/clocks`, `/api/clocks/{id}/events`.
//!
//! Players see it. So there are times, whose clock runs and the flags in it, and nothing that comes from the
//! board: no move, no count, no remark. It is read only, and no web page of another origin may read it.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderName, StatusCode, header},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
    routing::get,
};
use futures_util::stream;
use serde::Serialize;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{clocks::Shown, hub::Hub, serve::ended};
use crate::{publish::ClockFace, sysclock};

/// The face is told again after so long: a page that hears nothing knows that it is cut off.
const AGAIN: Duration = Duration::from_secs(2);
/// How long a page waits before it comes back.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Clone)]
struct Shared {
    hub: Hub,
    ending: watch::Receiver<bool>,
}

/// The routes of the page's data; its files are among the assets.
pub(super) fn router(hub: Hub, ending: watch::Receiver<bool>) -> Router {
    Router::new()
        .route("/api/clocks", get(clocks))
        .route("/api/clocks/{id}/events", get(events))
        .with_state(Shared { hub, ending })
}

/// A face with its time and the time at which it is told, both on the monotonic clock of this machine.
#[derive(Serialize)]
struct Told<'b> {
    board: &'b str,
    #[serde(flatten)]
    face: ClockFace,
    at_us: u64,
    now_us: u64,
}

fn told(board: &str, shown: Shown) -> Told<'_> {
    Told { board, face: shown.face, at_us: shown.at.as_micros(), now_us: sysclock::monotonic().as_micros() }
}

async fn clocks(State(shared): State<Shared>) -> Response {
    let clocks = shared.hub.clocks();
    let told: Vec<Told<'_>> = clocks.iter().map(|(board, shown)| told(board, *shown)).collect();
    ([(header::CACHE_CONTROL, "no-store")], Json(told)).into_response()
}

async fn events(State(shared): State<Shared>, Path(board): Path<String>) -> Response {
    let Some(faces) = shared.hub.watch_clock(&board) else {
        let body = Json(json!({ "error": format!("there is no board {board:?}; /api/clocks lists them") }));
        return (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, "no-store")], body).into_response();
    };
    let page = Page { board, faces, ending: shared.ending, due: Instant::now(), first: true };
    let events = stream::unfold(page, |mut page| async move {
        let event = page.next().await?;
        Some((Ok::<_, Infallible>(event), page))
    });
    let buffering = [(HeaderName::from_static("x-accel-buffering"), "no")];
    (buffering, Sse::new(events).keep_alive(KeepAlive::new())).into_response()
}

/// One screen.
struct Page {
    board: String,
    faces: watch::Receiver<Shown>,
    ending: watch::Receiver<bool>,
    /// When the face is told again.
    due: Instant,
    first: bool,
}

impl Page {
    /// The next face: at once the present one, then each change, and the same again after a while. Of changes
    /// that came too fast for the connection the last one is told.
    async fn next(&mut self) -> Option<Event> {
        if !self.first {
            tokio::select! {
                changed = self.faces.changed() => changed.ok()?,
                () = sleep_until(self.due) => {}
                () = ended(&mut self.ending) => return None,
            }
        }
        self.due = Instant::now() + AGAIN;
        let shown = *self.faces.borrow_and_update();
        let data = serde_json::to_string(&told(&self.board, shown)).unwrap_or_default();
        let event = Event::default().event("clock").data(data);
        Some(if std::mem::take(&mut self.first) { event.retry(RETRY) } else { event })
    }
}
