//! The game as an output sees it that waits for completed moves.

use shakmaty::{CastlingMode, Chess};

use crate::publish::{
    BoardState, FeedEvent, PublicPly, completed_plies,
    publisher::{fen_of, play, position_of},
};

/// Holds moves back until they are completed (Article 6.2.1). What was shown stays shown until it is taken back.
#[derive(Clone, Debug)]
pub struct Completed {
    /// Everything that is public.
    state: BoardState,
    /// Full FEN after each ply of it.
    fens: Vec<String>,
    /// The plies that were shown.
    shown: Vec<PublicPly>,
}

impl Completed {
    /// A filter in front of an output that is to show `state`, and what it may show of it.
    pub fn new(state: BoardState) -> (Completed, BoardState) {
        let mut filter = Completed { fens: fens(&state), state, shown: Vec::new() };
        let mut visible = filter.state.clone();
        let plies = completed_plies(&filter.state);
        filter.shown = filter.state.plies.iter().take(plies).cloned().collect();
        visible.truncate(plies, filter.fen(plies));
        (filter, visible)
    }

    /// What the output sees of these events.
    pub fn pass(&mut self, events: Vec<FeedEvent>) -> Vec<FeedEvent> {
        let mut out = Vec::new();
        for event in events {
            self.state.apply(&event);
            match &event {
                FeedEvent::Move { ply, fen, .. } if *ply == self.fens.len() + 1 => {
                    self.fens.push(fen.clone())
                }
                FeedEvent::Undo { .. } => self.fens.truncate(self.state.plies.len()),
                FeedEvent::Correct { .. } => self.fens = fens(&self.state),
                FeedEvent::Setup { .. } => {
                    self.fens.clear();
                    self.shown.clear();
                    out.push(event);
                    continue;
                }
                _ => {}
            }
            self.catch_up(&mut out);
            match &event {
                FeedEvent::Move { .. } | FeedEvent::Undo { .. } | FeedEvent::Correct { .. } => {}
                FeedEvent::Completed { ply, .. } | FeedEvent::Elapsed { ply, .. } => {
                    if let Some(shown) = ply.checked_sub(1).and_then(|index| self.shown.get_mut(index)) {
                        if let Some(ply) = self.state.plies.get(*ply - 1) {
                            shown.clone_from(ply);
                        }
                        out.push(event);
                    }
                }
                _ => out.push(event),
            }
        }
        out
    }

    /// Shows the moves that count now, takes back what is no longer part of the game.
    fn catch_up(&mut self, out: &mut Vec<FeedEvent>) {
        let plies = &self.state.plies;
        let is_same = |(shown, ply): &(&PublicPly, &PublicPly)| shown.uci == ply.uci && shown.san == ply.san;
        let same = self.shown.iter().zip(plies.iter()).take_while(is_same).count();
        let wanted = completed_plies(&self.state).max(same);
        if self.shown.len() > wanted {
            let n = self.shown.len() - wanted;
            self.shown.truncate(wanted);
            out.push(FeedEvent::Undo { n, fen: self.fen(wanted) });
        }
        for index in same..wanted {
            let Some(played) = self.state.plies.get(index).cloned() else { return };
            let ply = index + 1;
            match self.shown.get_mut(index) {
                Some(shown) => {
                    shown.clone_from(&played);
                    let fen = self.fen(self.shown.len());
                    out.push(FeedEvent::Correct { ply, played, fen });
                }
                None => {
                    self.shown.push(played.clone());
                    out.push(FeedEvent::Move { ply, played, fen: self.fen(ply) });
                }
            }
        }
    }

    /// The position after so many plies.
    fn fen(&self, plies: usize) -> String {
        let after = plies.checked_sub(1).map(|index| self.fens.get(index).unwrap_or(&self.state.fen));
        after.unwrap_or(&self.state.start_fen).clone()
    }
}

/// The positions after each ply.
fn fens(state: &BoardState) -> Vec<String> {
    let mut position: Option<Chess> =
        position_of(&state.start_fen, CastlingMode::from_chess960(state.chess960));
    let mut after = |ply: &PublicPly| {
        position = position.take().and_then(|before| play(&before, &ply.uci)).map(|(_, after)| after);
        position.as_ref().map_or_else(|| state.fen.clone(), fen_of)
    };
    state.plies.iter().map(&mut after).collect()
}
