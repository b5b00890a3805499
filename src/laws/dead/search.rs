//! The search for a helpmate: the most promising position first, every position once.
//!
//! It leaves nothing out but positions from which the side cannot mate whatever is played. So when it runs
//! out of positions before it runs out of its budget, there is no mate.

use shakmaty::{Chess, Color, Move, Position as _};

use super::{
    Nodes,
    graph::{Graph, Queue},
    guide::{Guide, Net, Pictured},
    material,
};

/// How a search ended.
#[derive(Clone, Debug)]
pub(super) enum Searched {
    /// With mate by these moves.
    Mate(Vec<Move>),
    /// With every position looked at.
    Closed,
    /// With the budget.
    OutOfBudget,
}

/// Nodes that a guide gets before the next one has its turn.
const TURN: u32 = 1000;
/// In a locked position they take turns in this part of the budget, and one goes on alone, so that a graph
/// that nearly fills the budget closes. Elsewhere only small graphs close.
const TURNS_WHEN_LOCKED: u32 = 4;

/// Looks for moves of both sides that end in mate by `winner`.
pub(super) fn helpmate(position: &Chess, winner: Color, locked: bool, left: &mut Nodes) -> Searched {
    let mut pictured = Search::new(position, winner, Pictured::thorough());
    let mut shared = left.share(if locked { TURNS_WHEN_LOCKED } else { 1 });
    let mut searched = by_turns(position, winner, &mut pictured, &mut shared);
    left.give_back(shared);
    if matches!(searched, Searched::OutOfBudget) {
        searched = pictured.go_on(left);
    }
    if let Searched::Mate(moves) = &searched {
        debug_assert!(is_mate_by(position, winner, moves), "{moves:?}");
    }
    searched
}

/// Each guide has its own idea of what is near, and gets stuck elsewhere.
fn by_turns(position: &Chess, winner: Color, pictured: &mut Search<Pictured>, left: &mut Nodes) -> Searched {
    let mut net = Search::new(position, winner, Net);
    let mut hasty = Search::new(position, winner, Pictured::hasty());
    while left.0 > 0 {
        let mut searched = net.go_on_for_a_turn(left);
        if matches!(searched, Searched::OutOfBudget) {
            searched = pictured.go_on_for_a_turn(left);
        }
        if matches!(searched, Searched::OutOfBudget) {
            searched = hasty.go_on_for_a_turn(left);
        }
        if !matches!(searched, Searched::OutOfBudget) {
            return searched;
        }
    }
    Searched::OutOfBudget
}

/// A search that can be interrupted.
struct Search<G> {
    winner: Color,
    guide: G,
    graph: Graph,
    queue: Queue,
}

impl<G: Guide> Search<G> {
    fn new(start: &Chess, winner: Color, guide: G) -> Search<G> {
        let mut queue = Queue::default();
        queue.push(0, 0);
        Search { winner, guide, graph: Graph::new(start), queue }
    }

    fn go_on_for_a_turn(&mut self, left: &mut Nodes) -> Searched {
        let mut turn = Nodes(left.0.min(TURN));
        left.0 -= turn.0;
        let searched = self.go_on(&mut turn);
        left.give_back(turn);
        searched
    }

    fn go_on(&mut self, left: &mut Nodes) -> Searched {
        while let Some((value, index)) = self.queue.pop() {
            let Some((position, plies)) = self.graph.position(index) else {
                // What cannot be looked at is no proof.
                self.queue.push(value, index);
                *left = Nodes(0);
                return Searched::OutOfBudget;
            };
            let plies = u32::from(plies) + 1;
            for mv in position.legal_moves() {
                if !left.take() {
                    // Looked at once more when it goes on.
                    self.queue.push(value, index);
                    return Searched::OutOfBudget;
                }
                let mut after = position.clone();
                after.play_unchecked(mv);
                if after.turn() != self.winner && after.is_checkmate() {
                    let mut moves = self.graph.line(index);
                    moves.push(mv);
                    return Searched::Mate(moves);
                }
                let changed = mv.is_capture() || mv.is_promotion();
                if changed && material::cannot_mate(after.board(), self.winner).is_some() {
                    continue;
                }
                if let Some(new) = self.graph.insert(&after, index, mv) {
                    let distance = self.guide.distance(&after, self.winner);
                    self.queue.push(distance * self.guide.weight() + plies, new);
                }
            }
        }
        Searched::Closed
    }
}

/// Plays the moves.
pub(super) fn is_mate_by(position: &Chess, winner: Color, moves: &[Move]) -> bool {
    let mut position = position.clone();
    for mv in moves {
        if !position.is_legal(*mv) {
            return false;
        }
        position.play_unchecked(*mv);
    }
    position.is_checkmate() && position.turn() != winner
}
