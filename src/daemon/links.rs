//! Whether a game can be read: one board by its link, two boards as long as one of them is read.

use crate::session::{
    event::{Event, Unit},
    io::Input,
};

/// The links of the boards of one game.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    up: [bool; 2],
    two_boards: bool,
}

impl Links {
    /// The links of a game that has not begun.
    pub const fn new(two_boards: bool) -> Links {
        Links { up: [true; 2], two_boards }
    }

    /// Nothing was heard of this board yet.
    pub fn wait_for(&mut self, unit: Unit) {
        *unit.of_mut(&mut self.up) = false;
    }

    /// Whether the game can be read.
    pub fn is_up(&self) -> bool {
        if self.two_boards { self.up.contains(&true) } else { *Unit::A.of(&self.up) }
    }

    /// What an input says of the reading of the game.
    pub fn heed(&mut self, input: &Input) -> Option<bool> {
        let (unit, up) = link(input)?;
        if !self.two_boards {
            return (unit == Unit::A).then_some(up);
        }
        *unit.of_mut(&mut self.up) = up;
        Some(self.up.contains(&true))
    }
}

/// What an input says of the link to one board.
pub const fn link(input: &Input) -> Option<(Unit, bool)> {
    match input {
        Input::Event(unit, Event::Link(up)) => Some((*unit, *up)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(two_boards: bool, links: &[(Unit, bool)]) -> Vec<Option<bool>> {
        let mut all = Links::new(two_boards);
        links.iter().map(|(unit, up)| all.heed(&Input::Event(*unit, Event::Link(*up)))).collect()
    }

    #[test]
    fn a_game_on_two_boards_is_read_while_one_of_them_is() {
        use Unit::{A, B};
        let links = [(A, false), (B, false), (A, true), (B, true)];
        assert_eq!(told(true, &links), [Some(true), Some(false), Some(true), Some(true)]);
        assert_eq!(told(false, &links), [Some(false), None, Some(true), None]);
        assert_eq!(Links::new(true).heed(&Event::Tick.into()), None);
    }
}
