//! The web page in a real browser, fed by the real server: what a spectator sees and hears read out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/cdp.rs"]
mod cdp;
#[path = "support/hall.rs"]
mod hall;
#[path = "support/page.rs"]
mod page;

use cdp::Browser;
use hall::{Game, Server, clock};
use page::{LOWEST_CONTRAST, assert_clean, assert_no_overflow, picture, text, wait_for_men, wait_for_text};
use serde_json::{Value, json};
use shakmaty::CastlingMode;
use touchmoved::{
    feed::Hub,
    publish::{FeedEvent, PublicPly},
};

/// A game with captures, castling on both sides and an en passant capture.
const GAME: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1 c8g4 h2h3 h7h5 d2d3 d8f6 b1d2 e8c8 \
    a2a4 g8e7 a4a5 b7b5 a5b6 c7b6 b2b4 h5h4 c1b2 e7g6 d1e1 g6f4 d2c4 g4f3 c4b6 c8b7 b6c4 f3g2 e1e3 g2f1";

#[tokio::test]
async fn the_page_follows_a_game_from_the_first_move_to_the_result() {
    let hub = Hub::new();
    let mut game = Game::new("1");
    hub.set(game.state("Ilse Alder", "Oskar Vane"));
    let server = Server::local(hub).await;
    let mut browser = Browser::start().await;
    browser.resize(1280, 800, false).await;
    browser.open(&server.url("")).await;

    wait_for_men(&mut browser, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR").await;
    let squares = browser.evaluate("document.querySelectorAll('#board [data-square]').length").await;
    assert_eq!(squares, json!(64));
    assert_eq!(text(&mut browser, "h1").await, "Harbour Open");
    assert_eq!(text(&mut browser, "#subtitle").await, "Round 3 · Board 1 · Boat House");
    assert_eq!(text(&mut browser, "[data-seat=top] .name").await, "Oskar Vane");
    assert_eq!(text(&mut browser, "[data-seat=bottom] .name").await, "Ilse Alder");
    assert_eq!(text(&mut browser, "[data-seat=bottom] .time").await, "–:––");
    assert_eq!(text(&mut browser, "#status").await, "Waiting for the game to start");
    assert_eq!(
        browser.evaluate("document.querySelector('#pgn').getAttribute('href')").await,
        "/api/boards/1/pgn"
    );

    // A man in the air is on no square, and the score does not know of it yet.
    let playing = FeedEvent::Status { status: "playing", connected: true };
    let lifted = FeedEvent::Board { board: "rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR".to_owned() };
    server.hub.publish("1", vec![playing, lifted]);
    wait_for_men(&mut browser, "rnbqkbnr/pppppppp/8/8/8/8/PPPP1PPP/RNBQKBNR").await;
    assert_eq!(browser.evaluate("document.querySelectorAll('#moves button').length").await, json!(0));

    for uci in GAME.split_whitespace() {
        let events = game.play(uci);
        server.hub.publish("1", events);
    }
    wait_for_men(&mut browser, &game.placement()).await;
    wait_for_text(&mut browser, "#moves button[aria-current] .san", "Bxf1").await;
    let sans =
        browser.evaluate("[...document.querySelectorAll('#moves .san')].map(s => s.textContent)").await;
    let expected: Vec<&str> = game.plies.iter().map(|played| played.san.as_str()).collect();
    assert_eq!(sans, json!(expected));
    let numbers =
        browser.evaluate("document.querySelector('#moves').lastElementChild.innerText.split('\\n')").await;
    assert_eq!(numbers, json!(["18.", "Qe3", "1:23:46", "Bxf1", "1:23:35"]));
    assert_eq!(text(&mut browser, "#status").await, "In play, White to move");
    assert_eq!(text(&mut browser, "#announce").await, "Black: bishop takes f1.");
    let marked =
        "[...document.querySelectorAll('#board .from, #board .to')].map(s => s.dataset.square).sort()";
    assert_eq!(browser.evaluate(marked).await, json!(["f1", "g2"]));

    a_correction_an_undo_and_a_late_clock(&mut browser, &server, &game).await;
    the_clocks_run(&mut browser, &server).await;

    server.hub.publish("1", vec![FeedEvent::Status { status: "playing", connected: false }]);
    wait_for_text(&mut browser, "#status", "Board not connected").await;
    server.hub.publish("1", vec![FeedEvent::Status { status: "paused", connected: true }]);
    wait_for_text(&mut browser, "#status", "Paused").await;
    let ended = FeedEvent::Status { status: "ended", connected: true };
    server.hub.publish("1", vec![FeedEvent::Result { result: "1/2-1/2", termination: None }, ended]);
    wait_for_text(&mut browser, "#status", "½–½, draw").await;
    wait_for_text(&mut browser, "#announce", "½–½, draw.").await;

    // The next game on the same board begins with an empty list.
    server.hub.set(Game::new("1").state("Mira Oduya", "Tove Sandqvist"));
    wait_for_text(&mut browser, "[data-seat=top] .name", "Tove Sandqvist").await;
    browser.wait_for("document.querySelectorAll('#moves li').length === 0").await;
    wait_for_text(&mut browser, "#status", "Waiting for the game to start").await;

    assert_clean(&browser, &server);
    server.stop().await;
}

/// The last move is taken back and another one played; an earlier one is corrected.
async fn a_correction_an_undo_and_a_late_clock(browser: &mut Browser, server: &Server, game: &Game) {
    let mut other =
        Game::with("1", &game.plies[..35].iter().map(|p| format!("{} ", p.uci)).collect::<String>());
    server.hub.publish("1", vec![FeedEvent::Undo { n: 1, fen: other.fen() }]);
    wait_for_text(browser, "#moves button[aria-current] .san", "Qe3").await;
    wait_for_text(browser, "#announce", "The last move was taken back.").await;

    let mut events = other.play("g2h3");
    if let Some(FeedEvent::Move { played, .. }) = events.last_mut() {
        played.completed = false;
        played.clock_ms = None;
    }
    server.hub.publish("1", events);
    wait_for_text(browser, "#moves button[aria-current] .san", "Bxh3").await;
    assert_eq!(text(browser, "#moves button[aria-current] .left").await, "");
    server.hub.publish("1", vec![FeedEvent::Completed { ply: 36, clock_ms: Some(5_012_900), pressed: true }]);
    wait_for_text(browser, "#moves button[aria-current] .left", "1:23:32").await;

    let played = PublicPly {
        uci: "h7h6".to_owned(),
        san: "h6".to_owned(),
        completed: true,
        clock_ms: None,
        elapsed_ms: None,
    };
    server.hub.publish("1", vec![FeedEvent::Correct { ply: 12, played, fen: other.fen() }]);
    wait_for_text(browser, "#moves button[data-ply='12'] .san", "h6").await;
    wait_for_text(browser, "#announce", "Correction of 6…: pawn to h6.").await;
    wait_for_men(browser, &other.placement()).await;
}

/// A running clock goes on between two readings and is marked; the other one stands.
async fn the_clocks_run(browser: &mut Browser, server: &Server) {
    server.hub.publish("1", vec![FeedEvent::Clock(clock(3_725_000, 61_000, None))]);
    wait_for_text(browser, "[data-seat=bottom] .time", "1:02:05").await;
    wait_for_text(browser, "[data-seat=top] .time", "1:01").await;
    assert_eq!(browser.evaluate("document.querySelectorAll('.player.running').length").await, json!(0));
    server.hub.publish("1", vec![FeedEvent::Clock(clock(3_725_000, 9_999, Some("black")))]);
    browser.wait_for("document.querySelector('[data-seat=top]').matches('.running.short')").await;
    browser
        .wait_for("/^0:0[0-8]\\.\\d$/.test(document.querySelector('[data-seat=top] .time').textContent)")
        .await;
    assert_eq!(text(browser, "[data-seat=bottom] .time").await, "1:02:05");
    assert_eq!(browser.evaluate("document.querySelectorAll('.player.running').length").await, json!(1));
    server.hub.publish("1", vec![FeedEvent::Clock(clock(3_725_000, 0, Some("black")))]);
    wait_for_text(browser, "[data-seat=top] .time", "0:00.0").await;
}

#[tokio::test]
async fn a_visitor_steps_through_the_game_and_turns_the_board() {
    let hub = Hub::new();
    let game = Game::with("1", GAME);
    hub.set(game.state("Ilse Alder", "Oskar Vane"));
    let server = Server::local(hub).await;
    let mut browser = Browser::start().await;
    browser.resize(1280, 800, false).await;
    browser.open(&server.url("")).await;
    wait_for_men(&mut browser, &game.placement()).await;

    // Every position of the score, one step at a time.
    let moves: Vec<&str> = GAME.split_whitespace().collect();
    for ply in (0..moves.len()).rev() {
        browser.press("ArrowLeft").await;
        wait_for_men(&mut browser, &Game::with("1", &moves[..ply].join(" ")).placement()).await;
    }
    assert_eq!(text(&mut browser, "#status").await, "Start of the game");
    assert_eq!(browser.evaluate("document.querySelector('#back').ariaDisabled").await, "true");

    // While a visitor looks back, a new move goes into the list and nowhere else.
    browser.evaluate("document.querySelector('#moves button[data-ply=\"9\"]').click()").await;
    let castled = Game::with("1", &moves[..9].join(" ")).placement();
    wait_for_men(&mut browser, &castled).await;
    assert_eq!(text(&mut browser, "#status").await, "Position after 5. O-O");
    let mut goes_on = Game::with("1", GAME);
    server.hub.publish("1", goes_on.play("a1f1"));
    wait_for_text(&mut browser, "#moves li:last-child .san", "Rxf1").await;
    wait_for_men(&mut browser, &castled).await;
    let live = "document.querySelector('#live')";
    assert_eq!(browser.evaluate(&format!("{live}.ariaPressed")).await, "false");
    browser.evaluate(&format!("{live}.click()")).await;
    wait_for_men(&mut browser, &goes_on.placement()).await;
    assert_eq!(browser.evaluate(&format!("{live}.ariaPressed")).await, "true");

    // The list is one tab stop with arrow keys inside, and the latest move is in view.
    assert_eq!(
        browser.evaluate("document.querySelectorAll('#moves button[tabindex=\"0\"]').length").await,
        json!(1)
    );
    browser.evaluate("document.querySelector('#moves button[tabindex=\"0\"]').focus()").await;
    let inside = "(() => { const box = document.querySelector('#scroll').getBoundingClientRect(); \
        const row = document.activeElement.getBoundingClientRect(); \
        return row.top >= box.top && row.bottom <= box.bottom; })()";
    assert_eq!(browser.evaluate(inside).await, json!(true));
    browser.press("ArrowUp").await;
    browser.wait_for("document.activeElement.dataset.ply === '35'").await;
    browser.press("Home").await;
    browser.wait_for("document.activeElement.dataset.ply === '1'").await;
    assert_eq!(browser.evaluate(inside).await, json!(true));
    let words = browser.evaluate("document.activeElement.ariaLabel").await;
    assert_eq!(words, "1. e4: pawn to e4, 1:30:00 left");
    assert_eq!(browser.evaluate("scrollY").await, json!(0));

    the_position_is_told_in_words(&mut browser).await;
    the_board_turns(&mut browser).await;
    assert_clean(&browser, &server);
    server.stop().await;
}

/// After 1. e4, for a screen reader.
async fn the_position_is_told_in_words(browser: &mut Browser) {
    let words = text(browser, "#position").await;
    assert_eq!(
        words,
        "White: king e1; queen d1; rooks a1, h1; bishops c1, f1; knights b1, g1; \
         pawns a2, b2, c2, d2, e4, f2, g2, h2. \
         Black: king e8; queen d8; rooks a8, h8; bishops c8, f8; knights b8, g8; \
         pawns a7, b7, c7, d7, e7, f7, g7, h7. Last move: 1. pawn to e4."
    );
    let tree = browser.call("Accessibility.getFullAXTree", json!({})).await;
    let nodes = tree["nodes"].as_array().unwrap();
    let board =
        nodes.iter().find(|node| node["name"]["value"] == "Chess board, White at the bottom").unwrap();
    assert_eq!(board["description"]["value"], json!(words));
    let unnamed: Vec<&Value> = nodes
        .iter()
        .filter(|node| node["ignored"] == json!(false))
        .filter(|node| {
            ["button", "link", "image"].contains(&node["role"]["value"].as_str().unwrap_or_default())
        })
        .filter(|node| node["name"]["value"].as_str().unwrap_or_default().is_empty())
        .collect();
    assert!(unnamed.is_empty(), "without a name: {unnamed:#?}");
}

async fn the_board_turns(browser: &mut Browser) {
    let corner = "document.querySelector('#board').firstElementChild.dataset.square";
    assert_eq!(browser.evaluate(corner).await, "a8");
    browser.evaluate("document.querySelector('#flip').click()").await;
    assert_eq!(browser.evaluate(corner).await, "h1");
    assert_eq!(text(browser, ".ranks").await, "12345678");
    assert_eq!(text(browser, ".files").await, "hgfedcba");
    assert_eq!(text(browser, "[data-seat=top] .name").await, "Ilse Alder");
    assert_eq!(browser.evaluate("document.querySelector('[data-square=e4]').dataset.man").await, "P");
}

#[tokio::test]
async fn a_chess960_game_that_black_resumes() {
    let hub = Hub::new();
    let start = "1k6/7P/8/8/8/8/p7/4RKR1 b GE - 0 30";
    let moves = ["a2a1q", "f1g1", "b8b7", "h7h8n"];
    let after = |n: usize| {
        let mut game = Game::from("1", start, CastlingMode::Chess960);
        moves[..n].iter().for_each(|uci| drop(game.play(uci)));
        game
    };
    hub.set(after(4).state("Ilse Alder", "Oskar Vane"));
    let server = Server::local(hub).await;
    let mut browser = Browser::start().await;
    browser.open(&server.url("")).await;
    wait_for_men(&mut browser, &after(4).placement()).await;
    assert_eq!(text(&mut browser, "#subtitle").await, "Round 3 · Board 1 · Boat House · Chess960");
    let rows =
        browser.evaluate("[...document.querySelectorAll('#moves li')].map(row => row.innerText)").await;
    assert_eq!(
        rows,
        json!(["30.\n…\na1=Q\n1:30:00", "31.\nO-O\n1:29:49\nKb7\n1:29:38", "32.\nh8=N\n1:29:27"])
    );
    for ply in (0..4).rev() {
        browser.press("ArrowLeft").await;
        wait_for_men(&mut browser, &after(ply).placement()).await;
    }
    browser.press("ArrowRight").await;
    wait_for_text(&mut browser, "#status", "Position after 30… a1=Q").await;
    assert_clean(&browser, &server);
    server.stop().await;
}

#[tokio::test]
async fn several_boards_have_cards_and_addresses() {
    let hub = Hub::new();
    let (first, second) = (Game::with("1", "e2e4 c7c5"), Game::with("2", "d2d4 g8f6 c2c4"));
    hub.set(first.state("Ilse Alder", "Oskar Vane"));
    hub.set(second.state("A name that is much longer than the card which it stands on", "Tove Sandqvist"));
    hub.set(Game::new("a/ü 3").state("Paulo Restrado", "Anneke Wilgh"));
    let server = Server::local(hub).await;
    let mut browser = Browser::start().await;
    browser.resize(360, 740, true).await;
    browser.open(&server.url("?board=2")).await;

    wait_for_men(&mut browser, &second.placement()).await;
    assert_eq!(text(&mut browser, "[data-seat=top] .name").await, "Tove Sandqvist");
    let cards =
        "[...document.querySelectorAll('#boards a')].map(a => a.querySelector('.card-head').innerText)";
    let told = browser.evaluate(cards).await;
    assert_eq!(told, json!(["Board 1\n1… c5", "Board 2\n2. c4", "Board a/ü 3\nwaiting"]));
    assert_no_overflow(&mut browser).await;

    browser.evaluate("document.querySelector('#boards a[data-board=\"1\"]').click()").await;
    wait_for_men(&mut browser, &first.placement()).await;
    assert_eq!(browser.evaluate("location.search").await, "?board=1");
    browser
        .evaluate("document.querySelector('#boards a:not([data-board=\"1\"],[data-board=\"2\"])').click()")
        .await;
    wait_for_text(&mut browser, "[data-seat=top] .name", "Anneke Wilgh").await;
    let pgn = browser.evaluate("document.querySelector('#pgn').getAttribute('href')").await;
    assert_eq!(pgn, "/api/boards/a%2F%C3%BC%203/pgn");
    browser.evaluate("history.back()").await;
    wait_for_men(&mut browser, &first.placement()).await;

    // What happens on another board stays on its card.
    let mut goes_on = Game::with("2", "d2d4 g8f6 c2c4");
    server.hub.publish("2", goes_on.play("e7e6"));
    wait_for_text(&mut browser, "#boards a[data-board='2'] .card-move", "2… e6").await;
    wait_for_men(&mut browser, &first.placement()).await;
    assert_eq!(text(&mut browser, "#announce").await, "");
    assert_clean(&browser, &server);
    server.stop().await;
}

#[tokio::test]
async fn the_page_fits_a_phone_and_a_dark_room() {
    let hub = Hub::new();
    let game = Game::with("1", GAME);
    let mut state = game.state("Ilse Alder", "Oskar Vane");
    state.clock = Some(clock(4_987_000, 5_015_000, Some("white")));
    hub.set(state);
    let server = Server::local(hub).await;
    let mut browser = Browser::start().await;
    browser.resize(1280, 800, false).await;
    browser.open(&server.url("")).await;
    wait_for_men(&mut browser, &game.placement()).await;

    let running = "document.querySelector('[data-seat=bottom].running .time').textContent";
    browser.wait_for(&format!("/^1:2\\d:\\d\\d$/.test({running})")).await;

    let mut backgrounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.prefer(&[("prefers-color-scheme", scheme)]).await;
        for (name, width, height, mobile) in [("wide", 1280, 800, false), ("phone", 360, 740, true)] {
            browser.resize(width, height, mobile).await;
            browser.wait_for(&format!("innerWidth === {width}")).await;
            assert_no_overflow(&mut browser).await;
            let lowest = browser.evaluate(LOWEST_CONTRAST).await;
            assert!(lowest[0].as_f64().unwrap() >= 4.5, "{scheme}, {name}: contrast of {lowest}");
            // Both columns side by side, or one below the other.
            let beside = "document.querySelector('.side').getBoundingClientRect().left >= \
                document.querySelector('.table').getBoundingClientRect().right";
            assert_eq!(browser.evaluate(beside).await, json!(!mobile));
            let side = "document.querySelector('[data-square=a1]').getBoundingClientRect().width";
            browser.wait_for("document.getAnimations().length === 0").await;
            assert!(browser.evaluate(side).await.as_f64().unwrap() >= 40.0, "small squares on {name}");
            browser.screenshot(&picture(&format!("{name}-{scheme}.png"))).await;
        }
        backgrounds.push(browser.evaluate("getComputedStyle(document.body).backgroundColor").await);
    }
    assert_ne!(backgrounds[0], backgrounds[1], "light and dark look the same");

    let moves = "getComputedStyle(document.querySelector('#board .man')).animationName";
    assert_eq!(browser.evaluate(moves).await, "appear");
    browser.prefer(&[("prefers-reduced-motion", "reduce")]).await;
    assert_eq!(browser.evaluate(moves).await, "none");
    assert_clean(&browser, &server);
    server.stop().await;
}

