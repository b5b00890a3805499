//! Reads the second board of a game.

use std::path::Path;

use shakmaty::Color;

use super::{
    Uses,
    section::Section,
    sensor::{self, Sensor},
};
use crate::config::{board::ORIENTATIONS, second::Second};

/// Reads `[board.second]`. `Ok(None)` where there is one board, `Err` where something is wrong, which was
/// reported.
pub(super) fn second(
    board: &Section<'_>,
    first: Option<&Sensor>,
    id: &str,
    number: u64,
    base: &Path,
    uses: &mut Uses,
) -> Result<Option<Second>, ()> {
    let section = board.section("second");
    if !section.is_present() {
        return Ok(None);
    }
    let whole_game =
        "plays a whole game by itself; a game on two boards is played on dgt, matrix and peg only";
    let is_device = |sensor: &Sensor| sensor.0.is_device();
    let first_fits = first.is_none_or(is_device);
    if let Some((sensor, _)) = first.filter(|_| !first_fits) {
        board.problem("second", format!("the first board is {} and {whole_game}", sensor.kind()));
    }
    let sides = [("white", Color::White), ("black", Color::Black)];
    let side = section.word("side", &sides).unwrap_or(Color::Black);
    let orientation = section.word("orientation", &ORIENTATIONS).unwrap_or_default();
    let read = sensor::sensor(&section, id, number, base, &sensor::DEVICES, uses);
    if let Some((sensor, _)) = read.as_ref().filter(|read| !is_device(read)) {
        section.problem("sensor", format!("{} {whole_game}", sensor.kind()));
    }
    section.finish();
    let (sensor, debounce) = read.filter(|read| first_fits && is_device(read)).ok_or(())?;
    Ok(Some(Second { side, orientation, sensor, debounce }))
}
