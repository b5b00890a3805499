//! How the pushes stand, for the operator: `/api/push`, `/metrics`, the troubles of `/healthz`, and the log.

use std::{
    fmt::Write as _,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::answer::Game;
use crate::feed::{
    metrics::{header, label},
    operator::Trouble,
};

/// Failures in a row from which on they are a trouble. The first ones are often over before anybody could look.
const TROUBLE_FROM: u32 = 3;

/// How the pushes stand.
#[derive(Debug)]
pub struct Status(Mutex<Told>);

/// The state, as `/api/push` tells it.
#[derive(Clone, Debug, Default, Serialize)]
struct Told {
    round: String,
    server: String,
    state: State,
    /// What is wrong, in words.
    error: Option<String>,
    /// The last answer, whatever it was.
    last_status: Option<u16>,
    last_try_at: Option<String>,
    last_push_at: Option<String>,
    /// Pushes that were taken, and attempts that were not.
    pushes: u64,
    failures: u64,
    /// Attempts in a row that were not.
    failures_in_a_row: u32,
    /// Why the last attempt was refused.
    #[serde(skip)]
    cause: Option<Cause>,
    /// Size of the last push that was taken.
    bytes: usize,
    games: Vec<GameTold>,
}

/// How things go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// Nothing was pushed yet.
    #[default]
    Waiting,
    /// The last push was taken.
    Ok,
    /// The last push failed; it is tried again.
    Retrying,
    /// The last push was refused in a way that a person has to see to; it is tried again now and then.
    Refused,
}

/// Why a push is refused. What differs in the words of one cause is no other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The server said so, with this status.
    Answer(u16),
    /// There are more games than go into a push.
    Games,
    /// The games are larger than a push may be.
    Bytes,
}

/// One game of the last push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct GameTold {
    board: String,
    /// Half-moves that were sent.
    sent: usize,
    /// Half-moves that the server read.
    moves: Option<u64>,
    error: Option<String>,
}

/// A game as it was sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub board: String,
    pub plies: usize,
    /// Both players have names or numbers.
    pub named: bool,
}

impl Status {
    pub(super) fn new(round: &str, server: &str) -> Status {
        let told = Told { round: round.to_owned(), server: server.to_owned(), ..Told::default() };
        Status(Mutex::new(told))
    }

