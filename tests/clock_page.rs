//! The clock page in a real browser, fed by the real server: what players and arbiters see beside the board.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/cdp.rs"]
#[allow(dead_code)]
mod cdp;
#[path = "support/hall.rs"]
#[allow(dead_code)]
mod hall;
#[path = "support/page.rs"]
#[allow(dead_code)]
mod page;

use cdp::Browser;
use hall::{Game, Server};
use page::{LOWEST_CONTRAST, assert_no_overflow, picture, text, wait_for_text};
use serde_json::{Value, json};
use touchmoved::{feed::Hub, publish::ClockFace};

const FACE: ClockFace = ClockFace {
    white_ms: Some(5_430_000),
    black_ms: Some(5_430_000),
    running: None,
    delay_ms: 0,
    white_flag: false,
    black_flag: false,
};

fn hub(boards: &[&'static str]) -> Hub {
    let hub = Hub::new();
    for board in boards {
        hub.set(Game::new(board).state("Ilse Alder", "Oskar Vane"));
        hub.show_clock(board, FACE);
    }
    hub
}

const WHITE: &str = "[data-side=white] .time";
const BLACK: &str = "[data-side=black] .time";

/// Where the sides stand, and how large their times are, as a share of the window.
const LAYOUT: &str = "['white', 'black'].map(side => { \
    const box = document.querySelector(`[data-side=${side}]`).getBoundingClientRect(); \
    const time = document.querySelector(`[data-side=${side}] .time`).getBoundingClientRect(); \
    return { x: box.x, y: box.y, wide: time.width / innerWidth, tall: time.height / innerHeight, \
             inside: time.left >= box.left && time.right <= box.right && time.bottom <= box.bottom }; })";

#[tokio::test]
async fn the_page_shows_two_times_and_whose_runs_and_nothing_else() {
    let server = Server::local(hub(&["1"])).await;
    let mut browser = Browser::start().await;
    browser.resize(1280, 800, false).await;
    browser.open(&server.url("clock")).await;
    wait_for_text(&mut browser, WHITE, "1:30:30").await;
    assert_eq!(text(&mut browser, BLACK).await, "1:30:30");
    assert_eq!(browser.evaluate("document.querySelectorAll('.running, .fallen').length").await, json!(0));

    // It stands until it runs, and counts down by itself.
    server.hub.show_clock("1", ClockFace { running: Some("white"), ..FACE });
    browser.wait_for("document.querySelector('[data-side=white]').matches('.running')").await;
    wait_for_text(&mut browser, WHITE, "1:30:29").await;
    assert_eq!(text(&mut browser, BLACK).await, "1:30:30");

    // A delay is waited for.
    let delayed = ClockFace { running: Some("black"), black_ms: Some(65_000), delay_ms: 1200, ..FACE };
    server.hub.show_clock("1", delayed);
    browser.wait_for("document.querySelector('[data-side=black]').matches('.running')").await;
    assert_eq!(text(&mut browser, BLACK).await, "1:05");
    wait_for_text(&mut browser, BLACK, "1:03").await;

    // The last seconds, and the flag.
    let last = ClockFace { running: Some("white"), white_ms: Some(400), black_ms: Some(61_000), ..FACE };
    server.hub.show_clock("1", last);
    wait_for_text(&mut browser, WHITE, "0:00").await;
    assert_eq!(browser.evaluate("document.querySelectorAll('.fallen').length").await, json!(0));
    server.hub.show_clock("1", ClockFace { white_ms: Some(0), white_flag: true, ..last });
    browser.wait_for("document.querySelector('[data-side=white]').matches('.fallen')").await;
    assert_eq!(
        browser
            .evaluate("getComputedStyle(document.querySelector('[data-side=white] .flag')).visibility")
            .await,
        json!("visible")
    );
    assert_eq!(
        browser.evaluate("document.body.innerText.match(/[a-z]+/gi).join(' ')").await,
        json!("White Flag Black")
    );
    let contrast = browser.evaluate(LOWEST_CONTRAST).await;
    assert!(
        contrast[0].as_f64().unwrap() >= 7.0 || contrast[1].as_str().unwrap().contains("flag"),
        "{contrast}"
    );

    // Only its own files and its own stream, of its own origin.
    let origin = server.url("");
    let requests = browser.requests();
    let asked: Vec<&str> = requests.iter().filter_map(|url| url.strip_prefix(&origin)).collect();
    for path in &asked {
        let known = ["clock", "clock.css", "clock.js", "favicon.svg", "api/clocks", "api/clocks/1/events"];
        assert!(known.contains(path), "{path}");
    }
    assert!(requests.iter().all(|url| url.starts_with(&origin) || url == "about:blank"));
    assert!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
    server.stop().await;
}

#[tokio::test]
async fn the_times_fill_the_screen_either_way_up() {
    let server = Server::local(hub(&["1", "2"])).await;
    server.hub.show_clock("2", ClockFace { running: Some("black"), black_flag: true, ..FACE });
    let mut browser = Browser::start().await;

    // Two boards: the page asks which.
    browser.resize(1280, 800, false).await;
    browser.open(&server.url("clock?left=black")).await;
    wait_for_text(&mut browser, "#boards li:nth-child(2) a", "Board 2").await;
    let link =
        browser.evaluate("document.querySelector('#boards li:nth-child(2) a').getAttribute('href')").await;
    assert_eq!(link, json!("/clock?left=black&board=2"));

    for (width, height, name) in
        [(1280, 800, "clock-landscape.png"), (800, 1280, "clock-portrait.png"), (390, 844, "clock-phone.png")]
    {
        browser.resize(width, height, width < 500).await;
        browser.open(&server.url("clock?board=2&left=black")).await;
        wait_for_text(&mut browser, WHITE, "1:30:30").await;
        assert_no_overflow(&mut browser).await;
        let layout = browser.evaluate(LAYOUT).await;
        let number = |side: usize, key: &str| layout[side][key].as_f64().unwrap();
        let landscape = width > height;
        let axis = if landscape { "x" } else { "y" };
        assert!(number(1, axis) < number(0, axis), "Black comes first: {layout}");
        let least = if landscape { 0.4 } else { 0.8 };
        for side in [0, 1] {
            assert!(number(side, "wide") > least, "{name}: {layout}");
            assert_eq!(layout[side]["inside"], json!(true), "{name}: {layout}");
        }
        browser.screenshot(&picture(name)).await;
    }
    browser.open(&server.url("clock?board=1")).await;
    wait_for_text(&mut browser, WHITE, "1:30:30").await;
    let layout: Value = browser.evaluate(LAYOUT).await;
    assert!(layout[0]["y"].as_f64() < layout[1]["y"].as_f64(), "White comes first: {layout}");
    assert!(browser.complaints().is_empty(), "{:#?}", browser.complaints());
    server.stop().await;
}
