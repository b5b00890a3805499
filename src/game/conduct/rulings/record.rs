//! What an arbiter takes from the record: the snapshot, the score, the evidence of a claim (Article 8.5).

use shakmaty::{Chess, Color, Position as _};

use crate::{
    game::conduct::{Conduct, Desk},
    laws::settings::Quickplay,
    notation,
    session::{
        event::GameResult,
        fact::{
            Certainty, Conclusion, EndDetail,
            law::{Audience, LawFact, Progress, Side, Snapshot, TimedMove},
        },
    },
};

/// So many of the last plies go with a claim in the quickplay finish.
const EVIDENCE_PLIES: usize = 20;

impl Conduct {
    /// The actual position, times, whose clock ran, the moves, the score (Article 8.5.3).
    pub(in crate::game::conduct) fn freeze(&self, purpose: Option<&'static str>, desk: &mut Desk<'_>) {
        let (moves_made, moves_completed) = (self.moves_made(desk), self.moves_completed(desk));
        let running = self.clocks.running().or_else(|| self.clocks.any_flag());
        desk.tell(LawFact::Snapshot(Box::new(Snapshot {
            fen: desk.fen(),
            board: (!desk.session.differs().is_empty()).then(|| desk.session.physical().board.to_string()),
            running: running.map(Side),
            white_ms: self.clocks.remaining(Color::White, desk.at),
            black_ms: self.clocks.remaining(Color::Black, desk.at),
            moves_made,
            moves_completed,
            score: self.score(desk),
            purpose,
            progress: purpose.map(|_| self.progress(desk)),
            to: Audience::Arbiter,
        })));
    }

    /// The score of the game in the notation that is set, numbered.
    pub(super) fn score(&self, desk: &Desk<'_>) -> String {
        let language = self.settings.language.as_str().parse().unwrap_or(notation::Language::English);
        let style = notation::Style::new(language);
        let log = desk.session.plies().len();
        let positions: Vec<&Chess> = self
            .earlier
            .iter()
            .chain((0..=log).filter_map(|index| desk.session.position_after(index)))
            .collect();
        let mut score = String::new();
        for pair in positions.windows(2) {
            let [before, after] = pair else { continue };
            let Some(mv) = before.legal_moves().into_iter().find(|mv| {
                let mut next = (*before).clone();
                next.play_unchecked(*mv);
                next == **after
            }) else {
                score.push_str(" --");
                continue;
            };
            let number = before.fullmoves();
            match before.turn() {
                Color::White => score.push_str(&format!(" {number}.")),
                Color::Black if score.is_empty() => score.push_str(&format!(" {number}...")),
                Color::Black => {}
            }
            score.push(' ');
            score.push_str(&notation::write(before, mv, &style));
        }
        score.trim_start().to_owned()
    }

    pub(super) fn progress(&self, desk: &Desk<'_>) -> Progress {
        let mut before = self.clocks.start();
        let mut moves: Vec<TimedMove> = Vec::new();
        for (index, record) in desk.session.plies().enumerate() {
            let done = record.completed.unwrap_or(record.made);
            let Some(position) = desk.session.position_after(index) else { continue };
            let by = Side(position.turn());
            moves.push(TimedMove { san: record.san, by, took_ms: done.since(before) / 1000 });
            before = done;
        }
        let position = desk.session.position();
        Progress {
            last_moves: moves.split_off(moves.len().saturating_sub(EVIDENCE_PLIES)),
            halfmoves: position.halfmoves(),
            occurrences: self.occurrences(position, false, desk),
        }
    }

    /// What an arbiter needs for a claim in the quickplay finish; without one the claim ends the game, and
    /// an arbiter decides later (2005: Annex D; 2023: Guideline III.6).
    pub(in crate::game::conduct) fn gather_evidence(&mut self, desk: &mut Desk<'_>) {
        let alone = self.settings.quickplay == Quickplay::NoArbiter;
        self.freeze(Some(if alone { "annex-D" } else { "quickplay" }), desk);
        if alone {
            let more = EndDetail { pending: true, ..EndDetail::default() };
            let end = Conclusion::of(GameResult::Ongoing, "arbiter-decision", Certainty::Arbiter);
            desk.conclude(Conclusion { more, ..end });
            return;
        }
        for side in [Color::White, Color::Black] {
            self.tell_can_mate(side, desk);
        }
    }
}
