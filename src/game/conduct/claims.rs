//! What players say through buttons: adjusting, draw offers, resignation, claims (Articles 4.2, 5.1,
//! 5.2, 9). A claim is looked at by the facts that the journal has; an arbiter decides it.

use shakmaty::{Chess, Color, Move, Position as _, Square, uci::UciMove};

use super::{Conduct, Desk};
use crate::{
    laws::{
        arithmetic::{
            quickplay::{self, Circumstances, NotEligible},
            recording,
        },
        settings::{ClaimLostOn, ForfeitScope, Quickplay},
    },
    session::{
        event::GameResult,
        fact::{
            Certainty, Conclusion, EndDetail,
            law::{Audience, By, ClaimCheck, LawFact, Notice, Side, Sq},
        },
        text::MoveText,
    },
};

/// What was said and still stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    /// Who offered a draw.
    pub offer: Option<Color>,
    /// The move that a player wrote and announced, and may still claim with.
    pub intended: Option<(Color, Move, MoveText)>,
    /// A written move that is not legal.
    refused: Option<String>,
    /// A claim that the arbiter has not decided yet.
    pub pending: Option<Pending>,
    /// Requests to see the record, of each side.
    requests: [u32; 2],
    /// A request for five seconds a move was made, by whom.
    pub five_seconds: Option<Color>,
}

/// A claim that waits for the arbiter.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub by: Color,
    pub kind: &'static str,
    pub intended: Option<Move>,
    /// The man of a written move that is not legal.
    pub man: Option<Square>,
    /// What it comes to when the arbiter agrees, where the facts support it.
    pub end: Option<Conclusion>,
    /// The facts support it.
    pub supported: bool,
}

impl Pending {
    /// A claim that ends nothing by itself.
    pub(super) const fn of(kind: &'static str, by: Color, supported: bool) -> Pending {
        Pending { by, kind, intended: None, man: None, end: None, supported }
    }
}

impl Claims {
    /// A claim that the facts support waits for the arbiter.
    pub(super) fn is_supported(&self) -> bool {
        self.pending.as_ref().is_some_and(|claim| claim.supported)
    }

    /// A claim of this kind waits for the arbiter.
    pub(super) fn waits_for(&self, kind: &str) -> bool {
        self.pending.as_ref().is_some_and(|claim| claim.kind == kind)
    }

    /// A move was made by `side`: what it wrote before is no longer about to be played.
    pub(super) fn made(&mut self, side: Color) {
        if self.intended.is_some_and(|(by, _, _)| by == side) {
            self.intended = None;
        }
    }
}

/// A button, by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Adjust(Color),
    OfferDraw(Color),
    AcceptDraw(Color),
    DeclineDraw(Color),
    Resign(Color),
    Claim(&'static str, Color),
    FiveSeconds(Color),
    ShowScore(Color),
    Touched(Color, Square),
    Status(Color),
    Present(Color),
    Announced,
}

fn side(word: &str) -> Option<Color> {
    match word {
        "white" => Some(Color::White),
        "black" => Some(Color::Black),
        _ => None,
    }
}

fn said(name: &str) -> Option<Said> {
    if let Some(rest) = name.strip_prefix("assistant-touch-") {
        let (word, square) = rest.split_once('-')?;
        return Some(Said::Touched(side(word)?, square.parse().ok()?));
    }
    if matches!(name, "status" | "request-status" | "assistant-status" | "assistant-request-status") {
        return Some(Said::Status(Color::White));
    }
    if name == "announce" {
        return Some(Said::Announced);
    }
    let (what, word) = name.rsplit_once('-')?;
    let side = side(word)?;
    const CLAIMS: [&str; 9] =
        ["threefold", "fifty", "touch", "illegal", "setup", "quickplay", "time", "flag", "draw"];
    Some(match what {
        "jadoube" => Said::Adjust(side),
        "draw-offer" => Said::OfferDraw(side),
        "draw-accept" => Said::AcceptDraw(side),
        "draw-decline" => Said::DeclineDraw(side),
        "resign" => Said::Resign(side),
        "request-five-seconds" => Said::FiveSeconds(side),
        "show-score" => Said::ShowScore(side),
        "assistant-status" | "assistant-request" | "status" => Said::Status(side),
        "assistant-request-status" | "request-status" => Said::Status(side),
        "present" => Said::Present(side),
        "announce" => Said::Announced,
        other => {
            let kind = other.strip_prefix("claim-")?;
            Said::Claim(CLAIMS.into_iter().find(|known| *known == kind)?, side)
        }
    })
}

