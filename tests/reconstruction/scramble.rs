//! What hands do in a scramble, one thing at a time: presses that come too early, two hands at once, men that
//! nobody saw land.

use touchmoved::{
    session::{Session, fact::FactKind},
    wire::sensor_log,
};

/// Kings and rooks have not moved, and nobody is in their way.
const CASTLING: &str = "r3k2r/pppp1ppp/8/8/8/8/PPPP1PPP/R3K2R w KQkq - 0 1";

/// What was played and what was published, after a script: `-e2` and `e4` are a lift and a placement, `w` and `b`
/// presses, each 100 ms after the last or, behind `:30`, 30 ms; `+100` lets so many more pass.
struct Played {
    line: Vec<String>,
    published: Vec<String>,
    /// A published move was withdrawn or replaced.
    changed: bool,
}

fn play(fen: &str, script: &str) -> Played {
    let header = format!(r#"{{"sensor_log":1,"start_fen":"{fen}"}}"#);
    let mut session = Session::new(&sensor_log::parse_header(&header).unwrap()).unwrap();
    let (mut us, mut step) = (1_000_000u64, 100_000);
    let mut published = Vec::new();
    let mut changed = false;
    for word in script.split_whitespace() {
        if let Some(ms) = word.strip_prefix('+') {
            us += ms.parse::<u64>().unwrap() * 1000;
            continue;
        }
        if let Some(ms) = word.strip_prefix(':') {
            step = ms.parse::<u64>().unwrap() * 1000;
            continue;
        }
        us += std::mem::replace(&mut step, 100_000);
        let what = match word {
            "w" => r#""clock":"white""#.to_owned(),
            "b" => r#""clock":"black""#.to_owned(),
            lift if lift.starts_with('-') => format!(r#""sq":"{}","occ":0"#, &lift[1..]),
            place => format!(r#""sq":"{place}","occ":1"#),
        };
        session.handle(&sensor_log::parse_event(&format!(r#"{{"us":{us},{what}}}"#)).unwrap());
        while let Some(fact) = session.poll_fact() {
            match fact.kind {
                FactKind::MovePublished { uci, .. } => published.push(uci.to_string()),
                FactKind::MoveWithdrawn { published: true, .. }
                | FactKind::MoveRevised { published: true, .. } => changed = true,
                _ => {}
            }
        }
    }
    Played { line: session.best_line(), published, changed }
}

fn assert_plays(fen: &str, script: &str, line: &str) {
    let played = play(fen, script);
    assert_eq!(played.line.join(" "), line, "{script}");
    assert!(!played.changed, "{script}: published {:?}", played.published);
    assert!(line.starts_with(&played.published.join(" ")), "{script}: published {:?}", played.published);
}

/// Both have pressed before: players press here.
const OPENING: &str = "-a2 a3 w +500 -a7 a6 b +500 ";

#[test]
fn the_rook_of_a_castling_comes_after_the_press_and_after_the_reply() {
    let script = format!("{OPENING} -e1 g1 w -b7 b6 b");
    assert_plays(CASTLING, &script, "a2a3 a7a6 e1g1 b7b6");
    assert_plays(CASTLING, &format!("{script} -h1 f1 +500 -b2 b3 w"), "a2a3 a7a6 e1g1 b7b6 b2b3");
}

#[test]
fn the_rook_of_a_castling_is_in_the_hand_at_the_press() {
    let script = format!("{OPENING} -e1 -h1 g1 -b7 w b6 b f1 +500 -b2 b3 w");
    assert_plays(CASTLING, &script, "a2a3 a7a6 e1g1 b7b6 b2b3");
}

#[test]
fn a_castling_is_answered_by_one_with_both_hands_before_the_press() {
    let script = format!("{OPENING} -e1 g1 -e8 -h1 -h8 f1 w g8 -b2 f8 b b3 w");
    assert_plays(CASTLING, &script, "a2a3 a7a6 e1g1 e8g8 b2b3");
}

#[test]
fn a_capture_that_is_answered_before_its_press_is_published_with_the_press() {
    let fen = "4k3/ppp2ppp/8/8/8/2p5/PPPP1PPP/4K3 w - - 0 1";
    let played = play(fen, &format!("{OPENING} -b2 -c3 c3 -b7 w"));
    assert_eq!(played.published.join(" "), "a2a3 a7a6 b2c3");
}

#[test]
fn who_presses_has_captured_unseen_and_holds_no_man() {
    let fen = "4k2r/ppp4p/8/8/8/8/PPPP1PP1/4K2R w - - 0 1";
    assert_plays(fen, &format!("{OPENING} -h1 w"), "a2a3 a7a6 h1h7");
}

#[test]
fn a_contact_on_its_way_tells_where_a_man_was_that_nobody_saw() {
    let fen = "4k3/ppp2ppp/8/8/8/8/5PPP/R3K3 w - - 0 1";
    for (contact, square) in [("b4", "a4"), ("d2", "d1")] {
        let script = format!(
            "-f2 f3 w +500 -h7 h6 b +500 -a1 +100 w +500 -h6 h5 b +500 {contact} -{contact} d4 w +500 -g7 g6 b"
        );
        let line = format!("f2f3 h7h6 a1{square} h6h5 {square}d4 g7g6");
        assert_eq!(play(fen, &script).line.join(" "), line, "{contact}");
    }
}

#[test]
fn a_man_that_was_nudged_need_not_be_the_one_that_was_captured() {
    let fen = "4k3/ppp2ppp/8/3p4/4p3/2N5/PPPP1PPP/4K3 w - - 0 1";
    let script = format!("{OPENING} -c3 -d5 :40 d5 w +500 -d5 -e4 e4 -d2 b d3 w +500 -e4 -d3 d3 b");
    assert_eq!(play(fen, &script).line.join(" "), "a2a3 a7a6 c3e4 d5e4 d2d3 e4d3");
}

#[test]
fn a_move_is_not_published_that_many_others_together_outweigh() {
    // The queen took on c4 as fast as no board sees, or stands on one of many squares and nobody sees it.
    let fen = "4k3/2q2ppp/8/8/2P5/8/P4PPP/4K3 w - - 0 1";
    let script = "-a2 a3 w +500 -h7 h6 b +500 -f2 f3 w +500 -c7 b +300 -g2 g3 w +300 -g7 g6 b +300 -h2 h3 w +300 -h6 h5 b";
    let played =
        play(fen, &format!("{script} +300 -f3 f4 w +300 -g6 g5 b +300 -a3 a4 w +300 c6 +800 -h5 h4 b"));
    assert_eq!(played.line.get(3).map(String::as_str), Some("c7c6"));
    assert_eq!(played.published.get(3).map_or("c7c6", String::as_str), "c7c6");
}
