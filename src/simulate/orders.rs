//! The orders in which the contacts of one legal move change.
//!
//! A move that can be recognised before its last man is in place calls [`Hands::the_rest`] there: the
//! clock may be pressed, and the opponent may answer, while the rest is still to come.

use shakmaty::{CastlingSide, Move, Piece, Role, Square};

use super::{TouchKind, hands::Hands, params::Span};

/// Two hands lift two men within this time.
const TOGETHER: Span = Span::ms(0, 80);

#[derive(Clone, Copy)]
enum Capture {
    AttackerFirst,
    VictimFirst,
    TwoHands,
}

#[derive(Clone, Copy)]
enum Castle {
    KingFirst,
    RookFirst,
    Both,
}

#[derive(Clone, Copy)]
enum EnPassant {
    PawnFirst,
    VictimFirst,
    VictimLast,
}

#[derive(Clone, Copy)]
enum Promotion {
    Exchanged,
    Direct,
    NewFirst,
}

/// The squares of one castling.
#[derive(Clone, Copy)]
struct CastleSquares {
    king: Square,
    king_to: Square,
    rook: Square,
    rook_to: Square,
}

/// The square on which the man that moved stands at the end, and every square of the move.
pub(super) fn squares_of(played: Move) -> (Square, Vec<Square>) {
    match played {
        Move::Castle { king, rook } => {
            let s = castle_squares(king, rook);
            (s.king_to, vec![s.king, s.king_to, s.rook, s.rook_to])
        }
        Move::EnPassant { from, to } => (to, vec![from, to, Square::from_coords(to.file(), from.rank())]),
        Move::Normal { from, to, .. } => (to, vec![from, to]),
        Move::Put { to, .. } => (to, vec![to]),
    }
}

fn castle_squares(king: Square, rook: Square) -> CastleSquares {
    let side = CastlingSide::from_king_side(king < rook);
    CastleSquares {
        king,
        king_to: Square::from_coords(side.king_to_file(), king.rank()),
        rook,
        rook_to: Square::from_coords(side.rook_to_file(), rook.rank()),
    }
}