fn by(side: Color) -> Option<By> {
    Some(By::Side(Side(side)))
}

impl Conduct {
    /// A button was pressed: `draw-offer-white`, `claim-threefold-black` and the like.
    pub(super) fn button(&mut self, name: &str, desk: &mut Desk<'_>) {
        let Some(said) = said(name) else {
            let detail = format!("no button is called {name:?}; docs/laws.md lists them");
            desk.notice(Notice { detail: detail.into(), ..Notice::of("unknown-button", Audience::Arbiter) });
            return;
        };
        let late = matches!(said, Said::Claim("touch", _)) && self.ended_in_breach(desk);
        if self.is_over(desk) && !late && !matches!(said, Said::Status(_)) {
            let detail = format!("{name}: the game is over");
            desk.notice(Notice { detail: detail.into(), ..Notice::of("after-the-end", Audience::Journal) });
            return;
        }
        match said {
            Said::Adjust(side) => self.announce_adjustment(side, desk),
            Said::OfferDraw(side) => self.offer_draw(side, desk),
            Said::AcceptDraw(side) => self.accept_draw(side, desk),
            Said::DeclineDraw(side) => self.refuse_offer(side, "word", desk),
            Said::Resign(side) => self.resign(side, desk),
            Said::FiveSeconds(side) => self.request_five_seconds(side, desk),
            Said::ShowScore(side) => self.show_score(side, desk),
            Said::Touched(side, square) => self.report_touch(side, square, desk),
            Said::Status(side) => self.tell_status(side, desk),
            Said::Present(side) => self.clocks.see(side, desk.at),
            Said::Announced => self.announced_by_button(desk),
            Said::Claim(kind, side) => match kind {
                "threefold" | "fifty" => self.claim_draw(kind, side, desk),
                "touch" => self.claim_touch(side, desk),
                "illegal" => self.claim_illegal(side, desk),
                "setup" => self.claim_setup(side, desk),
                "quickplay" | "draw" => self.claim_quickplay(side, desk),
                _ => self.claim_time(side, desk),
            },
        }
    }

    /// A written move (Articles 9.2.1, 9.3.1; 2005: 9.2a, 9.3a): it has to be legal.
    pub(super) fn intended(&mut self, text: &str, desk: &mut Desk<'_>) {
        let position = desk.session.position();
        let standing = self.claims.intended.filter(|(by, _, _)| *by == position.turn());
        if let Some((_, mv, uci)) = standing.filter(|_| self.settings.draw.written_move_stands)
            && read_move(position, text) != Some(mv)
        {
            let notice = Notice::of("intended-refused", Audience::Arbiter);
            let detail = format!("{uci} was written first and cannot be changed");
            desk.notice(Notice { attempt: Some(text.to_owned()), detail: detail.into(), ..notice });
            return;
        }
        match read_move(position, text) {
            Some(mv) => {
                self.claims.refused = None;
                self.claims.intended = Some((position.turn(), mv, desk.session.move_text(mv)));
            }
            None => {
                self.claims.intended = None;
                self.claims.refused = Some(text.to_owned());
                let notice = Notice::of("intended-refused", Audience::Arbiter);
                let detail = format!("{text:?} is no legal move here; the game stands as it is");
                desk.notice(Notice { attempt: Some(text.to_owned()), detail: detail.into(), ..notice });
            }
        }
    }

