//! Ends of the game that follow from the position, and what can still be played for (Articles 5, 6.9,
//! 9.6). Mate, stalemate and lack of material are the session's; here are repetition, the count of
//! moves, blocked positions, and who can mate at all.

use shakmaty::{Chess, Color, Move, Position as _};

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
/// Who has at most so many moves may be forced.
const FORCED: usize = 2;

impl Conduct {
    /// A mate, a stalemate or a dead position that is on the board ends the game before a flag that falls while
    /// the session still waits whether its man goes on (Articles 5.1.1, 5.2.1, 5.2.2).
    pub(super) fn end_before_flag(&self, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if self.is_over(desk) || desk.session.plies().len() == 0 {
            return;
        }
        let (result, reason) = if desk.session.can_move() {
            if !position.is_insufficient_material() || self.assumes_promotion(desk) {
                return;
            }
            (GameResult::Draw, "dead-position")
        } else if position.is_check() {
            (GameResult::win(!position.turn()), "checkmate")
        } else {
            (GameResult::Draw, "stalemate")
        };
        desk.conclude(Conclusion::of(result, reason, Certainty::Law));
    }

    /// Draws that need no claim in the edition of 2023 (Article 9.6).
    pub(super) fn look_for_draws(&mut self, made: Made, desk: &mut Desk<'_>) {
        if desk.session.position().halfmoves() >= 16 {
            self.look_for_long_draws(made, desk);
        }
    }

    #[inline(never)]
    fn look_for_long_draws(&self, made: Made, desk: &mut Desk<'_>) {
        if desk.session.plies().len() != made.ply || self.is_over(desk) {
            return;
        }
        let position = desk.session.position();
        let plies = position.halfmoves();
        let seventy_five = self.settings.draw.auto_75 && plies >= 150;
        let five = self.settings.draw.auto_fivefold;
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
        // A record that begins anywhere may begin in a dead position.
        let new = position.halfmoves() == 0 || std::mem::take(&mut self.begins_anywhere);
        if may_be_dead(position, new) {
            self.search_for_dead(made, desk);
        }
    }

    #[cold]
    #[inline(never)]
    fn search_for_dead(&self, made: Made, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        if self.settings.dead_check != DeadCheck::Search
            || desk.session.plies().len() != made.ply
            || self.is_over(desk)
            || position.is_insufficient_material()
            || !desk.session.can_move()
            || self.assumes_promotion(desk)
        {
            return;
        }
        if self.tell_dead_check(desk) {
            desk.conclude(Conclusion::of(GameResult::Draw, "dead-position", Certainty::Law));
        }
    }

    /// Looks whether anybody can still mate, and tells it with the proof. True when nobody can.
    pub(super) fn tell_dead_check(&self, desk: &mut Desk<'_>) -> bool {
        let (value, proof) = match dead::dead_position(desk.session.position(), SEARCH) {
            Dead::Dead(_) => ("dead", Vec::new()),
            Dead::Alive { helpmate } => ("alive", helpmate.iter().map(MoveText::of).collect()),
            Dead::Unknown => ("unknown", Vec::new()),
        };
        let to = if value == "alive" { Audience::Journal } else { Audience::Arbiter };
        desk.tell(LawFact::DeadCheck { value, proof, to });
        value == "dead"
    }

    /// Time passes in a record that began anywhere: what kind of position it began in.
    pub(super) fn look_at_dead_start(&mut self, desk: &mut Desk<'_>) {
        let search = self.settings.dead_check == DeadCheck::Search;
        if std::mem::take(&mut self.begins_anywhere) && search && desk.session.can_move() {
            self.tell_dead_check(desk);
        }
    }

    /// A promoted man whose piece nobody saw is no ground to end a game on.
    pub(super) fn assumes_promotion(&self, desk: &Desk<'_>) -> bool {
        self.board != crate::session::setup::BoardKind::Dgt
            && (0..desk.session.plies().len())
                .any(|index| desk.session.move_at(index).is_some_and(|mv| mv.is_promotion()))
    }

    /// Tells whether a side can mate by any sequence of legal moves, with the proof. `None`: it could not
    /// be found out.
    pub(super) fn tell_can_mate(&mut self, side: Color, desk: &mut Desk<'_>) -> Option<bool> {
        self.tell_can_mate_from(desk.session.position(), side, desk)
    }

