//! The tree of games that the readings tell: every game is one node, shared by all that begin with
//! it, so that a move more or less costs no copy of what came before.

use std::cell::OnceCell;

use shakmaty::{Bitboard, Chess, Move, Position as _, Square};

use super::{
    legal::{Shelter, has_legal_move},
    moves::{Candidate, castled},
};
use crate::session::time::MonoTime;

/// A ply of a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ply {
    /// The move.
    pub mv: Move,
    /// When the last square that it needs was settled.
    pub placed: MonoTime,
    /// The mover pressed the clock over it.
    pub pressed: Option<MonoTime>,
    /// Its capture, its landing or the whole ply was not seen but follows from the rest.
    pub inferred: bool,
    /// The opponent touched a man after it.
    pub answered: bool,
    /// It stood on the board when the board was read again after a gap.
    pub reported: bool,
}

/// A man on the board that was a pawn, whose role no sensor has told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Promoted {
    /// Where it stands now.
    pub square: Square,
    /// Index of the promotion in the game, counted from the first event.
    pub ply: usize,
}

/// Names a node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

/// A game: the position that it leads to, and its last ply.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub parent: Option<NodeId>,
    /// Never given twice, from 1.
    pub name: u64,
    /// How many readings and children hold it.
    holders: u32,
    /// How many of them are children.
    children: u32,
    /// How many plies the game has, counted from the first event.
    pub plies: usize,
    /// The last ply; none in front of the first one.
    pub ply: Option<Ply>,
    pub position: Chess,
    /// Where the men of the last ply landed.
    pub landed: Bitboard,
    /// Men whose role is only assumed.
    pub promoted: Vec<Promoted>,
    shelter: OnceCell<Option<Shelter>>,
    is_end: OnceCell<bool>,
}

impl Node {
    fn new(parent: Option<NodeId>, plies: usize, ply: Option<Ply>, position: Chess) -> Node {
        Node {
            parent,
            name: 0,
            holders: 0,
            children: 0,
            plies,
            ply,
            landed: ply.map_or(Bitboard::EMPTY, |ply| landed(&position, ply.mv)),
            position,
            promoted: Vec::new(),
            shelter: OnceCell::new(),
            is_end: OnceCell::new(),
        }
    }

    /// How many games go on from it.
    pub(super) fn children(&self) -> u32 {
        self.children
    }

    /// The king of the side to move and what stands around it.
    pub(super) fn shelter(&self) -> Option<&Shelter> {
        self.shelter.get_or_init(|| Shelter::of(&self.position)).as_ref()
    }

    /// True when the side to move has no legal move.
    pub(super) fn is_end(&self) -> bool {
        *self.is_end.get_or_init(|| !has_legal_move(&self.position))
    }
}

/// Squares on which the men of a move stand in the position after it.
fn landed(after: &Chess, mv: Move) -> Bitboard {
    match mv.castling_side() {
        Some(side) => {
            let (king, rook) = castled(side, !after.turn());
            Bitboard::from_square(king).with(rook)
        }
        None => Bitboard::from_square(mv.to()),
    }
}

/// Nodes that are held by somebody, and places for new ones.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// The name that was given last.
    named: u64,
    /// Stands in for a name that is not in use. That would be a fault of this module; it must not
    /// bring the board down.
    nowhere: Box<Node>,
}

impl Tree {
    pub(super) fn new(start: Chess) -> Tree {
        Tree {
            nodes: Vec::new(),
            free: Vec::new(),
            named: 0,
            nowhere: Box::new(Node::new(None, 0, None, start)),
        }
    }

    /// How many nodes are held.
    pub(super) fn held(&self) -> usize {
        self.nodes.len().saturating_sub(self.free.len())
    }

    fn index(id: NodeId) -> usize {
        usize::try_from(id.0).unwrap_or(usize::MAX)
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(Tree::index(id)).unwrap_or(&self.nowhere)
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes.get_mut(Tree::index(id)).unwrap_or(&mut self.nowhere)
    }