    /// A draw offer (Article 9.1): properly made after the own move and before the press.
    fn offer_draw(&mut self, side: Color, desk: &mut Desk<'_>) {
        let just_moved =
            desk.turn() != side && desk.session.last_ply().is_some_and(|record| record.completed.is_none());
        self.claims.offer = Some(side);
        let (by, timed) = (by(side), Some(just_moved));
        desk.notice(Notice { by, timed, ..Notice::of("draw-offer-standing", Audience::Journal) });
        if !just_moved {
            desk.notice(Notice { by, ..Notice::of("draw-offer-ill-timed", Audience::Arbiter) });
        }
        self.offer_changed(desk);
    }

    fn accept_draw(&mut self, side: Color, desk: &mut Desk<'_>) {
        if self.claims.offer != Some(!side) {
            let notice = Notice::of("claim-not-available", Audience::Arbiter);
            desk.notice(Notice { by: by(side), reason: Some("no offer stands"), ..notice });
            return;
        }
        self.claims.offer = None;
        let made = self.moves_made(desk);
        let before = desk.session.position().fullmoves().get() - 1;
        let each = made.white.min(made.black).max(before);
        let reason = if each < self.settings.draw.agreement_min_moves_each {
            Some("fewer than one move each")
        } else if each + 1 < self.settings.draw.forbidden_before_move {
            Some("the regulations forbid agreement before that move")
        } else {
            None
        };
        if reason.is_some() {
            desk.notice(Notice { by: by(!side), reason, ..Notice::of("draw-offer-void", Audience::Arbiter) });
            return;
        }
        desk.conclude(Conclusion::of(GameResult::Draw, "agreement", Certainty::Presumed));
    }

    /// An offer is refused, by word or by touching a man with the intention to move it (Article 9.1.2).
    pub(super) fn refuse_offer(&mut self, side: Color, how: &'static str, desk: &mut Desk<'_>) {
        if self.claims.offer == Some(!side) {
            self.claims.offer = None;
            let notice = Notice::of("draw-offer-rejected", Audience::Journal);
            desk.notice(Notice { side: Some(Side(side)), by: Some(By::Word(how)), ..notice });
            self.offer_changed(desk);
        }
    }

    /// Resignation (Article 5.1.2; 2005: 5.1b): in the edition of 2023 a draw where the opponent cannot
    /// mate.
    fn resign(&mut self, side: Color, desk: &mut Desk<'_>) {
        let exception = self.settings.resign_draw_if_opponent_cannot_mate;
        let cannot = exception && self.tell_can_mate(!side, desk) == Some(false);
        let end = if cannot {
            self.draw_for_want_of_mate("resignation-draw", !side)
        } else {
            Conclusion::of(GameResult::win(!side), "resignation", Certainty::Presumed)
        };
        desk.conclude(end);
    }

    pub(super) fn draw_for_want_of_mate(&self, reason: &'static str, side: Color) -> Conclusion {
        let more = EndDetail { cannot_mate: Some(side), ..EndDetail::default() };
        Conclusion { more, ..Conclusion::of(GameResult::Draw, reason, Certainty::Presumed) }
    }

