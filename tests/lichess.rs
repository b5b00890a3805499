//! Pushes to Lichess: the feeds in this process, against a server with the rules of Lichess.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/lichess.rs"]
mod server;
#[path = "feeds/table.rs"]
#[allow(dead_code)]
mod table;

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use server::{Lichess, Pushed, ROUND, Scripted, TOKEN};
use table::{Table, get, soon};
use tokio::{sync::oneshot, task::JoinHandle};
use touchmoved::{
    feed::{
        FeedConfig, FeedError, Hub, bind,
        lichess::{Bearer, Push, Server, Timing, Trust},
    },
    publish::FeedEvent,
};

/// Short waits; an answer may take as long as a busy machine needs.
fn timing() -> Timing {
    Timing {
        interval: Duration::from_millis(20),
        first_retry: Duration::from_millis(20),
        longest_retry: Duration::from_millis(100),
        slow_retry: Duration::from_millis(50),
        ..Timing::default()
    }
}

/// The feeds that push, and the operator's address.
struct Feeds {
    hub: Hub,
    http: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), FeedError>>,
}

impl Feeds {
    async fn start(hub: &Hub, address: SocketAddr, timing: Timing) -> Feeds {
        let server = Server { tls: false, host: address.ip().to_string(), port: address.port() };
        let push = Push::new(ROUND, server, Bearer::parse(TOKEN).unwrap(), &Trust::System).unwrap();
        let http = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let feeds = bind(FeedConfig { http, livechess: None, ..FeedConfig::default() }).await.unwrap();
        let http = feeds.http().unwrap();
        let (stop, stopped) = oneshot::channel();
        let feeds = feeds.pushing(Some(push.timed(timing)));
        let task = tokio::spawn(feeds.serve(hub.clone(), async { stopped.await.unwrap_or(()) }));
        Feeds { hub: hub.clone(), http, stop, task }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        soon(self.task).await.unwrap().unwrap();
    }

    /// How the pushes stand.
    async fn state(&self) -> Value {
        get(self.http, "/api/push", &[]).await.json()["lichess"].clone()
    }

