//! What holds for any input, however damaged or hostile: one function a decoder, one for positions, and one
//! for the session. Each takes bytes and panics where the law is broken.
//!
//! The same functions are run by `tests/laws.rs` (committed corpus, generated inputs) and by the
//! fuzz targets in `fuzz/`. `docs/testing.md` says how.

mod choices;
mod dead;
mod dgt;
mod doctor;
mod emulation;
mod fold;
mod journal;
mod memory;
mod notation;
mod peg;
mod replay;
mod script;
mod session;
mod text;

/// A law: it panics where `data` breaks it.
pub type Law = fn(data: &[u8]);

/// All laws by name; the name is that of the fuzz target and of the directory of the corpus.
pub const LAWS: &[(&str, Law)] = &[
    ("config_text", text::config_text),
    ("dead_position", dead::dead_position),
    ("dgt_bytes", dgt::dgt_bytes),
    ("dgt_emulation", emulation::dgt_emulation),
    ("doctor_log", doctor::doctor_log),
    ("dgt_memory", memory::dgt_memory),
    ("journal_file", journal::journal_file),
    ("journal_record", journal::journal_record),
    ("livechess_request", text::livechess_request),
    ("stream_request", text::stream_request),
    ("notation_text", notation::notation_text),
    ("peg_bytes", peg::peg_bytes),
    ("pgn_text", text::pgn_text),
    ("replay_log", replay::replay_log),
    ("sensor_log_line", text::sensor_log_line),
    ("session_events", session::session_events),
    ("walk_map", doctor::walk_map),
];

/// Runs the law of that name.
pub fn run(name: &str, data: &[u8]) {
    let (_, law) = LAWS.iter().find(|(known, _)| *known == name).expect("a law of that name");
    law(data);
}

/// The input of a law in words, where the bytes themselves say little: the game of
/// `session_events` as a sensor log, which `touchmoved replay` reads.
pub fn explain(name: &str, data: &[u8]) -> Option<String> {
    (name == "session_events").then(|| script::Script::new(data).sensor_log())
}
