//! What the answer to a push means. Pure.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

/// Longest text of the server that is passed on, in characters.
const LONGEST_TEXT: usize = 200;

/// An answer, as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub status: u16,
    pub retry_after: Option<String>,
    pub date: Option<String>,
    pub body: Vec<u8>,
}

/// What became of one game of a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Game {
    /// Half-moves that were read.
    pub moves: Option<u64>,
    /// Why the game was not taken.
    pub error: Option<String>,
}

/// What became of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The games were taken, each or not.
    Taken(Vec<Game>),
    /// It may go better the next time.
    Later { reason: String, after: Option<Duration> },
    /// A person has to see to it.
    Refused { reason: String, after: Option<Duration> },
}

#[derive(Deserialize)]
struct Games {
    games: Vec<Told>,
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    tags: Map<String, Value>,
    moves: Option<u64>,
    error: Option<String>,
}

/// Judges an answer to `sent` games for `round`; `now` is in seconds since 1970. `clean` takes out of a text of the
/// server what nobody may read; it sees all of the text, before that is shortened.
pub(super) fn judge(
    answer: &Answer,
    round: &str,
    sent: usize,
    now: i64,
    clean: impl Fn(&str) -> String,
) -> Verdict {
    let after = answer.retry_after.as_deref().and_then(|text| wait_of(text, answer.date.as_deref(), now));
    let told = || told(&answer.body).map(|text| format!(": {}", short(&clean(&text)))).unwrap_or_default();
    let refused = |reason: String| Verdict::Refused { reason, after };
    match answer.status {
        200 => games(&answer.body, sent, clean),
        300..=399 => refused(format!(
            "the server sends elsewhere ({}); a push is not sent on. Correct lichess.url",
            answer.status
        )),
        401 => refused(
            "the token is not valid (401); make one with the scope study:write, put it into the file of \
             lichess.token-file and restart"
                .to_owned(),
        ),
        403 => refused(format!(
            "the owner of the token may not push into round {round} (403); make him a contributor of the broadcast, \
             or use a token with the scope study:write"
        )),
        404 => refused(format!("there is no round {round} (404); correct lichess.round")),
        413 => refused("the games are too large for the server (413)".to_owned()),
        408 | 425 => Verdict::Later { reason: format!("the server says {}{}", answer.status, told()), after },
        429 => {
            // Without a time of its own, the server means a minute.
            let after = after.or(Some(Duration::from_secs(60)));
            Verdict::Later { reason: "too many requests (429)".to_owned(), after }
        }
        400..=499 => refused(format!("the push is refused ({}){}", answer.status, told())),
        status => Verdict::Later { reason: format!("the server says {status}{}", told()), after },
    }
}

fn games(body: &[u8], sent: usize, clean: impl Fn(&str) -> String) -> Verdict {
    let Ok(Games { games }) = serde_json::from_slice(body) else {
        let reason =
            "the answer has no list of games; is lichess.url right, and does the network want a log-in?";
        return Verdict::Later { reason: reason.to_owned(), after: None };
    };
    let clean = |text: &String| short(&clean(text));
    // Every game that is sent has tags: an error without them is about the round.
    let of_round = games.iter().find(|told| told.tags.is_empty() && told.error.is_some());
    if let Some(error) = of_round.and_then(|told| told.error.as_ref()) {
        let reason = format!(
            "the round takes no pushes: {}; take its source away in the settings of the broadcast",
            clean(error)
        );
        return Verdict::Refused { reason, after: None };
    }
    let read = games.iter().take(sent);
    Verdict::Taken(
        read.map(|told| Game { moves: told.moves, error: told.error.as_ref().map(clean) }).collect(),
    )
}

/// The error that a body tells.
fn told(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    value.get("error")?.as_str().map(str::to_owned)
}

/// A text of the server on one line and not too long.
fn short(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The wait that `Retry-After` asks for: seconds, or a date of HTTP. A date counts from the server's own one, where
/// it told that: the clock of this machine may be wrong.
fn wait_of(text: &str, date: Option<&str>, now: i64) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = unix_of(text)?;
    let from = date.and_then(unix_of).unwrap_or(now);
    u64::try_from(until.saturating_sub(from)).ok().or(Some(0)).map(Duration::from_secs)
}