#[tokio::test]
async fn the_page_comes_back_after_the_daemon_was_away() {
    let hub = Hub::new();
    hub.set(Game::with("1", "e2e4").state("Ilse Alder", "Oskar Vane"));
    let server = Server::local(hub).await;
    let mut browser = Browser::start().await;
    browser.open(&server.url("")).await;
    wait_for_text(&mut browser, "#moves li:last-child .san", "e4").await;
    wait_for_text(&mut browser, "#link", "Live").await;

    let address = server.address;
    server.stop().await;
    wait_for_text(&mut browser, "#link", "Reconnecting…").await;
    assert_eq!(text(&mut browser, "#moves li:last-child .san").await, "e4");

    // Another run of the daemon, with a hub that knows more.
    let game = Game::with("1", "e2e4 e7e5 g1f3");
    let hub = Hub::new();
    hub.set(game.state("Ilse Alder", "Oskar Vane"));
    let server = Server::start(address, hub).await;
    wait_for_text(&mut browser, "#link", "Live").await;
    wait_for_men(&mut browser, &game.placement()).await;
    wait_for_text(&mut browser, "#moves li:last-child .san", "Nf3").await;
    let origin = server.url("");
    assert!(browser.requests().iter().all(|url| url.starts_with(&origin) || url == "about:blank"));
    server.stop().await;
}

#[tokio::test]
async fn an_empty_hall_says_so_and_fills() {
    let server = Server::local(Hub::new()).await;
    let mut browser = Browser::start().await;
    browser.open(&server.url("")).await;
    browser.wait_for("!document.querySelector('#empty').hidden").await;
    server.hub.set(Game::with("1", "e2e4").state("Ilse Alder", "Oskar Vane"));
    wait_for_text(&mut browser, "#moves li:last-child .san", "e4").await;
    browser.wait_for("document.querySelector('#empty').hidden").await;
    assert_clean(&browser, &server);
    server.stop().await;
}
