//! The pages for streams, other sites and walls in a real browser, fed by the real server.
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
use hall::{Game, Server, clock};
use page::{LOWEST_CONTRAST, assert_clean, assert_no_overflow, picture, text, wait_for_text};
use serde_json::{Value, json};
use touchmoved::{feed::Hub, publish::FeedEvent};

const GAME: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1 c8g4";

fn hub(boards: &[&'static str]) -> Hub {
    let hub = Hub::new();
    for board in boards {
        hub.set(Game::with(board, GAME).state("Ilse Alder", "Oskar Vane"));
        hub.publish(board, vec![FeedEvent::Clock(clock(3_725_000, 61_000, Some("white")))]);
    }
    hub
}

async fn is_shown(browser: &mut Browser, selector: &str) -> bool {
    let asked = format!("document.querySelector({})?.checkVisibility() ?? false", json!(selector));
    browser.evaluate(&asked).await == json!(true)
}

#[tokio::test]
async fn an_overlay_is_transparent_and_shows_what_its_address_says() {
    let server = Server::local(hub(&["1", "2"])).await;
    let mut browser = Browser::start().await;
    browser.resize(900, 1000, false).await;
    // As a program for streams shows it: nothing behind the page.
    let clear = json!({"color": {"r": 0, "g": 0, "b": 0, "a": 0}});
    browser.call("Emulation.setDefaultBackgroundColorOverride", clear).await;
    browser.open(&server.url("overlay?board=2&moves=4&size=600")).await;
    wait_for_text(&mut browser, ".moves .last .san", "Bg4").await;
    let moves = browser.evaluate("[...document.querySelectorAll('.moves li')].map(e => e.textContent)").await;
    assert_eq!(moves, json!(["4. Bxc6", "dxc6", "5. O-O", "Bg4"]));
    for element in ["document.documentElement", "document.body"] {
        let colour = browser.evaluate(&format!("getComputedStyle({element}).backgroundColor")).await;
        assert_eq!(colour, "rgba(0, 0, 0, 0)", "{element}");
    }
    let size = "document.querySelector('.board').getBoundingClientRect().width";
    assert_eq!(browser.evaluate(size).await, json!(600));
    wait_for_text(&mut browser, "[data-colour=black] .time", "1:01").await;
    assert!(is_shown(&mut browser, ".name").await && is_shown(&mut browser, ".running .clock").await);
    assert!(!is_shown(&mut browser, "#wrong").await && !is_shown(&mut browser, ".lost").await);
    browser.screenshot(&picture("overlay.png")).await;
    let corner = corner_alpha(&mut browser).await;
    assert_eq!(corner, 0, "the corner of the picture is not clear");

    // Black below, the board and nothing else.
    browser.open(&server.url("overlay?board=1&show=board&side=black&coords=1")).await;
    browser.wait_for("document.querySelectorAll('.man').length > 20").await;
    let first = browser.evaluate("document.querySelector('.board').firstElementChild.dataset.square").await;
    assert_eq!(first, "h1");
    assert!(!is_shown(&mut browser, ".clock").await && !is_shown(&mut browser, ".name").await);
    assert_eq!(
        browser.evaluate("document.querySelector('.board').lastElementChild.dataset.rank ?? ''").await,
        ""
    );
    assert_eq!(browser.evaluate("document.querySelector('[data-square=a8]').dataset.file").await, "a");
    browser.open(&server.url("overlay?board=1&show=clocks&theme=light")).await;
    wait_for_text(&mut browser, "[data-colour=black] .time", "1:01").await;
    assert!(!is_shown(&mut browser, ".board").await && is_shown(&mut browser, ".clock").await);
    assert_no_overflow(&mut browser).await;
    server.stop().await;
}

/// How opaque the upper right corner of the picture is, 0 to 255.
async fn corner_alpha(browser: &mut Browser) -> u64 {
    let params = json!({"format": "png", "clip": {"x": 880, "y": 2, "width": 1, "height": 1, "scale": 1}});
    let shot = browser.call("Page.captureScreenshot", params).await;
    let script = format!(
        "(async () => {{ const image = new Image(); image.src = 'data:image/png;base64,{}'; await image.decode(); \
         const canvas = document.createElement('canvas'); const c = canvas.getContext('2d'); \
         c.drawImage(image, 0, 0); return c.getImageData(0, 0, 1, 1).data[3]; }})()",
        shot["data"].as_str().unwrap()
    );
    let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
    let answer = browser.call("Runtime.evaluate", params).await;
    answer["result"]["value"].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test]
async fn a_wrong_address_is_explained_in_the_page() {
    let server = Server::local(hub(&["1"])).await;
    let mut browser = Browser::start().await;
    browser.open(&server.url("overlay?board=1&sise=400&theme=pink&moves=0")).await;
    browser.wait_for("document.querySelectorAll('#wrong p').length === 3").await;
    let words = text(&mut browser, "#wrong").await;
    assert!(words.contains("There is no parameter “sise”. There are: board, show, side"), "{words}");
    assert!(words.contains("“theme” cannot be “pink”") && words.contains("“moves” cannot be “0”"), "{words}");
    for address in ["embed?board=9", "wall?boards=1,9"] {
        browser.open(&server.url(address)).await;
        browser.wait_for("document.querySelector('#wrong').checkVisibility()").await;
        assert_eq!(text(&mut browser, "#wrong").await, "There is no board “9”. There are: 1.");
    }
    // A wall shows the others.
    let shown =
        browser.evaluate("[...document.querySelectorAll('#wall .title')].map(e => e.textContent)").await;
    assert_eq!(shown.as_array().map(Vec::len), Some(1), "{shown}");
    assert!(is_shown(&mut browser, "#wall .board").await);
    server.stop().await;
}

#[tokio::test]
async fn a_board_in_a_frame_of_another_site_fits_and_reads_well() {
    let server = Server::local(hub(&["1"])).await;
    let mut browser = Browser::start().await;
    for (width, height, theme) in
        [(200, 360, "light"), (320, 480, "dark"), (720, 420, "light"), (1280, 720, "dark")]
    {
        browser.resize(width, height, false).await;
        browser.open(&server.url(&format!("embed?theme={theme}"))).await;
        wait_for_text(&mut browser, ".moves .last .san", "Bg4").await;
        assert_no_overflow(&mut browser).await;
        let board = browser.evaluate("document.querySelector('.board').getBoundingClientRect().height").await;
        assert!(board.as_f64().unwrap() > 150.0, "{width}: {board}");
        let lowest: Value = browser.evaluate(LOWEST_CONTRAST).await;
        assert!(lowest[0].as_f64().unwrap() >= 4.5, "{width}: {lowest}");
        browser.screenshot(&picture(&format!("embed-{width}.png"))).await;
    }
    let words = text(&mut browser, ".game > .hidden-text").await;
    assert!(words.contains("White: king g1") && words.contains("Last move: 5… bishop to g4"), "{words}");
    let label = browser.evaluate("document.querySelector('.board').getAttribute('aria-label')").await;
    assert_eq!(label, "Board 1, White at the bottom");
    assert_clean(&browser, &server);
    // Any site may show this page in a frame, and no other one.
    for (path, rule) in
        [("embed", "frame-ancestors *"), ("wall", "frame-ancestors 'self'"), ("", "frame-ancestors 'self'")]
    {
        let url = json!(server.url(path));
        let expression = format!("fetch({url}).then(r => r.headers.get('content-security-policy'))");
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = browser.call("Runtime.evaluate", params).await;
        let policy = answer["result"]["value"].as_str().unwrap_or_default().to_owned();
        assert!(policy.ends_with(rule), "{path}: {policy}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_wall_shows_sixty_boards_and_follows_them_on_one_stream() {
    let names: Vec<&'static str> = (1..=60).map(|n| &*n.to_string().leak()).collect();
    let server = Server::local(hub(&names)).await;
    let mut browser = Browser::start().await;
    browser.resize(1920, 1080, false).await;
    browser.open(&server.url("wall")).await;
    browser.wait_for("document.querySelectorAll('#wall .game').length === 60").await;
    wait_for_text(&mut browser, "#title", "Harbour Open · Round 3").await;
    assert_no_overflow(&mut browser).await;
    let fits = "document.documentElement.scrollHeight <= innerHeight";
    assert_eq!(browser.evaluate(fits).await, json!(true), "a projector does not scroll");
    browser.screenshot(&picture("wall-60.png")).await;
    server.hub.publish("17", vec![FeedEvent::Result { result: "0-1", termination: None }]);
    let seventeen = "#wall .game:nth-child(17)";
    wait_for_text(&mut browser, &format!("{seventeen} .note"), "0–1, Black won").await;
    let mut game = Game::with("60", GAME);
    server.hub.publish("60", game.play("h2h3"));
    let square = "document.querySelector('#wall .game:last-child [data-square=h3]').classList.contains('to')";
    browser.wait_for(square).await;
    let streams = browser.requests().iter().filter(|url| url.contains("/events")).count();
    assert_eq!(streams, 1);
    assert_clean(&browser, &server);
    // Some of them, in another order, in so many columns.
    browser.open(&server.url("wall?boards=7,2,5&columns=3&theme=dark")).await;
    browser.wait_for("document.querySelectorAll('#wall .game').length === 3").await;
    let titles = browser.evaluate("[...document.querySelectorAll('.title')].map(e => e.textContent)").await;
    assert_eq!(titles, json!(["Board 7", "Board 2", "Board 5"]));
    let lowest: Value = browser.evaluate(LOWEST_CONTRAST).await;
    assert!(lowest[0].as_f64().unwrap() >= 4.5, "{lowest}");
    // On a phone they are scrolled to.
    browser.resize(390, 800, true).await;
    browser.open(&server.url("wall")).await;
    browser.wait_for("document.querySelectorAll('#wall .game').length === 60").await;
    assert_no_overflow(&mut browser).await;
    browser.screenshot(&picture("wall-phone.png")).await;
    server.stop().await;
}

#[tokio::test]
async fn a_picture_that_is_old_says_so_and_its_clocks_stand() {
    let server = Server::local(hub(&["1"])).await;
    let address = server.address;
    let mut browser = Browser::start().await;
    browser.resize(900, 1000, false).await;
    browser.open(&server.url("overlay?board=1")).await;
    wait_for_text(&mut browser, "[data-colour=black] .time", "1:01").await;
    server.stop().await;
    browser.wait_for("document.body.dataset.link === 'lost'").await;
    assert!(is_shown(&mut browser, ".lost").await);
    let time = "document.querySelector('[data-colour=white] .time').textContent";
    let stood = browser.evaluate(time).await;
    tokio::time::sleep(std::time::Duration::from_millis(2200)).await;
    assert_eq!(browser.evaluate(time).await, stood, "nobody knows how the clock runs");
    assert_eq!(browser.evaluate("document.querySelectorAll('.man').length > 20").await, json!(true));
    let server = Server::start(address, hub(&["1"])).await;
    browser.wait_for("document.body.dataset.link === 'live'").await;
    server.stop().await;
}
