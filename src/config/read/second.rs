//! Reads the second board of a game.

use std::path::Path;

use shakmaty::Color;

use super::{
    Uses,
    section::Section,
    sensor::{self, Sensor},
};
use crate::config::{
    board::ORIENTATIONS,
    second::{Place, Second},
};

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
    let plays_alone = |sensor: &Sensor| sensor.0.place() == Place::WholeGame;
    let first_fits = !first.is_some_and(plays_alone);
    if let Some((sensor, _)) = first.filter(|_| !first_fits) {
        board.problem("second", format!("the first board is {} and {whole_game}", sensor.kind()));
    }
    let sides = [("white", Color::White), ("black", Color::Black)];
    let side = section.word("side", &sides).unwrap_or(Color::Black);
    let orientation = section.word("orientation", &ORIENTATIONS).unwrap_or_default();
    let read = sensor::sensor(&section, id, number, base, &sensor::DEVICES, uses);
    let mut fits = first_fits;
    if let Some((sensor, _)) = &read {
        let (one, other) = (first.map(|(sensor, _)| sensor.place()), sensor.place());
        if other == Place::WholeGame {
            fits = false;
            section.problem("sensor", format!("{} {whole_game}", sensor.kind()));
        } else if first_fits && one.is_some_and(|one| one != other) {
            fits = false;
            let alone = "simulated wires play with simulated wires only: their players wait for nobody; simulate both \
                         boards, or none";
            section.problem("sensor", alone);
        }
        let table = section.section("sensor").section("matrix");
        for key in ["seed", "level"].into_iter().filter(|key| other == Place::Wires && table.has(key)) {
            table.problem(key, "both boards show the game of the first one; leave this out");
        }
    }
    section.finish();
    let (sensor, debounce) = read.filter(|_| fits).ok_or(())?;
    Ok(Some(Second { side, orientation, sensor, debounce }))
}
