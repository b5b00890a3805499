//! The facts of the Laws layer in words. They say what was seen, what follows from it by which article, and
//! what persons said: never that somebody is to blame.

use serde_json::Value;
use shakmaty::Square;

use super::{
    advisory,
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
        "advisory" => return advisory::said(fields),
        "restore" => (Kind::Illegal, restore(fields)),
        "claim_check" => (Kind::Claim, claim_check(fields)),
        "clock" => clock(fields),
        "clock_order" => (Kind::Arbiter, clock_order(fields)),
        "clock_set" => (Kind::Arbiter, clock_set(fields)),
        "penalty" => (Kind::Arbiter, penalty(fields)),
        "snapshot" => (Kind::Arbiter, snapshot(fields)),
        "boards" => (Kind::Arbiter, boards(fields)),
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
        "think_time" => {
            let took = words::duration(fields.number("ms").unwrap_or_default() * 1000);
            (Kind::Note, format!("{} thought for {took}", fields.side("side")))
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
        "c960_start" => {
            let number = fields.0.get("number").and_then(Value::as_u64);
            let text = match number {
                Some(number) => format!("array {number} of Chess960"),
                None => "no array of Chess960".to_owned(),
            };
            (Kind::Device, text)
        }
        "c960_castle" => {
            (Kind::Device, format!("castling {}: {}", fields.text("uci"), fields.text("method")))
        }
        _ => (Kind::Advisory, format!("{name}: {}", members(fields.0))),
    };
    Said { kind, text, squares: squares_of(name, fields) }
}

pub(super) fn squares_of(name: &str, fields: &Fields<'_>) -> Vec<Square> {
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
pub(super) fn article(number: &str) -> String {
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
        "illegal" => (Kind::Clock, "times after the illegal move (Article 7.5.5)"),
        "claim-incorrect" => (Kind::Clock, "times after the claim that was refused (Article 9.5)"),
        "quickplay-bonus" => (Kind::Clock, "two minutes more for the opponent"),
        "replay-elapsed" => (Kind::Clock, "time by the record"),
        "irregular-press" => (Kind::Clock, "times of the irregular press (Article 7.1)"),
        "restored" => (Kind::Clock, "time when the position stood that is put up again (Article 7.1)"),
        "as-ruled" => (Kind::Clock, "time as ruled so far"),
        "seal-early" => (Kind::Clock, "time after the early adjournment"),
        "set" => (Kind::Clock, "the arbiter set the clock"),
        "time-used" => {
            let ms = |key| fields.number(key).map_or("?".to_owned(), words::clock);
            return (Kind::Clock, format!("{side} has used {}, {} are left", ms("used"), ms("remaining")));
        }
        "white-absent" | "black-absent" => (Kind::Clock, "time until the player came"),
        other => return (Kind::Clock, format!("{other}, {side}: {change}")),
    };
    (kind, format!("{what}, {side}: {change}; an external clock shows it once it is set"))
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

fn boards(fields: &Fields<'_>) -> String {
    let step = |key| {
        let board = fields.0.get(key);
        let state = board.and_then(|board| board.get("state")).and_then(Value::as_str).unwrap_or_default();
        match board.and_then(|board| board.get("plies")).and_then(Value::as_u64) {
            Some(plies) => format!("{plies} plies behind"),
            None => state.replace('-', " "),
        }
    };
    let ply = fields.number("ply").map_or("?".to_owned(), |ply| ply.to_string());
    format!(
        "board A is {}, board B is {}; both have shown the position after ply {ply}: {}",
        step("a"),
        step("b"),
        fields.text("fen")
    )
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

fn clock_order(fields: &Fields<'_>) -> String {
    let time = |key| words::clock(fields.number(key).unwrap_or_default());
    let runs = match words::parse_side(fields.text("runs")) {
        Some(side) => format!("{}'s clock running", words::side(side)),
        None => "both stopped".to_owned(),
    };
    format!("the clock is to be set: White {}, Black {}, {runs}", time("white_ms"), time("black_ms"))
}

fn clock_set(fields: &Fields<'_>) -> String {
    let shown = |key: &str| {
        let time = |side: &str| match fields.0.get(key).and_then(|shown| shown.get(side)?.as_u64()) {
            Some(ms) => words::clock(ms),
            None => "?".to_owned(),
        };
        format!("White {}, Black {}", time("white_ms"), time("black_ms"))
    };
    format!("the clock was set: {} (before: {})", shown("after"), shown("before"))
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