    fn put(&mut self, mut node: Node) -> NodeId {
        self.named += 1;
        node.name = self.named;
        if let Some(parent) = node.parent {
            self.hold(parent);
            self.node_mut(parent).children += 1;
        }
        if let Some(id) = self.free.pop() {
            *self.node_mut(id) = node;
            return id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        id
    }

    /// A node without a parent. Nobody holds it yet.
    pub(super) fn root(&mut self, position: Chess, plies: usize, ply: Option<Ply>) -> NodeId {
        self.put(Node::new(None, plies, ply, position))
    }

    /// The game `parent` with one more ply. Nobody holds it yet.
    pub(super) fn add(&mut self, parent: NodeId, ply: Ply) -> NodeId {
        let before = self.node(parent);
        let mut position = before.position.clone();
        position.play_unchecked(ply.mv);
        let plies = before.plies + 1;
        let promoted = if before.promoted.is_empty() && !ply.mv.is_promotion() {
            Vec::new()
        } else {
            promoted_after(before, ply.mv)
        };
        let mut node = Node::new(Some(parent), plies, Some(ply), position);
        node.promoted = promoted;
        self.put(node)
    }

    /// The game `parent` with this move, where somebody tells it already.
    pub(super) fn child(&self, parent: NodeId, mv: Move) -> Option<NodeId> {
        let is_it = |node: &Node| {
            node.parent == Some(parent) && node.holders > 0 && node.ply.is_some_and(|ply| ply.mv == mv)
        };
        if self.node(parent).children == 0 {
            return None;
        }
        let index = self.nodes.iter().position(is_it)?;
        u32::try_from(index).ok().map(NodeId)
    }

    pub(super) fn hold(&mut self, id: NodeId) {
        self.node_mut(id).holders += 1;
    }

    /// Lets go of a node; what nobody holds any more makes room.
    pub(super) fn release(&mut self, id: NodeId) {
        let mut next = Some(id);
        while let Some(id) = next {
            let node = self.node_mut(id);
            node.holders = node.holders.saturating_sub(1);
            if node.holders > 0 {
                return;
            }
            next = node.parent.take();
            node.ply = None;
            self.free.push(id);
            if let Some(parent) = next {
                self.orphan(parent);
            }
        }
    }

    /// Cuts a node off its parent.
    pub(super) fn cut(&mut self, id: NodeId) {
        if let Some(parent) = self.node_mut(id).parent.take() {
            self.orphan(parent);
            self.release(parent);
        }
    }

    /// Hangs a node without a parent behind `parent`.
    pub(super) fn hang(&mut self, id: NodeId, parent: NodeId) {
        self.hold(parent);
        self.node_mut(parent).children += 1;
        self.node_mut(id).parent = Some(parent);
    }

    fn orphan(&mut self, parent: NodeId) {
        let node = self.node_mut(parent);
        node.children = node.children.saturating_sub(1);
    }

    /// The first so many plies of a game that ends in `id`.
    pub(super) fn ancestor(&self, id: NodeId, plies: usize) -> Option<NodeId> {
        let mut at = id;
        loop {
            let node = self.node(at);
            if node.plies <= plies {
                return (node.plies == plies).then_some(at);
            }
            at = node.parent?;
        }
    }
}

fn promoted_after(before: &Node, mv: Move) -> Vec<Promoted> {
    let candidate = Candidate::new(&before.position, mv);
    let mut promoted: Vec<Promoted> = before
        .promoted
        .iter()
        .filter(|man| !candidate.victim.contains(man.square))
        .map(|man| Promoted {
            square: if man.square == candidate.from { mv.to() } else { man.square },
            ply: man.ply,
        })
        .collect();
    if mv.is_promotion() {
        promoted.push(Promoted { square: mv.to(), ply: before.plies });
    }
    promoted
}
