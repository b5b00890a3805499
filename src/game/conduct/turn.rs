//! The half-move under way: touches in their order, adjusting, men that were released, and what a move
//! that was made means for them (Article 4).

mod breach;
mod made;
mod obligation;
mod released;
mod touches;

use shakmaty::{Bitboard, Board, Color, Move, Position as _, Square};

use super::Desk;
use crate::{
    laws::{
        settings::{ForfeitScope, LawSettings},
        touch::Binding,
    },
    notation::chess960::Castling,
    session::{
        fact::law::{LawFact, Partial, Sq},
        text::MoveText,
        time::MonoTime,
    },
};

/// So many contacts of one turn are remembered, the first ones.
const MAX_CONTACTS: usize = 64;

/// A touch by the player who has the move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    square: Square,
    at: MonoTime,
}

/// A square that changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    square: Square,
    occupied: bool,
    at: MonoTime,
}

impl Contact {
    /// A man left this square.
    pub(super) fn left(&self, square: Square) -> bool {
        self.square == square && !self.occupied
    }
}

/// A move that was made and taken up again before its completion.
#[derive(Clone, Copy, Debug)]
struct Released {
    mv: Move,
    uci: MoveText,
    dwell_ms: u64,
}

/// An adjustment that was announced (Article 4.2).
#[derive(Clone, Copy, Debug)]
struct Adjusting {
    by: Color,
    until: MonoTime,
}

/// What was released already, and leaves these moves (Article 4.7; 2005: 4.6).
#[derive(Clone, Debug)]
struct Committed {
    partial: Partial,
    moves: Vec<Move>,
    castling: bool,
    /// The article that says so.
    rule: &'static str,
}

/// The turn of the player who has the move.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    touches: Vec<Touch>,
    contacts: Vec<Contact>,
    /// Where the man that was touched first may go without becoming another one.
    reach: Bitboard,
    /// What few turns have.
    seldom: Option<Box<Seldom>>,
    /// When a placement has rested for the dwell time.
    pub(super) due: Option<MonoTime>,
    /// When the king of the player has been beside the board for too long to be castling (Guideline II.3).
    pub(super) king_due: Option<MonoTime>,
}

/// What few turns have.
#[derive(Clone, Debug)]
struct Seldom {
    /// What several touches bind to; one alone is looked up when it is needed.
    binding: Option<Binding>,
    adjusting: Option<Adjusting>,
    /// Men that were lifted under an announced adjustment.
    adjusted: Bitboard,
    released: Option<Released>,
    committed: Option<Committed>,
    /// Moves of which the player has to play one whatever he touched, and the article that says so.
    bound_to: Option<(Vec<Move>, &'static str)>,
    /// A placement that is no legal move was noted.
    noted: Option<(Square, Square)>,
    swap_noted: bool,
}

impl Seldom {
    const NOTHING: Seldom = Seldom {
        binding: None,
        adjusting: None,
        adjusted: Bitboard::EMPTY,
        released: None,
        committed: None,
        bound_to: None,
        noted: None,
        swap_noted: false,
    };
}

static NOTHING: Seldom = Seldom::NOTHING;

impl Turn {
    /// A turn in which nothing has happened; the memory it took is kept.
    fn clear(&mut self) {
        self.touches.clear();
        self.contacts.clear();
        self.reach = Bitboard::EMPTY;
        self.seldom = None;
        (self.due, self.king_due) = (None, None);
    }

    fn seldom(&self) -> &Seldom {
        self.seldom.as_deref().unwrap_or(&NOTHING)
    }

    #[cold]
    fn seldom_mut(&mut self) -> &mut Seldom {
        self.seldom.get_or_insert_with(|| Box::new(Seldom::NOTHING))
    }

    /// One touch alone binds, or none.
    fn unbind_touches(&mut self) {
        if let Some(seldom) = &mut self.seldom {
            seldom.binding = None;
        }
    }

    /// True when the player has touched a man with the intention to move or capture.
    pub(super) fn has_touched(&self) -> bool {
        !self.touches.is_empty()
    }

    /// The squares that were touched, in order.
    pub(super) fn touched(&self) -> Vec<Square> {
        self.touches.iter().map(|touch| touch.square).collect()
    }

    /// The player has to play one of these by this article.
    pub(super) fn bind_to(&mut self, moves: Vec<Move>, article: &'static str) {
        self.seldom_mut().bound_to = Some((moves, article)).filter(|(moves, _)| !moves.is_empty());
    }

    /// False for a move that a ruling or an envelope rules out, whatever was touched.
    fn lets_play(&self, mv: &Move) -> bool {
        self.seldom().bound_to.as_ref().is_none_or(|(moves, _)| moves.contains(mv))
    }

    /// What a ruling bound the player to is off.
    pub(super) fn unbind(&mut self) {
        if let Some(seldom) = &mut self.seldom {
            seldom.bound_to = None;
        }
    }

    /// A man was put back: true when it had been lifted under an announced adjustment.
    pub(super) fn ends_adjusting(&mut self, square: Square) -> bool {
        let announced = self.seldom().adjusted.contains(square);
        if let Some(seldom) = &mut self.seldom {
            seldom.adjusted.discard(square);
        }
        announced
    }

    /// What was lifted was no touch in law.
    pub(super) fn forget_touches(&mut self) {
        self.touches.clear();
        self.unbind_touches();
    }