    /// As a JSON object.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(&*self.lock()).unwrap_or_default()
    }

    /// A push begins.
    pub(super) fn tried(&self, wall_us: u64) {
        self.lock().last_try_at = at(wall_us);
    }

    /// A push was taken.
    pub(super) fn taken(&self, wall_us: u64, bytes: usize, sent: &[Sent], games: &[Game]) {
        let mut told = self.lock();
        if told.state != State::Ok {
            let (round, server) = (&told.round, &told.server);
            tracing::info!("Lichess: round {round} at {server} takes {} game(s)", sent.len());
        }
        let games: Vec<GameTold> =
            sent.iter().enumerate().map(|(at, sent)| game(sent, games.get(at))).collect();
        tell_changes(&told.games, &games);
        *told = Told {
            state: State::Ok,
            error: None,
            last_status: Some(200),
            last_push_at: at(wall_us),
            pushes: told.pushes + 1,
            failures_in_a_row: 0,
            cause: None,
            bytes,
            games,
            ..std::mem::take(&mut *told)
        };
    }

    /// A push failed and is tried again.
    pub(super) fn failed(&self, status: Option<u16>, reason: String) {
        if self.note(State::Retrying, status, None, &reason) {
            tracing::warn!("Lichess: {reason}; trying again until it works");
        }
    }

    /// A push was refused, or cannot be made.
    pub(super) fn refused(&self, cause: Cause, reason: String) {
        let status = if let Cause::Answer(status) = cause { Some(status) } else { None };
        if self.note(State::Refused, status, Some(cause), &reason) {
            tracing::error!("Lichess: {reason}; trying again now and then");
        }
    }

    /// True where the log should tell it: once for each cause that a person has to see to, once for a row of failures.
    fn note(&self, state: State, status: Option<u16>, cause: Option<Cause>, reason: &str) -> bool {
        let mut told = self.lock();
        let is_news = (told.state, told.cause) != (state, cause);
        told.state = state;
        told.cause = cause;
        told.error = Some(reason.to_owned());
        told.last_status = status;
        told.failures += 1;
        told.failures_in_a_row = told.failures_in_a_row.saturating_add(1);
        is_news
    }

    /// What a person should see to.
    pub(in crate::feed) fn troubles(&self) -> Vec<Trouble> {
        let told = self.lock();
        let trouble = |board: Option<&str>, detail: &str| Trouble {
            board: board.map(str::to_owned),
            unit: None,
            what: "lichess",
            detail: detail.to_owned(),
        };
        let failing = told.state == State::Refused
            || (told.state == State::Retrying && told.failures_in_a_row >= TROUBLE_FROM);
        let all = told.error.as_deref().filter(|_| failing).map(|error| trouble(None, error));
        let games = told.games.iter();
        let each = games.filter_map(|game| Some(trouble(Some(&game.board), game.error.as_deref()?)));
        all.into_iter().chain(each).collect()
    }

    /// The figures in the text form of Prometheus.
    pub(in crate::feed) fn metrics(&self) -> String {
        let told = self.lock();
        let mut text = String::new();
        let refused = u64::from(told.state == State::Refused);
        let bytes = u64::try_from(told.bytes).unwrap_or(u64::MAX);
        for (name, kind, help, value) in [
            ("lichess_pushes_total", "counter", "Pushes that Lichess took", told.pushes),
            ("lichess_failures_total", "counter", "Pushes that failed or were refused", told.failures),
            ("lichess_failing", "gauge", "Failures since the last push", told.failures_in_a_row.into()),
            ("lichess_refused", "gauge", "1 while pushes are refused until somebody sees to it", refused),
            ("lichess_push_bytes", "gauge", "Size of the last push", bytes),
        ] {
            header(&mut text, name, kind, help);
            let _ = writeln!(text, "touchmoved_{name} {value}");
        }
        header(&mut text, "lichess_game_moves", "gauge", "Half-moves that Lichess read of the game");
        for game in &told.games {
            let (board, moves) = (label(&game.board), game.moves.unwrap_or(0));
            let _ = writeln!(text, "touchmoved_lichess_game_moves{{board=\"{board}\"}} {moves}");
        }
        header(&mut text, "lichess_game_failed", "gauge", "1 while Lichess does not take the game");
        for game in &told.games {
            let (board, failed) = (label(&game.board), u8::from(game.error.is_some()));
            let _ = writeln!(text, "touchmoved_lichess_game_failed{{board=\"{board}\"}} {failed}");
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn game(sent: &Sent, told: Option<&Game>) -> GameTold {
    let moves = told.and_then(|told| told.moves);
    let sent_moves = u64::try_from(sent.plies).unwrap_or(u64::MAX);
    let error = told.and_then(|told| told.error.clone()).or_else(|| {
        if !sent.named {
            let text = "Lichess leaves out a game without the names of both players, two letters at least, or their \
                        numbers in the list of FIDE; set white and black, or white-fide-id and black-fide-id, in \
                        board.tags";
            return Some(text.to_owned());
        }
        match (told, moves) {
            (None, _) => Some("the answer does not tell of this game".to_owned()),
            (_, Some(moves)) if moves < sent_moves => {
                Some(format!("Lichess read {moves} of {sent_moves} half-moves"))
            }
            _ => None,
        }
    });
    GameTold { board: sent.board.clone(), sent: sent.plies, moves, error }
}

/// Logs what is new about each game.
fn tell_changes(before: &[GameTold], now: &[GameTold]) {
    for game in now {
        let known = before.iter().find(|known| known.board == game.board);
        match (known.and_then(|known| known.error.as_ref()), &game.error) {
            (known, Some(error)) if known != Some(error) => {
                tracing::warn!(board = game.board, "Lichess does not take the game as it is: {error}");
            }
            (Some(_), None) => tracing::info!(board = game.board, "Lichess takes the game again"),
            _ => {}
        }
    }
}

/// Microseconds of UTC as a date and a time, to the second.
fn at(wall_us: u64) -> Option<String> {
    let seconds = i64::try_from(wall_us / 1_000_000).ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(board: &str, plies: usize) -> Sent {
        Sent { board: board.to_owned(), plies, named: true }
    }

    fn taken(moves: u64) -> Game {
        Game { moves: Some(moves), error: None }
    }

    #[test]
    fn each_game_is_told_of() {
        let status = Status::new("AbCdEfGh", "https://lichess.org");
        assert_eq!(status.json()["state"], "waiting");
        let refused = Game { moves: None, error: Some("bad".to_owned()) };
        let boards =
            [sent("1", 4), sent("2", 3), sent("3", 2), Sent { named: false, ..sent("4", 0) }, sent("5", 0)];
        status.taken(1_000_000, 99, &boards, &[taken(4), refused, taken(1), taken(0)]);
        let told = status.json();
        assert_eq!((&told["state"], &told["last_push_at"]), (&"ok".into(), &"1970-01-01T00:00:01Z".into()));
        let errors: Vec<_> =
            (0..5).map(|at| told["games"][at]["error"].as_str().unwrap_or("").to_owned()).collect();
        assert_eq!((errors[0].as_str(), errors[1].as_str()), ("", "bad"));
        assert_eq!(errors[2], "Lichess read 1 of 2 half-moves");
        assert!(errors[3].contains("names") && errors[4].contains("does not tell"), "{errors:?}");
        let boards: Vec<_> = status.troubles().into_iter().filter_map(|trouble| trouble.board).collect();
        assert_eq!(boards, ["2", "3", "4", "5"]);
        assert!(status.metrics().contains("touchmoved_lichess_game_failed{board=\"2\"} 1\n"));
    }

    #[test]
    fn a_short_outage_is_no_trouble_and_a_refusal_is_one_at_once() {
        let status = Status::new("AbCdEfGh", "https://lichess.org");
        status.failed(None, "no route".to_owned());
        status.failed(None, "no route".to_owned());
        assert_eq!(status.troubles(), []);
        status.failed(Some(503), "busy".to_owned());
        assert_eq!(status.troubles()[0].detail, "busy");
        status.taken(0, 1, &[sent("1", 0)], &[taken(0)]);
        assert_eq!(status.troubles(), []);
        status.refused(Cause::Answer(401), "the token".to_owned());
        assert_eq!((status.troubles()[0].what, status.troubles()[0].board.as_ref()), ("lichess", None));
    }

    #[test]
    fn a_refusal_is_news_once_however_its_words_change() {
        let status = Status::new("AbCdEfGh", "https://lichess.org");
        let refused = |cause, reason: &str| status.note(State::Refused, None, Some(cause), reason);
        assert!(refused(Cause::Bytes, "the games are 524300 bytes"));
        assert!(!refused(Cause::Bytes, "the games are 524400 bytes"));
        assert_eq!(status.troubles()[0].detail, "the games are 524400 bytes");
        assert!(refused(Cause::Games, "101 games"));
        assert!(refused(Cause::Answer(400), "the push is refused (400): one"));
        assert!(!refused(Cause::Answer(400), "the push is refused (400): two"));
        assert!(refused(Cause::Answer(401), "the token is not valid (401)"));
        assert!(status.note(State::Retrying, Some(503), None, "busy"));
        assert!(!status.note(State::Retrying, None, None, "no route"));
        assert!(refused(Cause::Answer(401), "the token is not valid (401)"));
        status.taken(0, 1, &[sent("1", 0)], &[taken(0)]);
        assert!(refused(Cause::Answer(401), "the token is not valid (401)"));
    }
}
