//! Ends of the game that follow from the position, and what can still be played for (Articles 5, 6.9,
//! 9.6). Mate, stalemate and lack of material are the session's; here are repetition, the count of
//! moves, blocked positions, and who can mate at all.

use shakmaty::{Chess, Color, Position as _};

use super::{Conduct, Desk, turn::Made};
use crate::{
    laws::{
        dead::{self, Dead, MatePossibility, Nodes},
        settings::DeadCheck,
    },
    session::{
        event::GameResult,
        fact::{
            Certainty, Conclusion,
            law::{Audience, Both, LawFact, LawState, Notice, Points, Side},
        },
        text::MoveText,
    },
};

/// Work that a question to the search of dead positions may take: some 50 ms on a small computer.
const SEARCH: Nodes = Nodes(20_000);
/// A position with at most so many men is looked at after each move.
const FEW_MEN: usize = 5;

impl Conduct {
    /// A mate or stalemate that is on the board ends the game before a flag that falls while the session
    /// still waits whether its man goes on (Articles 5.1.1, 5.2.1).
    pub(super) fn end_before_flag(&self, desk: &mut Desk<'_>) {
        if self.is_over(desk) || desk.session.plies().len() == 0 || desk.session.can_move() {
            return;
        }
        let position = desk.session.position();
        let (result, reason) = if position.is_check() {
            (GameResult::win(!position.turn()), "checkmate")
        } else {
            (GameResult::Draw, "stalemate")
        };
        desk.conclude(Conclusion::of(result, reason, Certainty::Law));
    }

    /// Draws that need no claim in the edition of 2023 (Article 9.6).
    pub(super) fn look_for_draws(&mut self, made: Made, desk: &mut Desk<'_>) {
        if desk.session.plies().len() != made.ply || self.is_over(desk) {
            return;
        }
        let position = desk.session.position();
        let plies = position.halfmoves();
        let seventy_five = self.settings.draw.auto_75 && plies >= 150;
        let five = self.settings.draw.auto_fivefold && plies >= 16;
        if !seventy_five && !five || !desk.session.can_move() {
            return;
        }
        let reason = if seventy_five {
            "seventyfive"
        } else if self.occurrences(position, false, desk) >= 5 {
            "fivefold"
        } else {
            return;
        };
        desk.conclude(Conclusion::of(GameResult::Draw, reason, Certainty::Law));
    }

    /// A position in which nobody can mate any more is drawn at once (Article 5.2.2; 2005: 5.2b).
    pub(super) fn look_for_dead(&mut self, made: Made, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if !may_be_dead(position)
            || self.settings.dead_check != DeadCheck::Search
            || desk.session.plies().len() != made.ply
            || self.is_over(desk)
            || position.is_insufficient_material()
            || !desk.session.can_move()
            || self.assumes_promotion(desk)
        {
            return;
        }
        match dead::dead_position(position, SEARCH) {
            Dead::Dead(_) => {
                desk.tell(LawFact::DeadCheck { value: "dead", proof: Vec::new(), to: Audience::Arbiter });
                desk.conclude(Conclusion::of(GameResult::Draw, "dead-position", Certainty::Law));
            }
            Dead::Alive { helpmate } => {
                let proof = helpmate.iter().map(MoveText::of).collect();
                desk.tell(LawFact::DeadCheck { value: "alive", proof, to: Audience::Journal });
            }
            Dead::Unknown => {
                desk.tell(LawFact::DeadCheck { value: "unknown", proof: Vec::new(), to: Audience::Arbiter });
            }
        }
    }

    /// A promoted man whose piece nobody saw is no ground to end a game on.
    fn assumes_promotion(&self, desk: &Desk<'_>) -> bool {
        self.board != crate::session::setup::BoardKind::Dgt
            && (0..desk.session.plies().len())
                .any(|index| desk.session.move_at(index).is_some_and(|mv| mv.is_promotion()))
    }

    /// Tells whether a side can mate by any sequence of legal moves, with the proof. `None`: it could not
    /// be found out.
    pub(super) fn tell_can_mate(&mut self, side: Color, desk: &mut Desk<'_>) -> Option<bool> {
        let (value, proof, why) = match dead::can_mate(desk.session.position(), side, SEARCH) {
            MatePossibility::Possible { helpmate } => {
                (Some(true), helpmate.iter().map(MoveText::of).collect(), None)
            }
            MatePossibility::Impossible(why) => (Some(false), Vec::new(), Some(why.as_str().to_owned())),
            MatePossibility::Unknown => (None, Vec::new(), None),
        };
        desk.tell(LawFact::CanMate { side: Side(side), value, proof, why, to: Audience::Arbiter });
        value
    }

    /// The game has ended.
    pub(super) fn ended(&mut self, result: GameResult, desk: &mut Desk<'_>) {
        self.claims.offer = None;
        self.unpressed = None;
        self.turn.due = None;
        let before = self.told_result.replace(result).filter(|before| *before != GameResult::Ongoing);
        if let Some(before) = before.filter(|before| *before != result && result != GameResult::Ongoing) {
            let detail = format!("{} was told before, now {}", before.as_str(), result.as_str());
            let notice = Notice::of("result-mismatch", Audience::Arbiter);
            desk.notice(Notice { detail: detail.into(), ..notice });
        }
        let halves = match result {
            GameResult::Ongoing => return,
            GameResult::WhiteWins => (2, 0),
            GameResult::BlackWins => (0, 2),
            GameResult::Draw => (1, 1),
            GameResult::BothLose => (0, 0),
        };
        let points = Some(Both { white: Points(halves.0), black: Points(halves.1) });
        desk.state(LawState { points, ..LawState::default() });
    }
}

/// Whether a position is worth a search: one that a capture or a pawn just made, with only minor pieces or a wall of
/// pawns; or one in which the side to move is forced to go on with the last men.
fn may_be_dead(position: &Chess) -> bool {
    let board = position.board();
    let few = board.occupied().count() <= FEW_MEN && board.pawns().is_empty();
    if position.halfmoves() == 0 && (few && board.rooks_and_queens().is_empty() || may_be_locked(position)) {
        return true;
    }
    few && position.legal_moves().len() <= 2
}

/// Kings, bishops and pawns of which none can step forward: worth a search.
fn may_be_locked(position: &Chess) -> bool {
    let board = position.board();
    let pawns = board.pawns();
    let blocked = (board.white() & pawns).shift(8) | (board.black() & pawns).shift(-8);
    let others = board.occupied() & !pawns & !board.kings() & !board.bishops();
    others.is_empty() && pawns.any() && blocked.is_subset(pawns)
}
