//! Article numbers of the edition in force: one table, so that a fact names the article an arbiter
//! finds in his book.

use crate::session::setup::Rules;

/// The numbers of the articles that facts name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Articles {
    /// An own man was touched first.
    pub own: &'static str,
    /// An opponent's man was touched.
    pub theirs: &'static str,
    /// Men of both colours were touched.
    pub both: &'static str,
    /// King, then rook.
    pub king_rook: &'static str,
    /// Rook, then king.
    pub rook_king: &'static str,
    /// Castling was meant and is illegal.
    pub no_castling: &'static str,
    /// Nothing that was touched can be moved or captured.
    pub free: &'static str,
    /// A man was released on its square.
    pub released: &'static str,
    /// A king was released two squares away.
    pub king_released: &'static str,
    /// The same, where castling is illegal.
    pub king_released_illegal: &'static str,
    /// A pawn was released on the last rank.
    pub pawn_released: &'static str,
    /// The right to claim is lost by touching a man.
    pub claim_lost: &'static str,
    /// An announced move has to be played after a claim was refused.
    pub announced: &'static str,
    /// The sealed move is the one in the envelope.
    pub sealed: &'static str,
    /// A pawn that was left on the last rank is a queen.
    pub unpromoted: &'static str,
    /// An illegal move.
    pub illegal: &'static str,
    /// Which men that stood wrong at the start may not castle, once it is too late to claim that.
    pub no_castling_after: &'static str,
    /// The penalties of the arbiter, by their words in the journal.
    penalties: &'static [(&'static str, &'static str)],
}

const OF_2005: Articles = Articles {
    own: "4.3a",
    theirs: "4.3b",
    both: "4.3c",
    king_rook: "4.4a",
    rook_king: "4.4b",
    no_castling: "4.4c",
    free: "4.5",
    released: "4.6",
    king_released: "4.6b",
    king_released_illegal: "4.6b",
    pawn_released: "4.6c",
    claim_lost: "4.7",
    announced: "9.5b",
    sealed: "A.1a",
    unpromoted: "7.4a",
    illegal: "7.4",
    no_castling_after: "if king and queen were interchanged",
    penalties: &[
        ("warning", "13.4a"),
        ("more-time-opponent", "13.4b"),
        ("reduce-own-time", "13.4c"),
        ("loss", "13.4d"),
        ("fewer-points", "13.4e"),
        ("more-points-opponent", "13.4f"),
        ("expulsion", "13.4g"),
    ],
};

const OF_2023: Articles = Articles {
    own: "4.3.1",
    theirs: "4.3.2",
    both: "4.3.3",
    king_rook: "4.4.1",
    rook_king: "4.4.2",
    no_castling: "4.4.3",
    free: "4.5",
    released: "4.7",
    king_released: "4.7.2",
    king_released_illegal: "4.7.2",
    pawn_released: "4.7.3",
    claim_lost: "4.8",
    announced: "9.5.3",
    sealed: "I.1.1",
    unpromoted: "7.5.2",
    illegal: "7.5",
    no_castling_after: "if the king stood wrong; if a rook did, not with that rook",
    penalties: &[
        ("warning", "12.9.1"),
        ("more-time-opponent", "12.9.2"),
        ("reduce-own-time", "12.9.3"),
        ("more-points-opponent", "12.9.4"),
        ("fewer-points", "12.9.5"),
        ("loss", "12.9.6"),
        ("fine", "12.9.7"),
        ("exclusion-from-rounds", "12.9.8"),
        ("expulsion", "12.9.9"),
    ],
};

impl Articles {
    /// The article of a penalty, by its word in the journal; nothing where the edition does not have it.
    pub fn penalty(&self, kind: &str) -> Option<&'static str> {
        self.penalties.iter().find(|(word, _)| *word == kind).map(|(_, article)| *article)
    }

    /// The table of an edition.
    pub const fn of(rules: Rules) -> &'static Articles {
        match rules {
            Rules::Fide2005 => &OF_2005,
            Rules::Fide2023 | Rules::Ua => &OF_2023,
        }
    }
}