    /// Men on these squares were not lifted.
    pub(super) fn forget_touches_on(&mut self, squares: Bitboard) {
        self.touches.retain(|touch| !squares.contains(touch.square));
        self.unbind_touches();
    }

    /// The capture that the board shows although it is not legal: one man of the player is gone, and a man
    /// of the opponent was lifted and its square filled again after that one had left.
    pub(super) fn taken_by_nobody(&self, desk: &Desk<'_>) -> Option<(Square, Square)> {
        let position = desk.session.position();
        let from = desk.session.differs().single_square()?;
        let left = self.contacts.iter().rposition(|contact| contact.left(from))?;
        let since = self.contacts.get(left..)?;
        let refilled = |square: &Square| {
            self.lifted(*square) && since.iter().any(|contact| contact.square == *square && contact.occupied)
        };
        let mut victims = position.them().into_iter().filter(refilled);
        let to = victims.next().filter(|_| victims.next().is_none())?;
        position.us().contains(from).then_some((from, to))
    }

    /// The player has to move anew. His touches and what he released stand.
    pub(super) fn begin_again(&mut self) {
        self.contacts.clear();
        (self.due, self.king_due) = (None, None);
        if let Some(seldom) = &mut self.seldom {
            (seldom.noted, seldom.swap_noted, seldom.adjusted) = (None, false, Bitboard::EMPTY);
        }
    }

    /// The squares that changed after this moment.
    pub(super) fn contacts_after(&self, since: MonoTime) -> Vec<Contact> {
        self.contacts.iter().copied().filter(|contact| contact.at > since).collect()
    }

    /// These squares changed in this turn already.
    pub(super) fn remember(&mut self, contacts: Vec<Contact>) {
        self.contacts = contacts;
    }

    /// The player has touched this man when it was lifted in this turn.
    pub(super) fn touch_as_lifted(&mut self, square: Square) {
        let lift = self.contacts.iter().find(|contact| contact.left(square));
        self.touches.extend(lift.map(|contact| Touch { square, at: contact.at }));
    }

    /// When the first square of this turn changed.
    pub(super) fn begun(&self) -> Option<MonoTime> {
        self.contacts.first().map(|contact| contact.at)
    }

    /// What the player had touched before in this turn.
    pub(super) fn touch_again(&mut self, touches: Vec<Touch>) {
        self.touches = touches;
    }

    /// The touches of these men.
    pub(super) fn touches_of(&self, men: Bitboard) -> Vec<Touch> {
        self.touches.iter().copied().filter(|touch| men.contains(touch.square)).collect()
    }

    fn lifted(&self, square: Square) -> bool {
        self.contacts.iter().any(|contact| contact.square == square && !contact.occupied)
    }

    fn placed(&self, square: Square) -> bool {
        self.contacts.iter().any(|contact| contact.square == square && contact.occupied)
    }
}

/// A breach of Article 4 that the opponent may claim.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    pub ply: usize,
    pub by: Color,
    pub article: &'static str,
    /// The breach is of Articles 4.3 or 4.4.
    pub of_touch: bool,
    /// The move was completed and the window told.
    pub open: bool,
    pub forfeited: bool,
    /// What was touched, in order, and what it bound the player to.
    touches: Vec<Touch>,
    binding: Binding,
    /// What was released and bound him.
    partial: Option<Partial>,
}

impl Violation {
    /// The opponent can claim it no more once he has deliberately touched a man (Article 4.8; 2005: 4.7, for 4.3 and
    /// 4.4 only).
    pub(super) fn is_lost_by_touch(&self, settings: &LawSettings) -> bool {
        self.of_touch || settings.touch.claim_forfeit_scope == ForfeitScope::ActOfMoving
    }
}

/// A move as it was told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub ply: usize,
    pub uci: MoveText,
    pub by: Color,
    pub placed: MonoTime,
}

fn squares(list: &[Square]) -> Vec<Sq> {
    list.iter().copied().map(Sq).collect()
}

/// How castling shows on a Chess960 board (Guideline II.3): which squares change, and whether any do.
pub(super) fn tell_castling(mv: Move, desk: &mut Desk<'_>) {
    let Some(castling) = Castling::of(mv) else { return };
    let (vacated, filled) = castling.changes();
    desk.tell(LawFact::C960Castle {
        uci: desk.session.move_text(mv),
        legal: true,
        method: castling.method().as_str(),
        vacated: vacated.into_iter().map(Sq).collect(),
        filled: filled.into_iter().map(Sq).collect(),
    });
}

/// Whether `part` moved the rook of this castling of `by`, or its king to where it castles.
fn is_part_of(part: Move, castling: Move, by: Color) -> bool {
    let (Move::Castle { king, rook }, Some(side)) = (castling, castling.castling_side()) else {
        return false;
    };
    part.from() == Some(rook) || (part.from() == Some(king) && part.to() == side.king_to(by))
}

/// The squares of a board on which `other` differs.
pub(super) fn differing(board: &Board, occupied: Bitboard) -> (Vec<Sq>, Vec<Sq>) {
    let men = board.occupied();
    let remove = (occupied & !men).into_iter().map(Sq).collect();
    let put = (men & !occupied).into_iter().map(Sq).collect();
    (remove, put)
}
