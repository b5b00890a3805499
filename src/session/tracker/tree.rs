//! The tree of games that the readings tell: every game is one node, shared by all that begin with
//! it, so that a move more or less costs no copy of what came before.

use std::cell::{Cell, OnceCell};

use shakmaty::{Bitboard, ByRole, Chess, Move, Position as _, Square};

use super::{
    cost::Cost,
    legal::{Shelter, has_legal_move},
    moves::{Candidate, castled},
    plausible::carelessness,
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
    /// Other pieces that it cannot be, since the game would not be legal: nor will one that goes on
    /// from it.
    pub ruled_out: ByRole<bool>,
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
    /// The child that came last, and the one that its parent got before it.
    youngest: Option<NodeId>,
    elder: Option<NodeId>,
    /// How many plies the game has, counted from the first event.
    pub plies: usize,
    /// The last ply; none in front of the first one.
    pub ply: Option<Ply>,
    pub position: Chess,
    /// Where the men of the last ply landed.
    pub landed: Bitboard,
    /// Men whose role is only assumed.
    pub promoted: Vec<Promoted>,
    /// Where its branch leaves the root of this name.
    branch: Cell<(u64, NodeId)>,
    shelter: OnceCell<Option<Shelter>>,
    is_end: OnceCell<bool>,
    /// What chess says against its last ply, once somebody has asked.
    odd: OnceCell<Cost>,
}

impl Node {
    fn new(parent: Option<NodeId>, plies: usize, ply: Option<Ply>, position: Chess) -> Node {
        Node {
            parent,
            name: 0,
            holders: 0,
            youngest: None,
            elder: None,
            plies,
            ply,
            landed: ply.map_or(Bitboard::EMPTY, |ply| landed(&position, ply.mv)),
            position,
            promoted: Vec::new(),
            branch: Cell::new((0, NodeId(0))),
            shelter: OnceCell::new(),
            is_end: OnceCell::new(),
            odd: OnceCell::new(),
        }
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
        let parent = node.parent.take();
        let id = match self.free.pop() {
            Some(id) => {
                *self.node_mut(id) = node;
                id
            }
            None => {
                let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
                self.nodes.push(node);
                id
            }
        };
        if let Some(parent) = parent {
            self.hang(id, parent);
        }
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
        let mut next = self.node(parent).youngest;
        while let Some(id) = next {
            let node = self.node(id);
            if node.holders > 0 && node.ply.is_some_and(|ply| ply.mv == mv) {
                return Some(id);
            }
            next = node.elder;
        }
        None
    }

    /// True when just one game goes on from `id`.
    pub(super) fn goes_one_way(&self, id: NodeId) -> bool {
        self.node(id).youngest.is_some_and(|child| self.node(child).elder.is_none())
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
            if let Some(parent) = next {
                self.orphan(id, parent);
            }
            self.free.push(id);
        }
    }

    /// Cuts a node off its parent.
    pub(super) fn cut(&mut self, id: NodeId) {
        if let Some(parent) = self.node_mut(id).parent.take() {
            self.orphan(id, parent);
            self.release(parent);
        }
    }

    /// Hangs a node without a parent behind `parent`.
    pub(super) fn hang(&mut self, id: NodeId, parent: NodeId) {
        let place = self.node_mut(parent);
        place.holders += 1;
        let elder = place.youngest.replace(id);
        let child = self.node_mut(id);
        child.parent = Some(parent);
        child.elder = elder;
    }

    /// Takes a node out of the children of its parent.
    fn orphan(&mut self, id: NodeId, parent: NodeId) {
        let elder = self.node_mut(id).elder.take();
        let mut before = None;
        let mut next = self.node(parent).youngest;
        while let Some(child) = next.filter(|child| *child != id) {
            before = next;
            next = self.node(child).elder;
        }
        match before {
            None => self.node_mut(parent).youngest = elder,
            Some(younger) => self.node_mut(younger).elder = elder,
        }
    }

    /// The child of `root` that a game begins with; none for the root itself. What is found is
    /// remembered on the way, for as long as the root stays the same.
    pub(super) fn branch(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
        let name = self.node(root).name;
        let mut at = id;
        let found = loop {
            let node = self.node(at);
            match node.branch.get() {
                (known, branch) if known == name => break branch,
                _ if node.parent? == root => break at,
                _ => at = node.parent?,
            }
        };
        let mut next = Some(id).filter(|id| *id != root);
        while let Some(node) = next.map(|id| self.node(id)).filter(|node| node.branch.get().0 != name) {
            node.branch.set((name, found));
            next = node.parent.filter(|parent| *parent != root);
        }
        Some(found)
    }

    /// What chess says against each of two games behind the ply with which they part, as far as both have been
    /// played.
    pub(super) fn odds(&self, one: NodeId, other: NodeId) -> (Cost, Cost) {
        let plies = self.node(one).plies.min(self.node(other).plies);
        let (mut one, mut other) = (self.ancestor(one, plies), self.ancestor(other, plies));
        let mut odds = (0, 0);
        while let (Some(a), Some(b)) = (one, other)
            && a != b
        {
            (one, other) = (self.node(a).parent, self.node(b).parent);
            if one != other {
                odds = (odds.0 + self.odd(a), odds.1 + self.odd(b));
            }
        }
        odds
    }

    fn odd(&self, id: NodeId) -> Cost {
        let node = self.node(id);
        *node.odd.get_or_init(|| match (node.parent, node.ply) {
            (Some(parent), Some(ply)) => carelessness(&self.node(parent).position, ply.mv, &node.position),
            _ => 0,
        })
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
            ..*man
        })
        .collect();
    if mv.is_promotion() {
        promoted.push(Promoted { square: mv.to(), ply: before.plies, ruled_out: ByRole::default() });
    }
    promoted
}
