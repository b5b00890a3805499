//! The facts of the Laws layer in words. They say what was seen, what follows from it by which article, and
//! what persons said: never that somebody is to blame.

use serde_json::Value;
use shakmaty::Square;

use super::{
    facts::{Fields, members},
    row::Kind,
    words,
};

/// A fact in words.
pub(super) struct Said {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) squares: Vec<Square>,
}

/// The words of a fact of the Laws layer.
pub(super) fn said(name: &str, fields: &Fields<'_>) -> Said {
    let (kind, text) = match name {
        "obligation" => (Kind::Obligation, obligation(fields)),
        "advisory" => return advisory(fields),
        "restore" => (Kind::Illegal, restore(fields)),
        "claim_check" => (Kind::Claim, claim_check(fields)),
        "clock" => clock(fields),
        "penalty" => (Kind::Arbiter, penalty(fields)),
        "snapshot" => (Kind::Arbiter, snapshot(fields)),
        "state" => state(fields),
        "arbiter_entry" => (Kind::Arbiter, entry(fields)),
        "illegal_stands" => {
            let (who, attempt) = (fields.side("by"), fields.text("attempt"));
            (
                Kind::Illegal,
                format!("{who}'s move {attempt} stands; the game goes on from {}", fields.text("fen")),
            )
        }
        "can_mate" => (Kind::Claim, can_mate(fields)),
        "dead_check" => match fields.text("value") {
            "dead" => {
                (Kind::Claim, "no sequence of legal moves leads to mate: the position is dead".to_owned())
            }
            "alive" => (Kind::Device, "the position is not dead".to_owned()),
            _ => (Kind::Claim, "whether the position is dead was not found out".to_owned()),
        },
        "move_count" => {
            let count = |side| fields.number(side).unwrap_or_default();
            (Kind::Note, format!("moves made: White {}, Black {}", count("white"), count("black")))
        }
        "flag_check" => (Kind::Clock, flag_check(fields)),
        "default_check" => {
            let time = |key| words::clock(fields.number(key).unwrap_or_default());
            let lost = if fields.is("lost") { ": lost, unless the arbiter decides otherwise" } else { "" };
            let text = format!(
                "{} is {} late, {} are allowed{lost}",
                fields.side("side"),
                time("late_ms"),
                time("limit_ms")
            );
            (Kind::Clock, text)
        }
        "counter" => {
            let over = if fields.is("allowed") { "" } else { ", more than allowed" };
            let (side, value) = (fields.side("side"), fields.number("value").unwrap_or_default());
            (Kind::Claim, format!("{}: number {value} of {side}{over}", fields.text("name")))
        }
        "recording" => {
            let must = if fields.is("required") { "has to record" } else { "need not record" };
            (Kind::Device, format!("{} {must} the moves (Article 8.4)", fields.side("color")))
        }
        "position" => (Kind::Note, format!("the position to put up: {}", fields.text("fen"))),
        "setup" => {
            let squares = fields.list("swap").join(", ");
            (Kind::Advisory, format!("the men on {squares} seem to have been exchanged at the set-up"))
        }
        "spoken" => (
            Kind::Button,
            format!("announced {}: \u{201c}{}\u{201d}", fields.text("uci"), fields.text("text")),
        ),
        "envelope" => (Kind::Arbiter, envelope(fields)),
        "c960_castle" => {
            (Kind::Device, format!("castling {}: {}", fields.text("uci"), fields.text("method")))
        }
        _ => (Kind::Advisory, format!("{name}: {}", members(fields.0))),
    };
    Said { kind, text, squares: squares_of(name, fields) }
}

fn squares_of(name: &str, fields: &Fields<'_>) -> Vec<Square> {
    let keys: &[&str] = match name {
        "obligation" => &["touches", "must_move", "must_capture"],
        "restore" => &["remove", "put"],
        _ => &["squares"],
    };
    let mut squares: Vec<Square> =
        keys.iter().flat_map(|key| fields.list(key)).filter_map(|name| name.parse().ok()).collect();
    squares.extend(fields.square());
    squares.sort_unstable();
    squares.dedup();
    squares
}

/// ` (Article 4.3.1)`, where one is named.
fn article(number: &str) -> String {
    if number.is_empty() { String::new() } else { format!(" (Article {number})") }
}

