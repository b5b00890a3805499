//! The game as its score tells it, for an output that stays behind by half-moves.
//!
//! What stands on the board, and whose clock runs, tell of moves that are not published yet, and nobody can say of
//! how many. So such an output shows the position after the last move that it shows, and the times of the presses.

use crate::publish::{BoardState, FeedEvent, PublicClock};

/// Puts the position in the place of the board, and the times of the presses in the place of the readings.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// White plays the first ply.
    white_begins: bool,
    clock: PublicClock,
}

impl Score {
    /// The score of a board that is to be shown like `state`.
    pub fn new(state: &BoardState) -> Score {
        let clock = PublicClock { white_ms: None, black_ms: None, running: None, delay_ms: 0, at_us: 0 };
        Score { white_begins: begins(&state.start_fen), clock }
    }

    /// What the output sees of these events.
    pub fn pass(&mut self, events: Vec<FeedEvent>) -> Vec<FeedEvent> {
        let mut out = Vec::with_capacity(events.len());
        for event in events {
            let after = match &event {
                FeedEvent::Board { .. } | FeedEvent::Clock(_) => continue,
                FeedEvent::Move { fen, .. }
                | FeedEvent::Undo { fen, .. }
                | FeedEvent::Correct { fen, .. } => Some(position(fen)),
                FeedEvent::Setup { fen, .. } => {
                    self.white_begins = begins(fen);
                    Some(position(fen))
                }
                FeedEvent::Completed { ply, clock_ms: Some(ms), .. } => Some(self.pressed(*ply, *ms)),
                FeedEvent::Completed { .. }
                | FeedEvent::Elapsed { .. }
                | FeedEvent::Result { .. }
                | FeedEvent::Status { .. } => None,
            };
            out.push(event);
            out.extend(after);
        }
        out
    }

    fn pressed(&mut self, ply: usize, ms: u64) -> FeedEvent {
        let white = (ply % 2 == 1) == self.white_begins;
        if white {
            self.clock.white_ms = Some(ms);
        } else {
            self.clock.black_ms = Some(ms);
        }
        FeedEvent::Clock(self.clock)
    }
}

fn position(fen: &str) -> FeedEvent {
    FeedEvent::Board { board: fen.split(' ').next().unwrap_or_default().to_owned() }
}

fn begins(fen: &str) -> bool {
    fen.split(' ').nth(1) != Some("b")
}
