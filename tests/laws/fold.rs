//! The game as somebody sees it who reads nothing but the facts.

use touchmoved::session::{
    Session,
    event::GameResult,
    fact::{Fact, FactKind},
};

#[derive(Clone, Debug, PartialEq)]
struct Ply {
    uci: String,
    completed: bool,
    published: bool,
}

/// The game so far.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    plies: Vec<Ply>,
    result: GameResult,
}

impl Fold {
    /// Takes one fact, which has to fit.
    pub fn take(&mut self, fact: &Fact) {
        let changes = matches!(
            fact.kind,
            FactKind::MoveMade { .. }
                | FactKind::MovePublished { .. }
                | FactKind::MoveWithdrawn { .. }
                | FactKind::MoveCompleted { .. }
                | FactKind::MoveRevised { .. }
        );
        assert!(!changes || self.result == GameResult::Ongoing, "after the end of the game: {fact:?}");
        match &fact.kind {
            FactKind::MoveMade { ply, uci, placed, latest, .. } => {
                assert_eq!(*ply, self.plies.len() + 1, "made out of order: {fact:?}");
                assert!(placed <= latest && *latest == fact.at, "{fact:?}");
                self.plies.push(Ply { uci: uci.to_string(), completed: false, published: false });
            }
            FactKind::MovePublished { ply, uci, .. } => {
                assert_eq!(*ply, self.published() + 1, "published out of order: {fact:?}");
                let known = self.known(*ply, uci, fact);
                assert!(!known.published, "published twice: {fact:?}");
                known.published = true;
            }
            FactKind::MoveWithdrawn { ply, uci, published } => {
                assert_eq!(*ply, self.plies.len(), "withdrawn out of order: {fact:?}");
                let known = self.known(*ply, uci, fact);
                assert_eq!(*published, known.published, "{fact:?}");
                assert!(!known.completed, "completed and then withdrawn: {fact:?}");
                self.plies.pop();
            }
            FactKind::MoveCompleted { ply, uci, .. } => {
                let known = self.known(*ply, uci, fact);
                assert!(!known.completed, "completed twice: {fact:?}");
                known.completed = true;
            }
            // The Laws' remark that a released man was moved on; the move itself was told before.
            FactKind::MoveRevised { reason: "released-then-moved", .. } => {}
            FactKind::MoveRevised { ply, was, uci, published, .. } => {
                let known = self.known(*ply, was, fact);
                assert_eq!(*published, known.published, "{fact:?}");
                assert_ne!(was, uci, "revised to the same: {fact:?}");
                known.uci = uci.to_string();
            }
            FactKind::PlyClock { ply, .. } => {
                let known = ply.checked_sub(1).and_then(|index| self.plies.get(index));
                assert!(known.is_some_and(|ply| ply.completed), "of a ply that is not completed: {fact:?}");
            }
            FactKind::GameEnd { result, .. } => self.result = *result,
            FactKind::ResultWithdrawn => self.result = GameResult::Ongoing,
            _ => {}
        }
    }

    /// How many plies from the first on were published.
    pub fn published(&self) -> usize {
        self.plies.iter().take_while(|ply| ply.published).count()
    }

    fn known(&mut self, ply: usize, uci: &str, fact: &Fact) -> &mut Ply {
        let known = ply.checked_sub(1).and_then(|index| self.plies.get_mut(index));
        let known = known.unwrap_or_else(|| panic!("of a ply that was not made: {fact:?}"));
        assert_eq!(known.uci, uci, "of another move: {fact:?}");
        known
    }

    /// The session says the same.
    pub fn agrees_with(&self, session: &Session) {
        let plies: Vec<Ply> = session
            .plies()
            .map(|ply| Ply {
                uci: ply.uci.to_string(),
                completed: ply.completed.is_some(),
                published: ply.published,
            })
            .collect();
        assert_eq!(self.plies, plies, "facts (left) and plies");
        assert_eq!(self.result, session.result(), "facts (left) and result");
    }
}