fn obligation(fields: &Fields<'_>) -> String {
    let who = fields.side("by");
    let touches = fields.list("touches");
    let (must_move, must_capture) = (fields.list("must_move"), fields.list("must_capture"));
    let legal = fields.list("legal");
    let what = if fields.text("legal") == "any" {
        "nothing of it binds".to_owned()
    } else if !fields.text("must_castle").is_empty() {
        "castling binds".to_owned()
    } else {
        match (must_move.is_empty(), must_capture.is_empty()) {
            (false, false) => {
                format!(
                    "{} has to take {}",
                    any_of("the man on", &must_move),
                    any_of("the man on", &must_capture)
                )
            }
            (false, true) => format!("{} has to move", any_of("the man on", &must_move)),
            (true, false) => format!("{} has to be taken", any_of("the man on", &must_capture)),
            (true, true) => format!("{who} has to play one of the moves that are left"),
        }
    };
    let mut text = match touches.len() {
        0 => what,
        _ => format!("{who} touched {}: {what}", touches.join(", then ")),
    };
    text += &article(fields.text("rule"));
    if !legal.is_empty() && legal.len() <= 6 {
        text += &format!(", {}", legal.join(" or "));
    } else if !legal.is_empty() {
        text += &format!(", {} moves are left", legal.len());
    }
    let partial = fields.0.get("partial").and_then(Value::as_object);
    let at = |key: &str| partial.and_then(|partial| partial.get(key)).and_then(Value::as_str);
    if let Some(square) = at("king_to") {
        text += &format!("; the king was released on {square}");
    } else if let Some(square) = at("pawn_to") {
        text += &format!("; the pawn was released on {square}");
    } else if let Some(square) = at("placed") {
        text += &format!("; released on {square}");
    }
    if fields.text("order") == "uncertain" {
        text += "; in which order is not certain, the own man counts as the first";
    }
    if fields.is("reported") {
        text += "; a person said so";
    }
    match fields.text("certainty") {
        "law-unless-clearly-accidental" => text += "; unless it was clearly accidental",
        "presumed-deliberate" => text += "; presumed deliberate",
        _ => {}
    }
    text
}

fn any_of(article: &str, squares: &[String]) -> String {
    match squares {
        [one] => format!("{article} {one}"),
        several => format!("one of the men on {}", several.join(", ")),
    }
}

fn restore(fields: &Fields<'_>) -> String {
    let (remove, put) = (fields.list("remove"), fields.list("put"));
    let mut text = format!("to restore: the position after ply {}", fields.number("ply").unwrap_or_default());
    if !remove.is_empty() {
        text += &format!(", take away what stands on {}", remove.join(", "));
    }
    if !put.is_empty() {
        text += &format!(", put men on {}", put.join(", "));
    }
    if remove.is_empty() && put.is_empty() {
        text += ", which stands on the board";
    }
    format!("{text}; FEN {}", fields.text("fen"))
}

fn claim_check(fields: &Fields<'_>) -> String {
    let kind = match fields.text("kind") {
        "threefold" => "the third occurrence of the position (Article 9.2)",
        "fifty" => "fifty moves without a pawn move or a capture (Article 9.3)",
        "touch" => "a touch",
        "illegal" => "an illegal move",
        "setup" => "a wrong set-up",
        "quickplay" => "a draw in the quickplay finish",
        "time" => "a wrong time",
        "flag" => "a flag",
        other => other,
    };
    let verdict =
        if fields.is("valid") { "the record supports it" } else { "the record does not support it" };
    let mut text = format!("{} claims {kind}: {verdict}", fields.side("by"));
    if !fields.text("intended").is_empty() {
        text += &format!(", with the written move {}", fields.text("intended"));
    }
    if let Some(count) = fields.number("count") {
        text += &format!(", the position appears {count} times");
    }
    if let Some(plies) = fields.number("halfmoves") {
        text += &format!(", {plies} plies without a pawn move or a capture");
    }
    if !fields.text("reason").is_empty() {
        text += &format!(": {}", fields.text("reason"));
    }
    text
}

