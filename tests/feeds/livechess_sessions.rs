//! Whole sessions of clients that are in no package registry: what they send is sent, and what comes back has to be
//! of the form that they were answered in: the same messages, the same keys in the same order, the same types.

use std::{fs, path::Path};

use serde_json::Value;
use touchmoved::{
    feed::FeedConfig,
    publish::{FeedEvent, PublicClock, release::Threshold},
};

use super::table::{Client, Server, Table, config};

/// The moves of both sessions.
const GAME: [&str; 6] = ["e2e4", "d7d5", "e4d5", "d8d5", "b1c3", "d5a5"];
/// What is `null` where it is not known.
const UNKNOWN: [&str; 3] = ["source", "battery", "comment"];

/// A value without what it says: keys in order, and types.
fn form(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_u64() => "whole number".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(form).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let member = |(key, value): (&String, &Value)| match key.as_str() {
                key if UNKNOWN.contains(&key) => format!("{key}: text or null"),
                "run" => "run: bool or null".to_owned(),
                key => format!("{key}: {}", form(value)),
            };
            format!("{{{}}}", map.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

fn clock(server: &Server, running: Option<&'static str>) {
    let (white_ms, black_ms) = (Some(5_400_000), Some(5_400_000));
    let clock = PublicClock { white_ms, black_ms, running, delay_ms: 0, at_us: 0 };
    server.hub.publish("1", vec![FeedEvent::Clock(clock)]);
}

async fn plays(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/livechess").join(name);
    let text = fs::read_to_string(path).unwrap();
    let server = Server::with(FeedConfig { livechess_moves: Threshold::Made, ..config() }).await;
    let mut table = Table::new(&server.hub, "1");
    if text.contains("\"clock\":{") {
        clock(&server, None);
    }
    let mut client = Client::open(server.livechess).await;
    let (mut moves, mut pressed) = (GAME.into_iter(), None::<u64>);
    // Messages of feeds that are on their way.
    let mut owed = 0;
    let mut heard = 0;
    for line in text.lines() {
        if let Some(request) = line.strip_prefix("C> ") {
            client.send(request).await;
            owed += usize::from(
                request.contains("\"subscribe\"") || request.contains("\"fen\"") && !request.contains("99"),
            );
            continue;
        }
        let Some(answer) = line.strip_prefix("S> ") else { continue };
        let wanted: Value = serde_json::from_str(answer).unwrap();
        if wanted["response"] == "feed" {
            if owed == 0 && wanted["param"].get("board").is_some() {
                owed = table.play(moves.next().unwrap()).len();
            } else if owed == 0 {
                match &mut pressed {
                    None => clock(&server, Some("white")),
                    Some(seconds) => table.press(5400 - *seconds, 5400 - *seconds),
                }
                pressed = Some(pressed.unwrap_or(0) + 1);
                owed = 1;
            }
            owed -= 1;
        }
        let told = client.next().await.unwrap();
        assert_eq!(form(&told), form(&wanted), "{line}\n{told}");
        assert_eq!((&told["response"], &told["id"]), (&wanted["response"], &wanted["id"]), "{told}");
        let (told, wanted) = (&told["param"], &wanted["param"]);
        for key in ["serialnr", "flipped", "start", "san"] {
            assert_eq!(told.get(key), wanted.get(key), "{line}");
        }
        heard += 1;
    }
    assert!(heard > 3 && owed == 0, "{heard}, {owed}");
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_plays() {
    plays("playing.txt").await;
}

#[tokio::test]
async fn a_client_that_looks_on() {
    plays("looking-on.txt").await;
}