impl Hands<'_> {
    /// Plays a move; gives the name of the order in which it was done.
    pub(super) fn play(&mut self, played: Move) -> &'static str {
        match played {
            Move::Castle { king, rook } => self.castle(castle_squares(king, rook)),
            Move::EnPassant { from, to } => self.en_passant(from, to),
            Move::Normal { from, to, capture, promotion: Some(role), .. } => {
                self.promote(from, to, role, capture.is_some())
            }
            Move::Normal { from, to, capture: Some(_), .. } => self.capture(from, to),
            Move::Normal { from, to, .. } => {
                self.step(from, to);
                "quiet"
            }
            Move::Put { role, to } => {
                self.place(to, Some(Piece { color: self.by, role }));
                "put"
            }
        }
    }

    /// Lifts, carries and places a man.
    pub(super) fn step(&mut self, from: Square, to: Square) {
        let man = self.lift(from, TouchKind::Move);
        self.carry(from, to, man);
        self.place(to, man);
    }

    /// The move can be recognised, but something of it is left to do. The player may press first.
    fn the_rest(&mut self) {
        self.recognised = Some(self.now);
        if self.pressed.is_none() && self.mishap(self.params.mishaps.premature_press, "premature-press") {
            self.pressed = Some(self.end());
            self.now += self.rng.decision(self.params.timing.late_rest);
        } else {
            self.reach();
        }
    }

    fn capture(&mut self, from: Square, to: Square) -> &'static str {
        let mishaps = &self.params.mishaps;
        let (swept, unseen) = (mishaps.swept, mishaps.unseen_victim);
        if self.mishap(unseen, "unseen-victim") {
            self.step(from, to);
            return "capture-unseen";
        }
        if self.rng.happens(swept) {
            let man = self.lift(from, TouchKind::Move);
            self.carry(from, to, man);
            let gap = self.rng.uniform(self.params.timing.swap_gap);
            // The attacker's magnet takes over before the contact has opened.
            if gap >= 1_000 {
                self.lift(to, TouchKind::Victim);
                self.now += gap;
            }
            self.place(to, man);
            return "capture-swept";
        }
        let [attacker, victim, both] = self.params.orders.capture;
        let order = self.rng.weighted(&[
            (attacker, Capture::AttackerFirst),
            (victim, Capture::VictimFirst),
            (both, Capture::TwoHands),
        ]);
        match order.unwrap_or(Capture::AttackerFirst) {
            Capture::AttackerFirst => {
                let man = self.lift(from, TouchKind::Move);
                self.carry(from, to, man);
                self.lift(to, TouchKind::Victim);
                self.reach();
                self.place(to, man);
                "capture-attacker-first"
            }
            Capture::VictimFirst => {
                self.lift(to, TouchKind::Victim);
                self.reach();
                self.step(from, to);
                "capture-victim-first"
            }
            Capture::TwoHands => {
                let attacker_leads = self.rng.below(2) == 0;
                let mut man = None;
                if attacker_leads {
                    man = self.lift(from, TouchKind::Move);
                    self.take(TOGETHER);
                }
                self.lift(to, TouchKind::Victim);
                if !attacker_leads {
                    self.take(TOGETHER);
                    man = self.lift(from, TouchKind::Move);
                }
                self.carry(from, to, man);
                self.place(to, man);
                "capture-two-hands"
            }
        }
    }

    /// Chess960: the man of a castling that stays where it is may be lifted and put back all the same.
    fn tap(&mut self, square: Square) {
        if self.mishap(self.params.mishaps.castle_tap, "castle-tap") {
            let man = self.lift(square, TouchKind::Move);
            self.take(self.params.timing.adjust);
            self.place(square, man);
            self.reach();
        }
    }

    fn castle(&mut self, s: CastleSquares) -> &'static str {
        // Chess960: one of the two may stand where it belongs already.
        if s.king == s.king_to {
            self.tap(s.king);
            self.step(s.rook, s.rook_to);
            return "castle-rook-only";
        }
        if s.rook == s.rook_to {
            self.tap(s.rook);
            self.step(s.king, s.king_to);
            return "castle-king-only";
        }
        let [king, rook, both] = self.params.orders.castling;
        // A man cannot be put where the other one still stands.
        let king = if s.king_to == s.rook { 0 } else { king };
        let rook = if s.rook_to == s.king { 0 } else { rook };
        let order =
            self.rng.weighted(&[(king, Castle::KingFirst), (rook, Castle::RookFirst), (both, Castle::Both)]);
        match order.unwrap_or(Castle::Both) {
            Castle::KingFirst => {
                self.step(s.king, s.king_to);
                self.the_rest();
                self.step(s.rook, s.rook_to);
                "castle-king-first"
            }
            Castle::RookFirst => {
                self.step(s.rook, s.rook_to);
                self.reach();
                self.step(s.king, s.king_to);
                "castle-rook-first"
            }
            Castle::Both => {
                let king = self.lift(s.king, TouchKind::Move);
                self.reach();
                let rook = self.lift(s.rook, TouchKind::Move);
                self.reach();
                self.place(s.king_to, king);
                self.the_rest();
                self.place(s.rook_to, rook);
                "castle-both"
            }
        }
    }

    fn en_passant(&mut self, from: Square, to: Square) -> &'static str {
        let victim = Square::from_coords(to.file(), from.rank());
        let [pawn, first, last] = self.params.orders.en_passant;
        let order = self.rng.weighted(&[
            (pawn, EnPassant::PawnFirst),
            (first, EnPassant::VictimFirst),
            (last, EnPassant::VictimLast),
        ]);
        match order.unwrap_or(EnPassant::VictimLast) {
            EnPassant::PawnFirst => {
                let pawn = self.lift(from, TouchKind::Move);
                self.reach();
                self.lift(victim, TouchKind::Victim);
                self.reach();
                self.place(to, pawn);
                "en-passant-pawn-first"
            }
            EnPassant::VictimFirst => {
                self.lift(victim, TouchKind::Victim);
                self.reach();
                self.step(from, to);
                "en-passant-victim-first"
            }
            EnPassant::VictimLast => {
                self.step(from, to);
                self.the_rest();
                self.lift(victim, TouchKind::Victim);
                "en-passant-victim-last"
            }
        }
    }

    fn promote(&mut self, from: Square, to: Square, role: Role, capture: bool) -> &'static str {
        let [exchanged, direct, new_first] = self.params.orders.promotion;
        let order = self.rng.weighted(&[
            (exchanged, Promotion::Exchanged),
            (direct, Promotion::Direct),
            (new_first, Promotion::NewFirst),
        ]);
        if capture && (self.rng.below(2) == 0 || matches!(order, Some(Promotion::NewFirst))) {
            self.lift(to, TouchKind::Victim);
            self.reach();
        }
        let new = Some(Piece { color: self.by, role });
        match order.unwrap_or(Promotion::Exchanged) {
            Promotion::Exchanged => {
                let pawn = self.lift(from, TouchKind::Move);
                self.carry(from, to, pawn);
                self.clear(to);
                self.place(to, pawn);
                self.the_rest();
                self.take(self.params.timing.fetch);
                self.lift(to, TouchKind::Promotion);
                self.reach();
                self.place(to, new);
                "promotion-exchanged"
            }
            Promotion::Direct => {
                self.lift(from, TouchKind::Move);
                self.take(self.params.timing.fetch);
                self.clear(to);
                self.place(to, new);
                "promotion-direct"
            }
            Promotion::NewFirst => {
                self.take(self.params.timing.fetch);
                self.place(to, new);
                self.reach();
                self.lift(from, TouchKind::Move);
                "promotion-new-first"
            }
        }
    }

    /// Takes the victim off the target where it still stands.
    fn clear(&mut self, square: Square) {
        if self.stands(square) {
            self.lift(square, TouchKind::Victim);
            self.reach();
        }
    }
}