    /// Waits until they stand so.
    async fn until(&self, holds: impl Fn(&Value) -> bool) -> Value {
        soon(async {
            loop {
                let state = self.state().await;
                if holds(&state) {
                    return state;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
    }

    /// What a person should see to.
    async fn troubles(&self) -> Value {
        get(self.http, "/healthz", &[]).await.json()["troubles"].clone()
    }
}

/// Waits for a request of which this holds, and gives all up to it.
async fn until(lichess: &Lichess, holds: impl Fn(&Pushed) -> bool) -> Vec<Pushed> {
    soon(async {
        loop {
            let mut requests = lichess.requests();
            if let Some(at) = requests.iter().position(&holds) {
                requests.truncate(at + 1);
                return requests;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
}

/// How many half-moves each game of a push has.
fn plies(pushed: &Pushed) -> Vec<usize> {
    pushed.games().iter().map(|game| game.moves.len()).collect()
}

const OPENING: [&str; 12] =
    ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7", "f1e1", "b7b5"];

#[tokio::test]
async fn every_push_has_all_boards_in_their_order() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    // In the order of the configuration, which is neither that of names nor that of numbers.
    let mut tables: Vec<Table> = ["10", "2", "b", "a"].map(|id| Table::new(&hub, id)).into();
    let feeds = Feeds::start(&hub, lichess.address, timing()).await;
    assert_eq!(
        plies(&until(&lichess, |_| true).await[0]),
        [0, 0, 0, 0],
        "the list is complete from the first on"
    );
    for (index, uci) in [(2, "e2e4"), (0, "d2d4"), (3, "e2e4"), (2, "c7c5"), (1, "g1f3")] {
        tables[index].play(uci);
        let before = tables.iter().map(|table| table.state().plies.len()).collect::<Vec<_>>();
        until(&lichess, |pushed| plies(pushed) == before).await;
    }
    let requests = lichess.requests();
    for pushed in &requests {
        let boards: Vec<String> = pushed.games().iter().map(|game| game.tag("Board").to_owned()).collect();
        assert_eq!(boards, ["10", "2", "b", "a"]);
        assert!(pushed.games().iter().all(|game| game.error.is_none()));
        // What the documentation of the API and its clients in other languages send.
        assert_eq!(
            (pushed.method.as_str(), pushed.path.as_str()),
            ("POST", "/api/broadcast/round/AbCdEfGh/push")
        );
        assert_eq!(pushed.header("authorization"), format!("Bearer {TOKEN}"));
        assert_eq!(pushed.header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(pushed.header("content-length"), pushed.body.len().to_string());
        assert!(pushed.header("user-agent").starts_with("touchmoved/"));
        assert_eq!(pushed.header("host"), lichess.address.to_string());
    }
    assert!(requests.windows(2).all(|pair| pair[0].body != pair[1].body));
    feeds.stop().await;
}

#[tokio::test]
async fn what_happens_during_a_push_goes_with_the_next_one() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let mut table = Table::new(&hub, "1");
    let feeds = Feeds::start(&hub, lichess.address, timing()).await;
    until(&lichess, |_| true).await;
    lichess.script([Scripted { after: Duration::from_millis(500), ..Scripted::default() }]);
    table.play(OPENING[0]);
    for uci in &OPENING[1..] {
        table.play(uci);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let requests = until(&lichess, |pushed| plies(pushed) == [12]).await;
    assert!(requests.len() <= 12, "{}", requests.len());
    assert_eq!(lichess.most_under_way(), 1);
    assert!(requests.windows(2).all(|pair| plies(&pair[0]) < plies(&pair[1])));
    // What changes no score is not pushed.
    let known = lichess.requests().len();
    for _ in 0..50 {
        hub.publish("1", vec![FeedEvent::Board { board: "8/8/8/8/8/8/8/8".to_owned() }]);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(lichess.requests().len(), known);
    feeds.stop().await;
}

#[tokio::test]
async fn the_clock_comes_with_the_press() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let mut table = Table::new(&hub, "1");
    let feeds = Feeds::start(&hub, lichess.address, timing()).await;
    table.play("e2e4");
    until(&lichess, |pushed| plies(pushed) == [1] && !pushed.body.contains("%clk")).await;
    table.press(5390, 5400);
    until(&lichess, |pushed| pushed.games()[0].comments == ["[%clk 1:29:50]"]).await;
    table.play("e7e5");
    table.press(5390, 5395);
    // Lichess takes the tag for the time of the last move, which this one has not yet.
    table.play("g1f3");
    let requests = until(&lichess, |pushed| plies(pushed) == [3]).await;
    let game = &requests.last().unwrap().games()[0];
    assert_eq!((game.tag("WhiteClock"), game.tag("BlackClock")), ("", "1:29:55"));
    table.press(5385, 5395);
    let requests = until(&lichess, |pushed| pushed.games()[0].comments.len() == 3).await;
    assert_eq!(requests.last().unwrap().games()[0].tag("WhiteClock"), "1:29:45");
    feeds.stop().await;
}

#[tokio::test]
async fn what_was_played_during_an_outage_comes_in_one_push() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let mut table = Table::new(&hub, "1");
    let address = lichess.address;
    let feeds = Feeds::start(&hub, address, timing()).await;
    until(&lichess, |_| true).await;
    drop(lichess);
    for uci in OPENING {
        table.play(uci);
    }
    let state = feeds.until(|state| state["failures_in_a_row"].as_u64() >= Some(3)).await;
    assert_eq!(state["state"], "retrying");
    assert!(state["error"].as_str().unwrap().contains("cannot be reached"), "{state}");
    assert_eq!(feeds.troubles().await[0]["what"], "lichess");
    let lichess = Lichess::start_at(address);
    assert_eq!(plies(&until(&lichess, |_| true).await[0]), [12]);
    let state = feeds.until(|state| state["state"] == "ok").await;
    assert_eq!((&state["games"][0]["moves"], &state["failures_in_a_row"]), (&12.into(), &0.into()));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(lichess.requests().len(), 1, "and in no other");
    feeds.stop().await;
}

#[tokio::test]
async fn retry_after_is_kept_to_in_seconds_and_as_a_date() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT".to_owned();
    let two_later = "Sun, 06 Nov 1994 08:49:39 GMT".to_owned();
    for headers in [vec![("retry-after", "2".to_owned())], vec![("retry-after", two_later), ("date", date)]] {
        let lichess = Lichess::start();
        let hub = Hub::with_run("run");
        let mut table = Table::new(&hub, "1");
        lichess.script([Scripted { headers, ..Scripted::status(503) }]);
        let feeds = Feeds::start(&hub, lichess.address, timing()).await;
        until(&lichess, |_| true).await;
        table.play("e2e4");
        let requests = until(&lichess, |pushed| pushed.status == 200).await;
        assert_eq!(requests.len(), 2);
        let wait_us = requests[1].at.since(requests[0].at);
        assert!(wait_us >= 2_000_000, "{wait_us}");
        feeds.stop().await;
    }
}

#[tokio::test]
async fn a_refusal_is_told_to_the_operator_and_tried_again() {
    for (status, word) in
        [(401, "token"), (403, "contributor"), (404, "round"), (413, "large"), (302, "elsewhere")]
    {
        let lichess = Lichess::start();
        let elsewhere = Lichess::start();
        let hub = Hub::with_run("run");
        let _table = Table::new(&hub, "1");
        let to = format!("http://{}/api/broadcast/round/{ROUND}/push", elsewhere.address);
        let refusal = Scripted { headers: vec![("location", to)], ..Scripted::status(status) };
        lichess.script(vec![refusal; 3]);
        // Each attempt waits long enough to be looked at.
        let slow = Timing { slow_retry: Duration::from_secs(1), ..timing() };
        let feeds = Feeds::start(&hub, lichess.address, slow).await;
        let state = feeds.until(|state| state["state"] == "refused").await;
        assert_eq!(state["last_status"], status);
        assert!(state["error"].as_str().unwrap().contains(word), "{state}");
        let troubles = feeds.troubles().await;
        assert_eq!(troubles[0]["what"], "lichess");
        assert!(troubles[0].get("board").is_none(), "{troubles}");
        feeds.until(|state| state["state"] == "ok").await;
        assert!(elsewhere.requests().is_empty(), "a token goes nowhere else");
        feeds.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let _table = Table::new(&hub, "1");
    lichess.script([Scripted { after: Duration::from_secs(3600), ..Scripted::default() }]);
    let wait = Duration::from_secs(2);
    let patience = Timing { answer: wait, first_retry: wait, longest_retry: wait, ..timing() };
    let feeds = Feeds::start(&hub, lichess.address, patience).await;
    let state = feeds.until(|state| !state["error"].is_null()).await;
    assert!(state["error"].as_str().unwrap().contains("does not answer within 2 s"), "{state}");
    feeds.until(|state| state["state"] == "ok").await;
    feeds.stop().await;
}

#[tokio::test]
async fn a_game_that_is_not_taken_is_told_of_until_it_is() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let mut tables = ["1", "2"].map(|id| Table::new(&hub, id));
    let bad = format!(
        "{{\"games\":[{{\"tags\":{{\"White\":\"One\"}},\"moves\":0}},\
         {{\"tags\":{{\"White\":\"One\"}},\"error\":\"no move Ke9 {TOKEN}\"}}]}}"
    );
    lichess.script([Scripted { body: bad, ..Scripted::status(200) }]);
    let feeds = Feeds::start(&hub, lichess.address, timing()).await;
    let state = feeds.until(|state| state["pushes"] == 1).await;
    assert_eq!((&state["state"], &state["games"][1]["error"]), (&"ok".into(), &"no move Ke9 (token)".into()));
    let troubles = feeds.troubles().await.to_string();
    assert!(troubles.contains("\"board\":\"2\"") && troubles.contains("Ke9"), "{troubles}");
    let metrics = get(feeds.http, "/metrics", &[]).await.body;
    assert!(metrics.contains("touchmoved_lichess_game_failed{board=\"2\"} 1\n"), "{metrics}");
    tables[1].play("e2e4");
    let state = feeds.until(|state| state["pushes"] == 2).await;
    assert_eq!(state["games"][1]["moves"], 1);
    // Without a name of Black the game is read and then left out.
    assert!(state["games"][1]["error"].as_str().unwrap().contains("names"), "{state}");
    feeds.stop().await;
}

#[tokio::test]
async fn a_round_with_a_source_is_named_as_the_trouble() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let _table = Table::new(&hub, "1");
    let body =
        "{\"games\":[{\"tags\":{},\"error\":\"The relay has an upstream URL, and cannot be pushed to.\"}]}";
    lichess.script(vec![Scripted { body: body.to_owned(), ..Scripted::status(200) }; 3]);
    let feeds =
        Feeds::start(&hub, lichess.address, Timing { slow_retry: Duration::from_secs(1), ..timing() }).await;
    let state = feeds.until(|state| state["state"] == "refused").await;
    assert!(state["error"].as_str().unwrap().contains("upstream URL"), "{state}");
    feeds.until(|state| state["state"] == "ok").await;
    feeds.stop().await;
}

#[tokio::test]
async fn more_games_than_one_push_holds_are_not_sent_in_part() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let _tables: Vec<Table> = (1..=101).map(|id| Table::new(&hub, &id.to_string())).collect();
    let feeds = Feeds::start(&hub, lichess.address, timing()).await;
    let state = feeds.until(|state| state["state"] == "refused").await;
    assert!(state["error"].as_str().unwrap().contains("101 games"), "{state}");
    assert!(lichess.requests().is_empty());
    feeds.stop().await;
}

#[tokio::test]
async fn what_was_not_pushed_when_the_daemon_ends_is_pushed_then() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let mut table = Table::new(&hub, "1");
    let seldom = Timing { interval: Duration::from_secs(3600), ..timing() };
    let feeds = Feeds::start(&hub, lichess.address, seldom).await;
    feeds.until(|state| state["pushes"] == 1).await;
    table.play("e2e4");
    feeds.stop().await;
    assert_eq!(plies(lichess.requests().last().unwrap()), [1]);
}

/// From the publication of a move to the head of the request at the server: figures, no test.
#[tokio::test]
#[ignore = "prints figures"]
async fn how_soon_a_move_is_on_its_way() {
    let lichess = Lichess::start();
    let hub = Hub::with_run("run");
    let mut tables: Vec<Table> = (1..=20).map(|id| Table::new(&hub, &id.to_string())).collect();
    let feeds = Feeds::start(&hub, lichess.address, Timing::default()).await;
    until(&lichess, |_| true).await;
    let mut waits = Vec::new();
    for (round, uci) in OPENING.iter().enumerate() {
        for (index, table) in tables.iter_mut().take(5).enumerate() {
            // Not in step with the pushes.
            let pause = 37 * ((round * 5 + index) as u64 * 7 % 31);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let began = touchmoved::sysclock::monotonic();
            table.play(uci);
            let pushed = until(&lichess, |pushed| pushed.games()[index].moves.len() == round + 1).await;
            waits.push(pushed.last().unwrap().at.since(began) / 1000);
        }
    }
    waits.sort_unstable();
    let of = |part: usize| waits[(waits.len() - 1) * part / 100];
    println!("publication to request, ms: median {}, 90 % {}, most {}", of(50), of(90), of(100));
    assert_eq!(feeds.hub.boards().len(), 20);
    feeds.stop().await;
}