    /// The same from another position of the game.
    pub(super) fn tell_can_mate_from(
        &mut self,
        position: &Chess,
        side: Color,
        desk: &mut Desk<'_>,
    ) -> Option<bool> {
        let (value, proof, why) = match dead::can_mate(position, side, SEARCH) {
            MatePossibility::Possible { helpmate } => {
                (Some(true), helpmate.iter().map(MoveText::of).collect(), None)
            }
            MatePossibility::Impossible(why) => (Some(false), Vec::new(), Some(why.as_str().to_owned())),
            MatePossibility::Unknown => (None, Vec::new(), None),
        };
        desk.tell(LawFact::CanMate { side: Side(side), value, proof, why, to: Audience::Arbiter });
        value
    }

    /// A result was entered; where the game gave another one, that stands until the arbiter decides (Article
    /// 8.7).
    pub(super) fn result_entered(&mut self, entered: GameResult, desk: &mut Desk<'_>) {
        let stands = desk.session.result();
        // A game that does not count has none.
        let has_one = stands != GameResult::Ongoing || self.is_over(desk);
        if entered != GameResult::Ongoing && has_one && stands != entered {
            tell_mismatch(stands, entered, desk);
            self.reported = Some(entered);
        }
    }

    /// The game has ended; `ruled`: a person says so, who knows what was told before.
    pub(super) fn ended(&mut self, result: GameResult, ruled: bool, desk: &mut Desk<'_>) {
        self.claims.offer = None;
        self.unpressed = None;
        self.turn.due = None;
        let before = self.told_result.replace(result).filter(|before| *before != GameResult::Ongoing);
        if let Some(before) =
            before.filter(|before| *before != result && result != GameResult::Ongoing && !ruled)
        {
            tell_mismatch(before, result, desk);
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

/// The result that was entered is not the one that the game gave (Article 8.7).
fn tell_mismatch(computed: GameResult, reported: GameResult, desk: &mut Desk<'_>) {
    let (computed, reported) = (computed.as_str(), reported.as_str());
    let detail = format!("{computed} was told before, now {reported}");
    desk.notice(Notice {
        computed: Some(computed),
        reported: Some(reported),
        detail: detail.into(),
        ..Notice::of("result-mismatch", Audience::Arbiter)
    });
}

/// Whether a position is worth a search: one with only minor pieces or a wall of pawns, when it is new; or
/// one in which the side to move is forced to go on with the last men.
fn may_be_dead(position: &Chess, new: bool) -> bool {
    let board = position.board();
    if board.pawns().any() {
        return new && may_be_locked(position);
    }
    let few = board.occupied().count() <= FEW_MEN;
    few && (new && board.rooks_and_queens().is_empty() || is_forced(position))
}

/// Whether the side to move can do little else than take, or leave its opponent as little. Who is chased around takes
/// nothing, and leaves the other side its choice.
fn is_forced(position: &Chess) -> bool {
    let moves = position.legal_moves();
    let forces = |mv: &Move| {
        let mut after = position.clone();
        after.play_unchecked(*mv);
        mv.is_capture() || after.is_check() || after.legal_moves().len() <= FORCED
    };
    moves.len() <= FORCED && moves.iter().any(forces)
}

/// Kings, bishops and pawns of which none can step forward: worth a search.
fn may_be_locked(position: &Chess) -> bool {
    let board = position.board();
    let pawns = board.pawns();
    let blocked = (board.white() & pawns).shift(8) | (board.black() & pawns).shift(-8);
    let others = board.knights() | board.rooks_and_queens();
    others.is_empty() && blocked.is_subset(pawns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{Board, CastlingMode, FromSetup as _, Piece, Role, Setup, Square};

    use super::*;

    /// Kings and up to three other men somewhere, without pawns.
    fn few_men() -> impl Strategy<Value = Chess> {
        let man = (0..4usize, any::<bool>(), 0..64u32);
        let men = prop::collection::vec(man, 1..=3);
        (0..64u32, 0..64u32, men, any::<bool>()).prop_filter_map(
            "is a position",
            |(white, black, men, turn)| {
                let mut board = Board::empty();
                for (role, by_white, square) in men {
                    let role = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen][role];
                    board.set_piece_at(
                        Square::new(square),
                        Piece { color: Color::from_white(by_white), role },
                    );
                }
                board.set_piece_at(Square::new(white), Color::White.king());
                board.set_piece_at(Square::new(black), Color::Black.king());
                let setup = Setup { board, turn: Color::from_white(turn), ..Setup::empty() };
                Chess::from_setup(setup, CastlingMode::Standard).ok()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn what_is_not_forced_is_not_dead(position in few_men()) {
            let few_moves = (1..=FORCED).contains(&position.legal_moves().len());
            if few_moves && !position.is_insufficient_material() && !is_forced(&position) {
                let found = dead::dead_position(&position, Nodes(200_000));
                prop_assert!(!matches!(found, Dead::Dead(_)), "{:?}", position);
            }
        }
    }
}