/// A time or the times of two players, in words.
fn times(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Number(ms) => ms.as_u64().map(words::clock),
        Value::Object(parties) => {
            let told =
                parties.iter().filter_map(|(who, ms)| Some(format!("{who} {}", words::clock(ms.as_u64()?))));
            Some(told.collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}

fn clock(fields: &Fields<'_>) -> (Kind, String) {
    let side = fields.side("side");
    let (before, after) = (times(fields.0.get("before")), times(fields.0.get("after")));
    let change = match (before, after) {
        (Some(before), Some(after)) => format!("{before} becomes {after}"),
        (None, Some(after)) => after,
        (Some(before), None) => before,
        (None, None) => String::new(),
    };
    let (kind, what) = match fields.text("calc") {
        "fischer" | "delay" | "bronstein" => (Kind::Device, "time after the move"),
        "period" => (Kind::Clock, "time is added or taken"),
        "illegal" => (Kind::Clock, "time for an illegal move (Article 7.5.5)"),
        "claim-incorrect" => (Kind::Clock, "times after the claim that was refused (Article 9.5)"),
        "quickplay-bonus" => (Kind::Clock, "two minutes more for the opponent"),
        "replay-elapsed" => (Kind::Clock, "time by the record"),
        "seal-early" => (Kind::Clock, "time after the early adjournment"),
        "set" => (Kind::Clock, "the arbiter set the clock"),
        "time-used" => {
            let ms = |key| fields.number(key).map_or("?".to_owned(), words::clock);
            return (Kind::Clock, format!("{side} has used {}, {} are left", ms("used"), ms("remaining")));
        }
        "white-absent" => (Kind::Clock, "time that ran while nobody was there"),
        other => return (Kind::Clock, format!("{other}, {side}: {change}")),
    };
    (kind, format!("{what}, {side}: {change}; the clock itself is set by hand"))
}

fn penalty(fields: &Fields<'_>) -> String {
    let side = fields.side("side");
    let time = |key: &str| fields.number(key).map(words::clock);
    let mut text = match fields.text("kind") {
        "warning" => format!("a warning for {side}"),
        "more-time-opponent" => format!("more time for the opponent of {side}"),
        "reduce-own-time" => format!("less time for {side}"),
        "loss" => format!("{side} loses the game"),
        "illegal-move" => {
            format!("penalty for illegal move number {} of {side}", fields.number("n").unwrap_or_default())
        }
        other => format!("penalty for {side}: {}", other.replace('-', " ")),
    };
    if let Some(time) = time("ms").or(time("add_ms")) {
        text += &format!(", {time}");
    }
    if fields.is("lost") && fields.text("kind") == "illegal-move" {
        text += ", which loses the game";
    }
    text + &article(fields.text("article"))
}

fn snapshot(fields: &Fields<'_>) -> String {
    let time = |key| fields.number(key).map_or("?".to_owned(), words::clock);
    let running = match fields.text("running") {
        "" => "no clock runs".to_owned(),
        _ => format!("{}'s clock runs", fields.side("running")),
    };
    format!(
        "the position is held for the record: {}; White {}, Black {}, {running}; {}",
        fields.text("fen"),
        time("white_ms"),
        time("black_ms"),
        fields.text("score")
    )
}

fn state(fields: &Fields<'_>) -> (Kind, String) {
    if let Some(given) = fields.0.get("penalty").and_then(Value::as_object) {
        return (Kind::Arbiter, penalty(&Fields(given)));
    }
    if !fields.text("sealed_must_equal").is_empty() {
        let text = format!(
            "{} was made on the board: it has to be the sealed move",
            fields.text("sealed_must_equal")
        );
        return (Kind::Arbiter, text);
    }
    if fields.is("reply_sealed") {
        return (Kind::Arbiter, "the reply was sealed".to_owned());
    }
    if fields.is("arbiter_may_see_count") {
        return (Kind::Clock, "the arbiter may look at the number of moves (Article 8.5)".to_owned());
    }
    if !fields.text("mode").is_empty() {
        let seconds = fields.number("inc_ms").unwrap_or_default() / 1000;
        return (Kind::Clock, format!("{seconds} s a move from now on ({})", fields.text("mode")));
    }
    (Kind::Device, format!("state: {}", members(fields.0)))
}

fn entry(fields: &Fields<'_>) -> String {
    let command = fields.text("command");
    if !fields.is("accepted") {
        return format!("entry of the arbiter, not carried out: {command}: {}", fields.text("reason"));
    }
    match fields.text("after") {
        "" => format!("entry of the arbiter: {command}"),
        after => format!("entry of the arbiter: {command}; the position is {after} now"),
    }
}

fn can_mate(fields: &Fields<'_>) -> String {
    let side = fields.side("side");
    match fields.0.get("value").and_then(Value::as_bool) {
        Some(true) => format!("{side} can mate, for example {}", fields.list("proof").join(" ")),
        Some(false) => format!("{side} cannot mate by any sequence of legal moves: {}", fields.text("why")),
        None => format!("whether {side} can mate at all was not found out"),
    }
}

fn flag_check(fields: &Fields<'_>) -> String {
    let (side, completed) = (fields.side("side"), fields.number("completed").unwrap_or_default());
    match fields.number("required") {
        Some(required) if fields.is("met") => {
            format!("{side}'s flag fell: {completed} moves were completed, {required} were required: in time")
        }
        Some(required) => {
            format!("{side}'s flag fell: {completed} moves were completed, {required} were required")
        }
        None => format!("{side}'s flag fell after {completed} completed moves"),
    }
}

fn envelope(fields: &Fields<'_>) -> String {
    let Some(written) = fields.0.get("fields").and_then(Value::as_object).map(Fields) else {
        return "the envelope".to_owned();
    };
    let used = written.0.get("time_used").and_then(Value::as_object);
    let used = |side: &str| times(used.and_then(|used| used.get(side))).unwrap_or_else(|| "?".to_owned());
    format!(
        "on the envelope: {} seals move {}; position {}; time used: White {}, Black {}{}",
        written.side("sealed_by"),
        written.number("move_number").unwrap_or_default(),
        written.text("position"),
        used("white"),
        used("black"),
        if written.is("draw_offer") { "; a draw offer stands" } else { "" }
    )
}

fn advisory(fields: &Fields<'_>) -> Said {
    let code = fields.text("code");
    let side = ["side", "by", "color"].iter().find_map(|key| words::parse_side(fields.text(key)));
    let side = side.map_or("somebody", words::side);
    let (uci, attempt) = (fields.text("uci"), fields.text("attempt"));
    let square = fields.text("square");
    let (kind, text) = match code {
        "touch-violation" => {
            let (played, required) = (fields.text("played"), fields.list("required").join(" or "));
            (Kind::Obligation, format!("played {played}; after the touch {required} had been allowed"))
        }
        "released-then-moved" => {
            let ms = fields.number("dwell_ms").unwrap_or_default();
            (Kind::Obligation, format!("a man rested {} and went on", words::duration(ms * 1000)))
        }
        "castle-abandoned" => (Kind::Obligation, "castling was begun and not finished".to_owned()),
        "touch-not-on-move" => {
            (Kind::Touch, format!("the man on {square} was touched, and its side does not have the move"))
        }
        "adjust-announced-late" => (Kind::Button, format!("{side} announced an adjustment after the lift")),
        "adjust-not-on-move" => {
            (Kind::Button, format!("{side} announced an adjustment without having the move"))
        }
        "promotion-changed" => {
            (Kind::Obligation, "another piece touched the square of promotion first".to_owned())
        }
        "promotion-unknown" => (Kind::Ambiguous, "which piece was promoted to is not known".to_owned()),
        "claim-window-open" => {
            (Kind::Claim, format!("that {uci} broke what the touch bound to may be claimed{}", until(fields)))
        }
        "claim-window-closed" => (Kind::Claim, "it cannot be claimed any more".to_owned()),
        "claim-not-available" => (Kind::Claim, "the claim is not available".to_owned()),
        "setup-claim-closed" => (Kind::Claim, "the set-up cannot be claimed any more".to_owned()),
        "time-correction-open" => {
            (Kind::Claim, "a wrong time may be claimed until the first move".to_owned())
        }
        "time-correction-closed" => (Kind::Claim, format!("{side} cannot claim a wrong time any more")),
        "intended-refused" => (Kind::Claim, "the written move is not legal".to_owned()),
        "draw-offer-standing" => (Kind::Claim, format!("{side} offered a draw")),
        "draw-offer-rejected" => (Kind::Claim, "the draw offer was declined".to_owned()),
        "draw-offer-ill-timed" => {
            (Kind::Claim, format!("{side} offered a draw at a wrong moment (Article 9.1)"))
        }
        "draw-offer-void" => (Kind::Claim, "the draw offer does not count".to_owned()),
        "illegal-uncompleted" => (
            Kind::Illegal,
            format!("{attempt} stands on the board, which is not legal; it is not pressed yet"),
        ),
        "illegal-position" => (Kind::Illegal, "the position cannot come from legal moves".to_owned()),
        "king-may-not-castle" => (Kind::Illegal, "the king may not castle".to_owned()),
        "two-hands-suspected" => (Kind::Illegal, "two men were set down at once: two hands?".to_owned()),
        "press-before-move" => {
            let ms = fields.number("lead_ms").unwrap_or_default();
            match uci {
                "" => (Kind::Press, format!("{side} pressed before the move was finished")),
                uci => (
                    Kind::Press,
                    format!("{side} pressed {} before {uci} was placed", words::duration(ms * 1000)),
                ),
            }
        }
        "press-without-move" => (Kind::Press, format!("{side} pressed without a move")),
        "press-idle-side" => (Kind::Press, format!("{side} pressed while the other clock ran")),
        "uncompleted-move" => (Kind::Press, format!("{uci} is not pressed yet; nobody may be told")),
        "net-zero-move" => (Kind::Ambiguous, "the board looks as it did before".to_owned()),
        "flag-indicated" => (Kind::Clock, format!("the clock shows {side}'s flag fallen")),
        "both-flags" => (Kind::Clock, "both flags are down".to_owned()),
        "clock-discrepancy" => (Kind::Clock, format!("{side}'s clock and the record differ")),
        "clock-side-mismatch" => {
            (Kind::Clock, "the clock of the side that does not have the move runs".to_owned())
        }
        "paused" => (Kind::Clock, "both clocks were stopped".to_owned()),
        "resume-check" if fields.is("equal") => {
            (Kind::Clock, "the clocks go on; the board is as it was".to_owned())
        }
        "resume-check" => (Kind::Clock, "the clocks go on; the board is not as it was".to_owned()),
        "late-player" => (Kind::Clock, format!("{side} is later than allowed")),
        "scribe-needed" | "scoresheet-update-due" => {
            let who: Vec<&str> = fields
                .list("who")
                .iter()
                .filter_map(|side| words::parse_side(side))
                .map(words::side)
                .collect();
            let what = if code == "scribe-needed" {
                "somebody has to record for"
            } else {
                "to bring the score sheet up to date"
            };
            (Kind::Note, format!("{what}: {}", who.join(", ")))
        }
        "colours-reversed" => {
            (Kind::Arbiter, format!("the colours were reversed: {}", fields.text("action")))
        }
        "restart-required" => (Kind::Arbiter, "a new game has to be played".to_owned()),
        "feed-embargo" => (Kind::Arbiter, "nothing newer leaves until the envelope is opened".to_owned()),
        "sealed-move-illegal" => {
            (Kind::Arbiter, format!("the sealed move of {side} is not a legal one: {attempt}"))
        }
        "envelope-missing" => (Kind::Arbiter, "the envelope is missing".to_owned()),
        "result-mismatch" => (Kind::Result, "the result does not fit the moves".to_owned()),
        "boards-agree" => (Kind::Note, "both boards agree again".to_owned()),
        "boards-diverged" => (Kind::Advisory, "the two boards differ".to_owned()),
        "announce-missing" => (Kind::Button, format!("{side} pressed without announcing the move")),
        "announce-mismatch" => {
            let (said, board) = (fields.text("said"), fields.text("board_move"));
            (Kind::Button, format!("announced {said}, on the board stands {board}"))
        }
        "request-limit" => (Kind::Claim, format!("{side} asked to see the record more often than allowed")),
        "unknown-button" | "after-the-end" => (Kind::Button, code.replace('-', " ")),
        other => (Kind::Advisory, other.to_owned()),
    };
    let squares = squares_of("advisory", fields);
    let mut text = text;
    if kind == Kind::Advisory && !squares.is_empty() {
        text += &format!(" on {}", words::squares(&squares));
    }
    text += &article(fields.text("article"));
    for key in ["reason", "condition", "explained", "detail"] {
        if !fields.text(key).is_empty() {
            text += &format!(": {}", fields.text(key));
        }
    }
    Said { kind, text, squares }
}

fn until(fields: &Fields<'_>) -> String {
    match fields.text("closes") {
        "" => String::new(),
        closes => format!(" until the {}", closes.replace('-', " ")),
    }
}
