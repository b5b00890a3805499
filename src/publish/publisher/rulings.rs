//! What rulings and persons change in the public game. Of the facts themselves nothing leaves.

use shakmaty::{CastlingMode, Chess, fen::Fen};

use super::{Part, Publisher, signed};
use crate::session::{
    Session,
    event::GameResult,
    fact::law::{Entry, LawFact},
    setup::position_anyhow,
};

impl Publisher {
    /// The effects of a fact of the Laws layer on the public game. Of the fact itself nothing leaves.
    pub(super) fn law(&mut self, law: &LawFact) {
        match law {
            LawFact::Advisory(notice) if notice.code == "feed-embargo" => self.embargo.begin(self.told),
            LawFact::ArbiterEntry(entry) if entry.accepted => self.entry(entry),
            LawFact::IllegalStands { fen, attempt, .. } => {
                self.told += 1;
                self.irregular = false;
                let base = -signed(self.told);
                self.begin_part(fen, base, Some(attempt.clone()), None);
            }
            _ => {}
        }
    }

    fn entry(&mut self, entry: &Entry) {
        match entry.command.split_whitespace().next() {
            Some("open-envelope" | "envelope-missing") => self.embargo.lift(),
            // The position is put up again. What was made on the board in the meantime is the sealed move.
            Some("resume") if self.told <= self.embargo.told_before() => self.embargo.lift(),
            _ => {}
        }
        self.ruled.clone_from(&entry.after);
        self.irregular &= entry.after.is_none() && !entry.command.starts_with("reject");
    }

    /// A ruling led to this position: an earlier one of the game, or another one.
    pub(super) fn follow_ruling(&mut self, after: &str, session: &Session) {
        let plies = session.plies().len();
        self.told = plies;
        if plies > 0 {
            // The plies that stand are sure now, whether they had been published or not.
            let own = usize::try_from(self.part.base).unwrap_or(0);
            let skip = usize::try_from(-self.part.base).unwrap_or(0);
            self.part.wanted.truncate(own);
            let stands = session.plies().skip(skip).map(|record| record.uci.as_str().to_owned());
            self.part.wanted.extend(stands);
            return;
        }
        if let Some(back) = self.part.plies_to(after) {
            self.part.go_back(back);
            return;
        }
        if let Some(index) = self.earlier.iter().rposition(|part| part.plies_to(after).is_some()) {
            self.earlier.truncate(index + 1);
            if let Some(part) = self.earlier.pop() {
                self.part = part;
                let back = self.part.plies_to(after).unwrap_or(0);
                self.part.go_back(back);
            }
            return;
        }
        self.begin_part(after, 0, None, Some(session.position()));
    }

    /// The game goes on from another position, where plies are counted anew.
    fn begin_part(&mut self, fen: &str, base: i64, left_by: Option<String>, known: Option<&Chess>) {
        let start = position_of(fen, self.mode).or_else(|| known.cloned());
        let mut next = Part::new(self.parts, fen.to_owned(), start);
        next.base = base;
        self.parts += 1;
        let mut before = std::mem::replace(&mut self.part, next);
        before.left_by = left_by;
        self.earlier.push(before);
    }

    /// How the game ended, in the words of the PGN standard; nothing where it ended as games do.
    pub(super) fn termination(&self, result: GameResult, reason: &str) -> Option<&'static str> {
        let unplayed = self.earlier.is_empty() && self.part.wanted.is_empty();
        match (result, reason) {
            (GameResult::Ongoing, "void") => Some("abandoned"),
            (GameResult::Ongoing, _) => None,
            (_, "time") => Some("time forfeit"),
            (_, "illegal-count" | "illegal-blitz-claim" | "sealed-move-invalid") => Some("rules infraction"),
            (_, "arbiter-decision") if unplayed => Some("abandoned"),
            (GameResult::BothLose, _) | (_, "arbiter-decision") => Some("adjudication"),
            _ => None,
        }
    }
}

/// The position of a FEN, which an illegal move that stands may have led to.
pub(in crate::publish) fn position_of(fen: &str, mode: CastlingMode) -> Option<Chess> {
    let fen: Fen = fen.parse().ok()?;
    position_anyhow(fen.into_setup(), mode)
}
