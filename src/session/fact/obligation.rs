//! What binds the player who has the move (Article 4): the fact that nearly every touch leads to.

use serde::{Serialize, Serializer};
use shakmaty::{Bitboard, Square};

use super::law::{Side, Sq, is_false};
use crate::session::text::MoveText;

/// The moves of one man to these squares, of which none is castling, a promotion or the taking of a pawn en passant.
/// They are written only where somebody reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Where the man stands.
    pub from: Square,
    /// Where it may go.
    pub to: Bitboard,
    /// The man is a pawn.
    pub pawn: bool,
}

impl Reach {
    /// The moves in the order of the chess library: the captures of a pawn come first, then its steps.
    pub fn moves(self) -> impl Iterator<Item = MoveText> {
        let steps = if self.pawn { self.to & self.from.file() } else { Bitboard::EMPTY };
        let beside = self.to & !steps;
        let (one, two) = match (steps.first(), steps.last()) {
            (Some(low), Some(high)) if low < self.from => (Some(high), Some(low)),
            ends => ends,
        };
        let steps = one.into_iter().chain(two.filter(|_| one != two));
        beside.into_iter().chain(steps).map(move |to| MoveText::step(self.from, to))
    }
}

/// The moves that an obligation leaves.
#[derive(Clone, Debug)]
pub enum Choice {
    /// Nothing binds the player (Article 4.5).
    Any,
    /// Just these.
    Of(Box<[MoveText]>),
    /// Those of one man.
    Man(Reach),
}

impl Choice {
    /// The moves in letters; nothing where all are left.
    pub fn moves(&self) -> Option<Vec<MoveText>> {
        match self {
            Choice::Any => None,
            Choice::Of(moves) => Some(moves.to_vec()),
            Choice::Man(reach) => Some(reach.moves().collect()),
        }
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Choice) -> bool {
        self.moves() == other.moves()
    }
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Choice::Any => serializer.serialize_str("any"),
            Choice::Of(moves) => moves.serialize(serializer),
            Choice::Man(reach) => serializer.collect_seq(reach.moves()),
        }
    }
}

/// What was released already and binds the player (Article 4.7 of 2023, 4.6 of 2005).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Partial {
    /// A king that went two squares towards a rook.
    King {
        /// Where it stands.
        king_to: Sq,
    },
    /// A pawn that reached the last rank.
    Pawn {
        /// Where it came from.
        pawn_from: Sq,
        /// Where it stands.
        pawn_to: Sq,
    },
    /// A man that was released on a square, or a move that was announced.
    Placed {
        /// Where it came from.
        from: Sq,
        /// Where it stands.
        placed: Sq,
    },
}

/// The order in which men were touched could not be told: the own man counts as the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Uncertain {
    /// `uncertain`.
    pub order: &'static str,
    /// `own`.
    pub assumed_first: &'static str,
}

/// A list of one square or of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneOrNone(pub Option<Sq>);

impl Serialize for OneOrNone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0)
    }
}

/// A list of squares, of which one or two are the common case.
#[derive(Clone, Debug, PartialEq)]
pub enum Squares {
    /// One.
    One(Sq),
    /// Two, in order.
    Two([Sq; 2]),
    /// Any number.
    Many(Box<[Sq]>),
}

impl Squares {
    /// The squares, in order.
    pub fn as_slice(&self) -> &[Sq] {
        match self {
            Squares::One(square) => std::slice::from_ref(square),
            Squares::Two(squares) => squares,
            Squares::Many(squares) => squares,
        }
    }
}

impl Serialize for Squares {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

/// What binds the player who has the move (Article 4).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Obligation {
    /// Whom it binds.
    pub by: Side,
    /// The squares of the men that were touched, in order.
    pub touches: Squares,
    /// What may be played.
    pub legal: Choice,
    /// The article that decides, of the edition in force.
    pub rule: &'static str,
    /// Men of which one must be moved.
    pub must_move: OneOrNone,
    /// Men of which one must be captured.
    pub must_capture: OneOrNone,
    /// What few of them have.
    #[serde(flatten)]
    pub more: Option<Box<ObligationDetail>>,
    /// A person reported the touch, or a ruling made it one.
    #[serde(skip_serializing_if = "is_false")]
    pub reported: bool,
    /// What it rests on.
    pub certainty: TouchCertainty,
}

/// What few obligations have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObligationDetail {
    /// Castling that must be played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_castle: Option<MoveText>,
    /// `all` where touching the rook first forbids castling altogether.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rook_first_ban: Option<&'static str>,
    /// What was released already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// Set when the order of touches could not be told.
    #[serde(flatten)]
    pub uncertain: Option<Uncertain>,
}

/// What says that a man was touched in the sense of the Laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TouchCertainty {
    /// The Laws: the man left a pegged board.
    Law,
    /// It is presumed to be deliberate (2005).
    PresumedDeliberate,
    /// The Laws, unless it clearly was an accident (2023).
    LawUnlessClearlyAccidental,
    /// The arbiter.
    Arbiter,
}

impl Obligation {
    /// The same with what few of them have.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ObligationDetail)) -> Obligation {
        change(self.more.get_or_insert_default());
        self
    }
}