    fn claim_draw(&mut self, kind: &'static str, side: Color, desk: &mut Desk<'_>) {
        let reason = if desk.turn() != side {
            Some("not on move")
        } else if self.settings.draw.claim_lost_on == ClaimLostOn::Touch && self.turn.has_touched() {
            Some("piece touched")
        } else {
            None
        };
        if reason.is_some() {
            let notice = Notice::of("claim-not-available", Audience::Arbiter);
            desk.notice(Notice { by: by(side), reason, ..notice });
            return;
        }
        if let Some(text) = self.claims.refused.take() {
            // The written move is not legal: there is nothing to count (Article 9.5.2).
            desk.tell(LawFact::ClaimCheck(ClaimCheck {
                kind,
                by: Some(Side(side)),
                intended: Some(MoveText::of(text.clone())),
                reason: Some("the written move is not legal"),
                ..ClaimCheck::default()
            }));
            let man = text.get(..2).and_then(|name| name.parse().ok());
            let man = man.filter(|square| desk.session.position().us().contains(*square));
            self.claims.pending = Some(Pending { man, ..Pending::of(kind, side, false) });
            return;
        }
        let intended = self.claims.intended.filter(|(by, _, _)| *by == side);
        let mut position = desk.session.position().clone();
        if let Some((_, mv, _)) = intended {
            position.play_unchecked(mv);
        }
        let mut check = ClaimCheck {
            kind,
            by: Some(Side(side)),
            intended: intended.map(|(_, _, text)| text),
            ..ClaimCheck::default()
        };
        if kind == "threefold" {
            let count = self.occurrences(&position, intended.is_some(), desk);
            check.count = Some(count);
            check.valid = count >= 3;
        } else {
            check.halfmoves = Some(position.halfmoves());
            check.valid = position.halfmoves() >= 100;
        }
        let valid = check.valid;
        let text = check.intended;
        desk.tell(LawFact::ClaimCheck(check));
        // A claim is an offer, too (Article 9.1.2.3; 2005: 9.1c).
        self.claims.offer = Some(side);
        if !valid {
            desk.notice(Notice { by: by(side), ..Notice::of("draw-offer-standing", Audience::Journal) });
        }
        let end = valid.then(|| {
            let more = EndDetail { intended: text, ..EndDetail::default() };
            Conclusion { more, ..Conclusion::of(GameResult::Draw, kind, Certainty::Presumed) }
        });
        let intended = intended.map(|(_, mv, _)| mv);
        self.await_ruling(Pending { intended, end, ..Pending::of(kind, side, valid) }, desk);
    }

    /// A claim waits for the arbiter; what the facts support is told as an end that is still his to decide.
    pub(super) fn await_ruling(&mut self, claim: Pending, desk: &mut Desk<'_>) {
        if let Some(end) = claim.end {
            let more = EndDetail { pending: true, ..end.more };
            desk.conclude(Conclusion { more, ..end });
        }
        self.claims.pending = Some(claim);
    }

    /// How often a position has appeared with the same side to move and the same possible moves (Article
    /// 9.2.3); `intended` when it is still to come.
    pub(super) fn occurrences(&self, position: &Chess, intended: bool, desk: &Desk<'_>) -> u32 {
        // Nothing comes back from before the last capture or move of a pawn.
        let halfmoves = usize::try_from(position.halfmoves()).unwrap_or(usize::MAX);
        let (earlier, log) = (self.earlier.len(), desk.session.plies().len());
        let first = (earlier + log).saturating_sub(halfmoves);
        let of_the_log = (first.saturating_sub(earlier)..=log).filter_map(|n| desk.session.position_after(n));
        let before = self.earlier.iter().skip(first).chain(of_the_log);
        let before = before.filter(|other| same_position(other, position));
        u32::try_from(before.count()).unwrap_or(u32::MAX).saturating_add(u32::from(intended))
    }

    fn claim_touch(&mut self, side: Color, desk: &mut Desk<'_>) {
        let check = ClaimCheck { kind: "touch", by: Some(Side(side)), ..ClaimCheck::default() };
        let check = match &self.violation {
            Some(violation) if violation.by != side => {
                let covered = violation.of_touch
                    || self.settings.touch.claim_forfeit_scope == ForfeitScope::ActOfMoving;
                ClaimCheck {
                    valid: !violation.forfeited,
                    article: Some(article_family(violation.article)),
                    reason: (violation.forfeited && covered).then_some("a man was touched since"),
                    ..check
                }
            }
            _ => ClaimCheck { reason: Some("no violation is on record"), ..check },
        };
        let valid = check.valid;
        desk.tell(LawFact::ClaimCheck(check));
        if valid && let Some(ply) = self.violation.as_ref().map(|violation| violation.ply) {
            self.claims.pending = Some(Pending::of("touch", side, true));
            // What upholding it takes; where it is not on record the ruling says so.
            let _ = self.tell_way_back(self.earlier.len() + ply.saturating_sub(1), desk);
        }
    }

