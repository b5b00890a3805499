//! The positions that were reached, each once, and the order in which they are looked at.

use shakmaty::{CastlingMode, Chess, Move, Position as _};

use super::packed::Packed;

/// A position in the graph.
#[derive(Clone, Debug)]
struct Node {
    position: Packed,
    plies: u16,
    from: Option<(u32, Move)>,
}

/// All positions reached from a first one. Two positions are the same if they are under the Laws, not if
/// their hashes are: a collision costs time, not truth.
#[derive(Debug)]
pub(super) struct Graph {
    mode: CastlingMode,
    nodes: Vec<Node>,
    /// Open addressing: the number of a node and one, or 0. Its length is a power of two.
    table: Vec<u32>,
}

impl Graph {
    pub(super) fn new(start: &Chess) -> Graph {
        let mode = start.castles().mode();
        let mut graph = Graph { mode, nodes: Vec::new(), table: vec![0; 1024] };
        graph.add(Packed::new(start), 0, None);
        graph
    }

    /// A position, and the plies that lead to it.
    pub(super) fn position(&self, index: u32) -> Option<(Chess, u16)> {
        let node = self.node(index)?;
        Some((node.position.position(self.mode)?, node.plies))
    }

    /// The number of a position that was not there yet.
    pub(super) fn insert(&mut self, position: &Chess, parent: u32, mv: Move) -> Option<u32> {
        let plies = self.node(parent)?.plies.saturating_add(1);
        self.add(Packed::new(position), plies, Some((parent, mv)))
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    /// The moves that lead to a node.
    pub(super) fn line(&self, index: u32) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut at = index;
        while let Some((parent, mv)) = self.node(at).and_then(|node| node.from) {
            moves.push(mv);
            at = parent;
        }
        moves.reverse();
        moves
    }

    fn add(&mut self, position: Packed, plies: u16, from: Option<(u32, Move)>) -> Option<u32> {
        if self.nodes.len() * 2 >= self.table.len() {
            self.grow();
        }
        let place = self.place(&position)?;
        let index = u32::try_from(self.nodes.len()).ok()?;
        *self.table.get_mut(place)? = index.checked_add(1)?;
        self.nodes.push(Node { position, plies, from });
        Some(index)
    }

    /// The free place for a position; none if it is known.
    fn place(&self, position: &Packed) -> Option<usize> {
        let mask = self.table.len() - 1;
        let mut place = position.hash() as usize & mask;
        loop {
            let Some(index) = self.table.get(place)?.checked_sub(1) else { return Some(place) };
            if self.node(index).is_some_and(|node| node.position == *position) {
                return None;
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 2];
        let mask = self.table.len() - 1;
        for (index, node) in (1..).zip(&self.nodes) {
            let mut place = node.position.hash() as usize & mask;
            while self.table.get(place).is_some_and(|taken| *taken != 0) {
                place = (place + 1) & mask;
            }
            if let Some(entry) = self.table.get_mut(place) {
                *entry = index;
            }
        }
    }
}

/// Values above it are as good as it.
const LEAST_URGENT: u32 = 4095;

/// Nodes by urgency: the lowest value first, of equals the newest.
#[derive(Debug, Default)]
pub(super) struct Queue {
    buckets: Vec<Vec<u32>>,
    lowest: usize,
}

impl Queue {
    pub(super) fn push(&mut self, value: u32, index: u32) {
        let value = value.min(LEAST_URGENT) as usize;
        if self.buckets.len() <= value {
            self.buckets.resize_with(value + 1, Vec::new);
        }
        if let Some(bucket) = self.buckets.get_mut(value) {
            bucket.push(index);
            self.lowest = self.lowest.min(value);
        }
    }

    /// The most urgent node with its value.
    pub(super) fn pop(&mut self) -> Option<(u32, u32)> {
        loop {
            if let Some(index) = self.buckets.get_mut(self.lowest)?.pop() {
                return Some((u32::try_from(self.lowest).unwrap_or(LEAST_URGENT), index));
            }
            self.lowest += 1;
        }
    }
}
