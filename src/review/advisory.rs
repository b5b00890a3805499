//! The advisories in words.

use super::{
    facts::Fields,
    law::{Said, article, squares_of},
    row::Kind,
    words,
};

/// The words of an advisory.
pub(super) fn said(fields: &Fields<'_>) -> Said {
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
        "flag-indicated" => {
            let time = |key| fields.number(key).unwrap_or_default();
            let width = time("fell_to_us").saturating_sub(time("fell_from_us"));
            let late = match width {
                0 => String::new(),
                width => format!(", since at most {}", words::duration(width)),
            };
            (Kind::Clock, format!("the clock shows {side}'s flag fallen{late}"))
        }
        "both-flags" => {
            let first = match fields.text("order") {
                "white-first" => ", White's first",
                "black-first" => ", Black's first",
                _ => ", in an order that is not known",
            };
            (Kind::Clock, format!("both flags are down{first}"))
        }
        "clock-gap" => {
            let gap = words::duration(fields.number("gap_ms").unwrap_or_default() * 1000);
            let running = fields.side("running");
            (Kind::Clock, format!("nobody kept {running}'s time for {gap}; the clock stands"))
        }
        "clock-discrepancy" => (Kind::Clock, format!("{side}'s clock and the record differ")),
        "clock-adjusted" | "clock-jump" | "clock-period" => {
            let shown = |key: &str| words::clock(fields.number(key).unwrap_or_default());
            let what = if code == "clock-period" { "a new period began" } else { "the clock was set" };
            (Kind::Clock, format!("{what}: {side} has {}, not {}", shown("after_ms"), shown("before_ms")))
        }
        "clock-frozen" => (Kind::Clock, format!("{side}'s clock should run and stands")),
        "clock-standing" => (Kind::Clock, "the clock stands while moves are made".to_owned()),
        "clock-sides-exchanged" => {
            (Kind::Clock, "the times fall for the player who does not have the move".to_owned())
        }
        "clock-side-mismatch" => {
            (Kind::Clock, "the clock of the side that does not have the move runs".to_owned())
        }
        "clock-not-set" => (Kind::Clock, "the clock was not set".to_owned()),
        "clock-unplugged" => (Kind::Clock, "the clock is not connected any more".to_owned()),
        "clock-back" => (Kind::Clock, "the clock is connected again".to_owned()),
        "clock-battery-low" => (Kind::Clock, "the clock shows that its battery is low".to_owned()),
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
        "sealed-move-on-board" => (
            Kind::Arbiter,
            format!("{side} made {} on the board: it has to be the sealed move", fields.text("uci")),
        ),
        "sealed-move-illegal" => {
            (Kind::Arbiter, format!("the sealed move of {side} is not a legal one: {attempt}"))
        }
        "envelope-missing" => (Kind::Arbiter, "the envelope is missing".to_owned()),
        "result-mismatch" => (Kind::Result, "the result does not fit the moves".to_owned()),
        "board-lost" => (Kind::Device, "one of the two boards is not read".to_owned()),
        "board-back" => (Kind::Device, "the board is read again".to_owned()),
        "board-faulty" => (Kind::Device, "the board is read, but not in order".to_owned()),
        "board-recovered" => (Kind::Device, "a trouble of the board is over".to_owned()),
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