    /// A claim about set-up, orientation or the setting of the clock (Article A.5.1; 2005: B.4).
    fn claim_setup(&mut self, side: Color, desk: &mut Desk<'_>) {
        let limit = self.settings.setup_claim_limit_moves;
        let made = self.moves_made(desk);
        let open = limit == 0 || made.white.min(made.black) < limit;
        desk.tell(LawFact::ClaimCheck(ClaimCheck {
            kind: "setup",
            by: Some(Side(side)),
            valid: open,
            ..ClaimCheck::default()
        }));
        if open {
            self.claims.pending = Some(Pending::of("setup", side, true));
            return;
        }
        let notice = Notice::of("setup-claim-closed", Audience::Arbiter);
        desk.notice(Notice { limit_moves: Some(limit), ..notice });
        let notice = Notice::of("king-may-not-castle", Audience::Arbiter);
        let condition = Some(self.articles.no_castling_after);
        desk.notice(Notice { side: Some(Side(side)), condition, ..notice });
    }

    /// A claim in the quickplay finish (Article 10.2 of 2005; Guideline III.5).
    fn claim_quickplay(&mut self, side: Color, desk: &mut Desk<'_>) {
        let remaining = self.clocks.remaining(side, desk.at);
        let circumstances = self.circumstances(side, remaining.unwrap_or(u64::MAX), desk);
        let Circumstances { flag_fallen, per_move, .. } = circumstances;
        let outcome = quickplay::eligible(&self.settings, &circumstances);
        desk.tell(LawFact::ClaimCheck(ClaimCheck {
            kind: "quickplay",
            by: Some(Side(side)),
            valid: outcome.is_ok(),
            remaining_ms: remaining,
            to_move: Some(circumstances.to_move),
            flag_fallen,
            increment: (per_move.ms() > 0).then_some(per_move.ms()),
            last_period: (!circumstances.last_period).then_some(false),
            reason: outcome.err().map(why_not),
            ..ClaimCheck::default()
        }));
        self.claims.offer = Some(side);
        self.claims.pending = Some(Pending::of("quickplay", side, outcome.is_ok()));
        if outcome.is_ok() {
            self.gather_evidence(desk);
        }
    }

    /// What a claim or a request of this player in the quickplay finish meets.
    pub(super) fn circumstances(&self, side: Color, remaining_ms: u64, desk: &Desk<'_>) -> Circumstances {
        let completed = self.completed_by(side, desk);
        Circumstances {
            remaining_ms,
            to_move: desk.turn() == side,
            flag_fallen: self.clocks.flag(side).is_some(),
            last_period: self.clocks.is_last_period(side, completed),
            per_move: self.clocks.per_move(side, completed),
        }
    }