fn unix_of(date: &str) -> Option<i64> {
    let date = date.trim().replace("GMT", "+0000");
    OffsetDateTime::parse(&date, &Rfc2822).ok().map(OffsetDateTime::unix_timestamp)
}

#[cfg(test)]
mod tests {
    use super::{super::bearer::Bearer, *};
    use proptest::prelude::*;

    fn judged(status: u16, body: &str) -> Verdict {
        let answer = Answer { status, body: body.as_bytes().to_vec(), ..Answer::default() };
        judge(&answer, "AbCdEfGh", 2, 0, str::to_owned)
    }

    #[test]
    fn games_are_told_one_by_one() {
        let body =
            r#"{"games":[{"tags":{"White":"One"},"moves":6},{"tags":{"White":"Two"},"error":"a\nb"}]}"#;
        let expected =
            vec![Game { moves: Some(6), error: None }, Game { moves: None, error: Some("a b".to_owned()) }];
        assert_eq!(judged(200, body), Verdict::Taken(expected));
    }

    #[test]
    fn what_nobody_may_read_is_taken_out_before_a_text_is_shortened() {
        let token = Bearer::parse("lip_SECRET0SECRET1").unwrap();
        let clean = |text: &str| token.taken_out_of(text);
        for before in 0..=LONGEST_TEXT {
            let text = format!("{}lip_SECRET0SECRET1 tail", "x".repeat(before));
            for (status, body) in [
                (500, serde_json::json!({ "error": text })),
                (400, serde_json::json!({ "error": text })),
                (200, serde_json::json!({ "games": [{ "tags": { "White": "One" }, "error": text }] })),
                (200, serde_json::json!({ "games": [{ "tags": {}, "error": text }] })),
            ] {
                let answer = Answer { status, body: body.to_string().into_bytes(), ..Answer::default() };
                let told = format!("{:?}", judge(&answer, "AbCdEfGh", 2, 0, clean));
                assert!(told.contains("xx") || before < 2, "{told}");
                assert!(!told.contains("lip_S"), "{before}: {told}");
            }
        }
    }

    #[test]
    fn a_round_with_a_source_of_its_own_is_a_matter_for_a_person() {
        let body =
            r#"{"games":[{"tags":{},"error":"The relay has an upstream URL, and cannot be pushed to."}]}"#;
        let Verdict::Refused { reason, .. } = judged(200, body) else { panic!() };
        assert!(reason.contains("upstream URL") && reason.contains("source"), "{reason}");
    }

    #[test]
    fn what_gets_better_by_itself_is_told_from_what_does_not() {
        for status in [301, 400, 401, 403, 404, 413, 422] {
            assert!(matches!(judged(status, ""), Verdict::Refused { .. }), "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 504] {
            assert!(matches!(judged(status, ""), Verdict::Later { .. }), "{status}");
        }
        assert!(matches!(judged(200, "<html>"), Verdict::Later { .. }));
        let Verdict::Refused { reason, .. } = judged(400, r#"{"error":"No such thing"}"#) else { panic!() };
        assert_eq!(reason, "the push is refused (400): No such thing");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(wait_of(" 120 ", None, 0), Some(Duration::from_secs(120)));
        assert_eq!(wait_of(date, None, 784_111_767), Some(Duration::from_secs(10)));
        assert_eq!(wait_of(date, None, 784_111_780), Some(Duration::ZERO));
        let server = Some("Sun, 06 Nov 1994 08:49:07 GMT");
        assert_eq!(wait_of(date, server, 0), Some(Duration::from_secs(30)), "the clock here does not count");
        assert_eq!(wait_of("soon", None, 0), None);
    }

    proptest! {
        #[test]
        fn any_answer_is_judged(status: u16, body: Vec<u8>, retry in prop::option::of(".*"), sent in 0..200_usize) {
            let answer = Answer { status, body, retry_after: retry, date: None };
            if let Verdict::Taken(games) = judge(&answer, "x", sent, 0, str::to_owned) {
                prop_assert!(games.len() <= sent);
            }
        }
    }
}
