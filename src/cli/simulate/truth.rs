//! What really happened in a simulated game, as JSON, so that a reader of its log can be scored.

use serde_json::{Value, json};
use shakmaty::Color;

use crate::{
    session::event::{Event, Stamped},
    simulate::{PlyTruth, Simulation, Touch, params::Params},
};

/// The truth in one line. Indices of events count as in the log, from 0, the header left out.
pub(super) fn json_of(simulation: &Simulation, params: &Params) -> String {
    // A reading comes so much after the contact that it is about.
    let late_us = 1000 * u64::from(params.settle_ms.max(params.scan_ms));
    let truth = &simulation.truth;
    let moves: Vec<&str> = truth.plies.iter().map(|ply| ply.uci.as_str()).collect();
    let plies: Vec<Value> = truth.plies.iter().map(|ply| ply_of(ply, &simulation.events, late_us)).collect();
    let touches: Vec<Value> = truth.touches.iter().map(touch_of).collect();
    let events = simulation.events.len();
    json!({"n_events": events, "end_us": truth.end_us, "moves": moves, "plies": plies, "touches": touches})
        .to_string()
        + "\n"
}

fn side(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

fn touch_of(touch: &Touch) -> Value {
    json!({
        "us": touch.at_us,
        "sq": touch.square.to_string(),
        "by": touch.by.map(side),
        "kind": touch.kind.as_str(),
    })
}

/// A ply with the first and the last reading of the board between its beginning and its end: where the
/// moves of both hands overlap, it may be one of the other hand.
fn ply_of(ply: &PlyTruth, events: &[Stamped], late_us: u64) -> Value {
    let reads = |stamped: &Stamped| {
        let at = stamped.at.as_micros();
        let board = matches!(stamped.event, Event::Square { .. } | Event::Piece { .. });
        board && at >= ply.start_us && at <= ply.made_us + late_us
    };
    let press = |stamped: &Stamped| {
        Some(stamped.at.as_micros()) == ply.press_us && stamped.event == Event::Press(ply.by)
    };
    json!({
        "uci": ply.uci,
        "by": side(ply.by),
        "ev0": events.iter().position(reads),
        "ev1": events.iter().rposition(reads),
        "press_ev": events.iter().position(press),
        "first_us": ply.start_us,
        "made_us": ply.made_us,
        "press_us": ply.press_us,
        "style": ply.style,
        "faults": ply.mishaps,
    })
}