    /// Why nobody can claim anything in the quickplay finish of this game, where it has none.
    pub(super) fn no_quickplay(&self, side: Color, desk: &Desk<'_>) -> Option<&'static str> {
        let outcome = quickplay::eligible(&self.settings, &self.circumstances(side, 0, desk));
        outcome.err().filter(|reason| reason.is_for_all()).map(why_not)
    }

    fn request_five_seconds(&mut self, side: Color, desk: &mut Desk<'_>) {
        // Where the time is not known, the arbiter looks at the clock.
        let remaining = self.clocks.remaining(side, desk.at).unwrap_or(0);
        let request = self.circumstances(side, remaining, desk);
        match quickplay::five_seconds(&self.settings, &request) {
            Ok(_) => self.claims.five_seconds = Some(side),
            Err(reason) => {
                let why = match reason {
                    NotEligible::NotAnnounced => "the five-second mode does not apply",
                    other => why_not(other),
                };
                let notice = Notice::of("claim-not-available", Audience::Arbiter);
                desk.notice(Notice { by: by(side), reason: Some(why), ..notice });
                let claims_instead = matches!(self.settings.quickplay, Quickplay::On | Quickplay::NoArbiter);
                if reason == NotEligible::Blitz || request.per_move.ms() > 0 || claims_instead {
                    return;
                }
            }
        }
        // The request is a draw offer (Guideline III.4.2), except in a game that cannot have the mode.
        self.claims.offer = Some(side);
        desk.notice(Notice { by: by(side), ..Notice::of("draw-offer-standing", Audience::Journal) });
    }

    /// A request to see the arbiter's record (Articles A.4.3, B.2.3).
    fn show_score(&mut self, side: Color, desk: &mut Desk<'_>) {
        if desk.turn() != side {
            let notice = Notice::of("claim-not-available", Audience::Arbiter);
            desk.notice(Notice { by: by(side), reason: Some("not on move"), ..notice });
            return;
        }
        let count = self.claims.requests.get_mut(side.fold_wb(0usize, 1));
        let value = count.map_or(0, |count| {
            *count = count.saturating_add(1);
            *count
        });
        let allowed = recording::request_allowed(&self.settings.record, value);
        desk.tell(LawFact::Counter {
            name: "show-score",
            side: Side(side),
            value,
            allowed,
            to: Audience::Arbiter,
        });
        if !allowed {
            let notice = Notice::of("request-limit", Audience::Arbiter);
            desk.notice(Notice { side: Some(Side(side)), ..notice });
        }
    }

    /// An assistant reports that a player touched a man (Appendix D.2.9.5; 2005: F.2.9e).
    fn report_touch(&mut self, side: Color, square: Square, desk: &mut Desk<'_>) {
        if desk.turn() != side {
            let notice = Notice::of("touch-not-on-move", Audience::Arbiter);
            desk.notice(Notice { side: Some(Side(side)), square: Some(Sq(square)), ..notice });
            return;
        }
        if desk.session.position().board().piece_at(square).is_none() {
            let notice = Notice::of("claim-not-available", Audience::Arbiter);
            let reason = Some("no man of the game stands on that square");
            desk.notice(Notice { by: by(side), square: Some(Sq(square)), reason, ..notice });
            return;
        }
        self.close_windows(side, desk);
        self.take_touch(square, desk.at, true, desk);
    }
}

/// The same side to move, the same men on the same squares, the same possible moves: castling and en
/// passant count where they are legal (Article 9.2.3).
fn same_position(a: &Chess, b: &Chess) -> bool {
    a.turn() == b.turn()
        && a.board() == b.board()
        && a.castles().castling_rights() == b.castles().castling_rights()
        && a.legal_ep_square() == b.legal_ep_square()
}

/// A legal move in UCI or in English algebraic notation.
pub(super) fn read_move(position: &Chess, text: &str) -> Option<Move> {
    let text = text.trim();
    if let Ok(uci) = text.parse::<UciMove>()
        && let Ok(mv) = uci.to_move(position)
    {
        return Some(mv);
    }
    text.parse::<shakmaty::san::SanPlus>().ok()?.san.to_move(position).ok()
}

/// The article without its paragraph: `4.3` of `4.3.1`, `4.6` of `4.6b`.
fn article_family(article: &'static str) -> &'static str {
    article.get(..3).unwrap_or(article)
}

pub(super) const fn why_not(reason: NotEligible) -> &'static str {
    match reason {
        NotEligible::NotAnnounced => "the quickplay finish does not apply",
        NotEligible::Blitz => "blitz has no quickplay finish",
        NotEligible::AdditionalTime => "additional time is in force",
        NotEligible::EarlierPeriod => "a period with a number of moves still runs",
        NotEligible::FlagFallen => "the claimant's flag has fallen",
        NotEligible::NotToMove => "the opponent has the move",
        NotEligible::TooMuchTime => "two minutes or more are left, or the time is not known",
    }
}
