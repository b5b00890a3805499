//! The texts that come from outside: sensor logs, configuration, requests, games.

use std::{fmt::Debug, sync::LazyLock};

use serde_json::Value;
use touchmoved::{
    config,
    feed::{
        Hub,
        livechess::{Client, Now},
    },
    game::Board,
    publish::{Publisher, Tags, release::Threshold},
    session::{Session, setup::GameSetup},
    simulate,
    wire::{livechess::Request, sensor_log},
};

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Any line as a header and as an event: no panic, and what is read is written so that it reads
/// back to the same.
pub fn sensor_log_line(data: &[u8]) {
    for line in text(data).lines() {
        if let Ok(setup) = sensor_log::parse_header(line) {
            let written = sensor_log::format_header(&setup);
            let again = must(sensor_log::parse_header(&written), &written);
            // Defaults are written out: the settings are the same, and so is all that is written.
            assert_eq!(sensor_log::format_header(&again), written);
            assert_eq!(GameSetup { config: setup.config.clone(), ..again }, setup);
            if let Ok(board) = Board::new(&setup) {
                assert_eq!(board.session().last_event(), -1);
            }
        }
        if let Ok(stamped) = sensor_log::parse_event(line) {
            let written = sensor_log::format_event(&stamped);
            assert_eq!(must(sensor_log::parse_event(&written), &written), stamped);
            assert!(!written.contains('\n'));
        }
    }
}

fn must<T, E: Debug>(result: Result<T, E>, text: &str) -> T {
    result.unwrap_or_else(|error| panic!("{text} does not read back: {error:?}"))
}

/// Any text as a configuration: no panic, the same answer each time, and every problem has its
/// place in the file and a key, unless the text is no TOML.
pub fn config_text(data: &[u8]) {
    let text = text(data);
    let result = config::parse("a/b.toml", &text);
    assert_eq!(config::parse("a/b.toml", &text), result);
    match result {
        Ok(config) => assert!(!config.boards.is_empty()),
        Err(errors) => {
            assert!(!errors.problems.is_empty());
            // What is missing at the end is told at the line behind the last one.
            let lines = text.matches('\n').count() + 1;
            for problem in &errors.problems {
                assert!((1..=lines).contains(&problem.line) && problem.column >= 1, "{problem}");
                assert!(!problem.message.is_empty());
                assert!(!problem.key.is_empty() || problem.message.starts_with("not TOML: "), "{problem}");
            }
        }
    }
}

/// Any text as a game: no panic; what is read has moves, and a thinking time for all of them or
/// for none.
pub fn pgn_text(data: &[u8]) {
    let text = text(data);
    let lines = text.matches('\n').count() + 1;
    match simulate::pgn::parse(&text) {
        Ok(game) => {
            assert!(!game.moves.is_empty() && game.moves.iter().all(|san| !san.is_empty()));
            assert!(game.think_ms.is_empty() || game.think_ms.len() == game.moves.len());
        }
        Err(simulate::pgn::PgnError::Open { line, .. }) => assert!((1..=lines).contains(&line)),
        Err(simulate::pgn::PgnError::Empty) => {}
    }
}

/// A hub with one game of three plies on board `1`.
static HALL: LazyLock<Hub> = LazyLock::new(|| {
    let history = ["e2e4", "e7e5", "g1f3"].map(str::to_owned).to_vec();
    let setup = GameSetup { history, ..GameSetup::default() };
    let session = Session::new(&setup).unwrap();
    let hub = Hub::with_run("laws");
    hub.set(Publisher::new("1", &setup, Tags::default(), &session).state().clone());
    hub
});

/// Any line as a request of a client of the streams: what is read is written so that it reads back to the same, and
/// what is refused is refused in words of a bounded length.
pub fn stream_request(data: &[u8]) {
    use touchmoved::wire::stream::Request;
    for line in text(data).lines() {
        match Request::parse(line) {
            Ok(Request::Watch(watch)) => {
                let again = format!("?WATCH={};", must(serde_json::to_string(&watch), line));
                assert_eq!(Request::parse(&again), Ok(Request::Watch(watch)), "{line}");
            }
            Ok(Request::Version | Request::Poll) => {}
            Err(reason) => assert!(!reason.is_empty() && reason.len() < 400 + 2 * line.len(), "{reason}"),
        }
    }
}

/// Any lines as the messages of one client: each is answered once, with its own id, and by no
/// more than the messages that the answer leads to.
pub fn livechess_request(data: &[u8]) {
    let now = Now { wall_us: 1_000_000_000_000, mono_us: 50_000_000 };
    let mut client = Client::new(HALL.clone(), Threshold::Completed);
    for message in text(data).lines() {
        client.text(message, now);
        let frames: Vec<String> = std::iter::from_fn(|| client.poll_out()).collect();
        let (answer, events) = frames.split_first().expect("an answer");
        assert!(events.len() <= 2, "{frames:?}");
        let id = serde_json::from_str::<Value>(message).ok().and_then(|value| value.get("id").cloned());
        let id = id.unwrap_or_default();
        let refused = Request::parse(message).is_err();
        let call = format!("{{\"response\":\"call\",\"id\":{id},\"param\":");
        let error = format!("{{\"response\":\"error\",\"id\":{id},\"param\":");
        assert!(answer.starts_with(&error) || !refused && answer.starts_with(&call), "{answer}");
        for frame in &frames {
            let value: Value = must(serde_json::from_str(frame), frame);
            assert!(value["time"].is_u64(), "{frame}");
        }
        assert!(events.iter().all(|event| event.starts_with("{\"response\":\"feed\",\"id\":")));
    }
}
