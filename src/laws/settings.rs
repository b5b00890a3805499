//! What the editions of the Laws say differently, and the tolerances of this program, as one value.
//!
//! [`LawSettings::preset`] gives the settings of an edition, a discipline and a regime of
//! supervision; [`LawSettings::set`] changes one by its dotted name. Nothing else in the program asks
//! which edition holds. Articles are those of 2023, with those of 2005 where they differ.

mod keys;
mod preset;
mod words;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use self::{
    keys::{Expected, KEYS, LawKey},
    words::{
        AbsentBoth, AdjournmentRules, Alert, BothFlags, BothUnknown, ClaimLostOn, ClaimantPenalty, ClockKind,
        ClockMode, ColoursReversed, DeadCheck, Discipline, DisciplineSetting, EarlyAdjournment, ForfeitScope,
        IllegalFinality, IllegalPosition, IntentDefault, Language, PegAnnounce, PegSpeech, PressWithoutMove,
        Quickplay, RookFirstBan, Rules, Supervision, TwoHands, Unpromoted, WhiteSide, Word,
    },
};
use super::time_control::GameControl;

/// All settings of the Laws for one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LawSettings {
    /// The discipline that these settings are for, never `auto`.
    pub discipline: Discipline,
    /// `class.*`
    pub class: ClassSettings,
    /// `rules.quickplay`: the quickplay finish (Guideline III; 2005: Article 10).
    pub quickplay: Quickplay,
    /// `touch.*`, but for the dwell, which is a setting of the session.
    pub touch: TouchSettings,
    /// `castling.rook_first_ban`: rook touched before the king (Article 4.4.2; 2005: 4.4b).
    pub rook_first_ban: RookFirstBan,
    /// `promotion.any_order`: pawn and new piece in any order (Article 4.6; 2005: tolerated).
    pub promotion_any_order: bool,
    /// `completion.implied_by_next_move`: the player's next move completes an earlier one that was
    /// never pressed (Article 6.2.1.2).
    pub implied_by_next_move: bool,
    /// `clock.*`
    pub clock: ClockSettings,
    /// `draw.*`
    pub draw: DrawSettings,
    /// `resign.draw_if_opponent_cannot_mate`: resignation is a draw where the opponent cannot mate
    /// (Article 5.1.2).
    pub resign_draw_if_opponent_cannot_mate: bool,
    /// `illegal.*`
    pub illegal: IllegalSettings,
    /// `flag.*`
    pub flag: FlagSettings,
    /// `default_time_s`: seconds after the start at which an absent player loses (Article 6.7.1;
    /// 2005: 6.7).
    pub default_time_s: u32,
    /// `colours_reversed` (Article 7.3; 2005: 7.2).
    pub colours_reversed: ColoursReversed,
    /// `setup.claim_limit_moves`: moves by each side after which set-up, orientation and clock setting
    /// can no longer be claimed (Article A.5.1; 2005: B.4); 0: no limit (Article 7.2; 2005: 7.1).
    pub setup_claim_limit_moves: u32,
    /// `record.*`
    pub record: RecordSettings,
    /// `dead.check`: how a dead position is found (Article 5.2.2; 2005: 5.2b, 9.6).
    pub dead_check: DeadCheck,
    /// `displace.window_ms`: squares that change within this many milliseconds were displaced together
    /// (Article 7.4.1; 2005: 7.3).
    pub displace_window_ms: u64,
    /// `peg.announce`: how an announcement is known (Article D.2.3; 2005: F.2.3).
    pub peg_announce: PegAnnounce,
    /// `peg.speech`: the language in which moves are called (Appendix D.2.1; 2005: Annex F).
    pub peg_speech: PegSpeech,
    /// `two_board.mirror_timeout_s`: seconds for which the second board may lag behind (Article D.2.7;
    /// 2005: F.2.7).
    pub mirror_timeout_s: u32,
    /// `chess960.*`
    pub chess960: Chess960Settings,
    /// `rules.adjournment` and `adjournment.*`
    pub adjournment: AdjournmentSettings,
    /// `feed.*`
    pub feed: FeedSettings,
    /// `notation.language`: piece letters of printed scores (Appendix C; 2005: Annex E).
    pub language: Language,
}

/// The settings of every edition, discipline and regime of supervision.
pub fn presets() -> impl Iterator<Item = LawSettings> {
    Rules::ALL.iter().flat_map(|rules| {
        Discipline::ALL.iter().flat_map(|discipline| {
            let preset = |supervision: &Supervision| LawSettings::preset(*rules, *discipline, *supervision);
            Supervision::ALL.iter().map(preset)
        })
    })
}

/// Where rapid chess and blitz begin, by `T = main time + 60 x seconds a move` (Articles A.1, B.1;
/// 2005: B.1, C.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSettings {
    /// `class.blitz_max_ms`: the longest T of blitz, in milliseconds.
    pub blitz_max_ms: u64,
    /// `class.rapid_max_ms`: the longest T of rapid chess, in milliseconds.
    pub rapid_max_ms: u64,
}

/// Touched pieces (Article 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchSettings {
    /// `touch.order_uncertain_ms`: lifts that are at most this many milliseconds apart have no certain
    /// order; own piece first (Article 4.3.3; 2005: 4.3c).
    pub order_uncertain_ms: u64,
    /// `touch.adjust_window_ms`: an announced adjustment holds for this many milliseconds (Article
    /// 4.2.1; 2005: 4.2).
    pub adjust_window_ms: u64,
    /// `touch.two_hands_window_ms`: two placements that are at most this many milliseconds apart hint
    /// at two hands (Articles 4.1, 7.5.4).
    pub two_hands_window_ms: u64,
    /// `touch.claim_forfeit_scope` (Article 4.8; 2005: 4.7).
    pub claim_forfeit_scope: ForfeitScope,
    /// `touch.intent_default` (Article 4.2.2; 2005: 4.3).
    pub intent_default: IntentDefault,
    /// `touch.breach_undoes_mate`: a mate or stalemate that breaks Articles 4.2 to 4.7 may still be claimed
    /// (Articles 5.1.1, 5.2.1).
    pub breach_undoes_mate: bool,
    /// `touch.violation_alert`: who learns of a violation at once (2005: Article B.5).
    pub violation_alert: Alert,
}

/// The clock (Article 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSettings {
    /// `clock.kind`: where the time comes from (docs/clock.md).
    pub kind: ClockKind,
    /// `clock.think_times`: how long each move took is a fact, and told with the published moves.
    pub think_times: bool,
    /// `clock.mode`: additional time for each move (Article 6.3.1; 2005: 6.2b).
    pub mode: ClockMode,
    /// `clock.first_move_increment`: the first move's increment is on the clock at the start.
    pub first_move_increment: bool,
    /// `clock.white_side`: which half is White's, at a DGT board whose connector is at his left hand (Article
    /// 6.5; 2005: 6.4).
    pub white_side: WhiteSide,
    /// `clock.tolerance_ms`: milliseconds by which the clock and the program's own account may differ
    /// (Article 6.10; 2005: 6.11).
    pub tolerance_ms: u64,
    /// `clock.press_tolerance_ms`: a press may be this many milliseconds before its placement (Article
    /// 6.2.4; 2005: 6.8c).
    pub press_tolerance_ms: u64,
    /// `clock.press_grace_ms`: after a press without a move, the move may still come for this many
    /// milliseconds (Article 7.5.3; 2005: 6.8c).
    pub press_grace_ms: u64,
}

/// Draws (Articles 5.2 and 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawSettings {
    /// `draw.claim_lost_on` (Article 9.4).
    pub claim_lost_on: ClaimLostOn,
    /// `draw.written_move_stands`: a move that was written for a claim cannot be replaced by another one
    /// (Articles 9.2.1, 9.3.1).
    pub written_move_stands: bool,
    /// `draw.incorrect_claim`: what an incorrect claim costs the claimant (Article 9.5.3; 2005: 9.5b).
    pub incorrect_claim: ClaimantPenalty,
    /// `draw.incorrect_claim_bonus_ms`: milliseconds that the opponent gets for it (Articles 9.5.3,
    /// A.3; 2005: 9.5b).
    pub incorrect_claim_bonus_ms: u64,
    /// `draw.auto_fivefold`: the fifth occurrence ends the game (Article 9.6.1).
    pub auto_fivefold: bool,
    /// `draw.auto_75`: seventy-five moves without pawn move or capture end the game (Article 9.6.2).
    pub auto_75: bool,
    /// `draw.agreement_min_moves_each`: moves that both must have made before they can agree (Article
    /// 5.2.3; 2005: 5.2c).
    pub agreement_min_moves_each: u32,
    /// `draw.forbidden_before_move`: no agreement before this move (Article 9.1.1); 0: no such rule.
    pub forbidden_before_move: u32,
}

/// Illegal moves (Article 7.5; 2005: 7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllegalSettings {
    /// `illegal.bonus_ms`: milliseconds that the opponent gets (Articles 7.5.5, A.3; 2005: 7.4b).
    pub bonus_ms: u64,
    /// `illegal.loss_at`: the illegal move of a player that loses, counted from 1 (Article 7.5.5;
    /// 2005: 7.4b, C.3).
    pub loss_at: u32,
    /// `illegal.draw_if_opponent_cannot_mate`: then a draw where the opponent cannot mate (Article
    /// 7.5.5; 2005: C.3).
    pub draw_if_opponent_cannot_mate: bool,
    /// `illegal.press_without_move` (Article 7.5.3; 2005: 6.8c).
    pub press_without_move: PressWithoutMove,
    /// `illegal.two_hands` (Article 7.5.4; 2005: 4.1).
    pub two_hands: TwoHands,
    /// `illegal.unpromoted` (Article 7.5.2; 2005: 7.4a).
    pub unpromoted: Unpromoted,
    /// `illegal.remove_increment`: the increment of the illegal move is taken back (Article 6.14 of
    /// 2005; 7.1).
    pub remove_increment: bool,
    /// `illegal.fast_finality`: when it can no longer be corrected (Article A.5.2; 2005: B.6, C.3).
    pub fast_finality: IllegalFinality,
    /// `illegal.irregular_position`: both kings in check, pawn on the last rank (Article A.5.4; 2005: B.6).
    pub irregular_position: IllegalPosition,
    /// `illegal.move_alert`: who learns of an illegal move at once (2005: Articles B.6, C.3).
    pub move_alert: Alert,
}

/// Flag-fall (Articles 6.8 and 6.9; 2005: 6.9, 6.10, 6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagSettings {
    /// `flag.alert.standard`: who learns of a flag of a standard game (Article 6.8; 2005: 6.9).
    pub alert_standard: Alert,
    /// `flag.alert.rapid`: the same for a rapid game (Article A.5.5; 2005: B.7).
    pub alert_rapid: Alert,
    /// `flag.alert.blitz`: the same for a blitz game (Article B.3; 2005: C.2).
    pub alert_blitz: Alert,
    /// `flag.both_rapid`: both flags of a rapid or blitz game (2005: Article B.9).
    pub both_rapid: BothFlags,
    /// `flag.both_unknown.last_period` (Guideline III.3.1; 2005: Article 6.12).
    pub both_unknown_last_period: BothUnknown,
}

/// Recording of the moves (Article 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordSettings {
    /// `record.required`: the players record at all (Articles 8.1, A.2; 2005: B.3).
    pub required: bool,
    /// `record.threshold_ms`: with less than this on his clock in a period, a player need not record
    /// for the rest of it (Article 8.4).
    pub threshold_ms: u64,
    /// `record.min_increment_ms`: unless he gets at least this much with each move (Article 8.4).
    pub min_increment_ms: u64,
    /// `record.delay_counts`: a delay counts as such additional time.
    pub delay_counts: bool,
    /// `record.request_limit`: times that a player may ask to see the arbiter's record (Articles
    /// A.4.3, B.2.3); 0: there is no such right.
    pub request_limit: u32,
}

/// Chess960 (Guideline II).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chess960Settings {
    /// `chess960.position`: number of the start array, 0 to 959, where one is stated (Guideline II.2).
    pub position: Option<u16>,
    /// `chess960.king_off_ms`: the king may be beside the board for this many milliseconds while
    /// castling (Guideline II.3).
    pub king_off_ms: u64,
}

/// Adjourned games (Guideline I; 2005: Annex A).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjournmentSettings {
    /// `rules.adjournment`: the rules that hold.
    pub rules: AdjournmentRules,
    /// `adjournment.early`: who may adjourn before the end of the session (Guideline I.1; 2005: A.1b).
    pub early: EarlyAdjournment,
    /// `adjournment.absent_both_clock`: whose time runs when both are absent (Guideline I.11).
    pub absent_both_clock: AbsentBoth,
}

/// What may leave during a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedSettings {
    /// `feed.embargo_on_seal`: nothing newer than the position before a sealed move leaves (Guideline
    /// I.1; 2005: A.1a).
    pub embargo_on_seal: bool,
    /// `feed.show_irregular`: spectators see irregularities during the game (Article 12.7).
    pub show_irregular: bool,
}

/// Why a setting was refused.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingError {
    /// No setting has this name.
    #[error("unknown setting {key:?}; the names are listed in docs/configuration.md")]
    Unknown {
        /// What was given.
        key: String,
    },
    /// The last part of several names.
    #[error("setting {key:?} is {}; write the full name", names.join(" or "))]
    Ambiguous {
        /// What was given.
        key: String,
        /// The names that end so.
        names: Vec<&'static str>,
    },
    /// The value is of the wrong type or out of range.
    #[error("setting {key:?}: {reason}")]
    Value {
        /// The setting.
        key: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

impl LawSettings {
    /// The settings of an edition, a discipline and a regime of supervision.
    pub fn preset(rules: Rules, discipline: Discipline, supervision: Supervision) -> LawSettings {
        preset::table(rules, discipline, supervision)
    }

    /// The settings of a game: those of its edition, discipline and supervision, and over them
    /// `changes` by their full dotted names. `auto` is found from the time control, with the bounds of
    /// the edition or those among the changes.
    ///
    /// # Errors
    /// `auto` with a time control that cannot be read, an unknown name, or a value that is refused.
    pub fn resolve(
        rules: Rules,
        discipline: DisciplineSetting,
        supervision: Supervision,
        time_control: &str,
        changes: &[(&str, &Value)],
    ) -> Result<LawSettings, SettingError> {
        let changed = |discipline| {
            let mut settings = LawSettings::preset(rules, discipline, supervision);
            changes.iter().try_for_each(|(name, value)| settings.set(name, value)).map(|()| settings)
        };
        let settings = match discipline {
            DisciplineSetting::Fixed(discipline) => changed(discipline),
            DisciplineSetting::Auto => {
                let control: GameControl = time_control.parse().map_err(|error| SettingError::Value {
                    key: "discipline".to_owned(),
                    reason: format!("\"auto\" is found from time_control, found {time_control:?}: {error}"),
                })?;
                changed(changed(Discipline::Standard)?.class.discipline(control.class_ms()))
            }
        }?;
        if settings.clock.kind == ClockKind::Own
            && let Err(error) = time_control.parse::<GameControl>()
        {
            return Err(SettingError::Value {
                key: "clock.kind".to_owned(),
                reason: format!("\"own\" keeps the time of time_control, found {time_control:?}: {error}"),
            });
        }
        Ok(settings)
    }

    /// Changes one setting by its full dotted name.
    ///
    /// # Errors
    /// The name is unknown, or the value is of the wrong type or out of range.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), SettingError> {
        let key = LawKey::find(name).ok_or_else(|| SettingError::Unknown { key: name.to_owned() })?;
        key.set(self, value)
    }

    /// Who learns of a flag that the clock indicates in this game (Article 6.8, A.5.5; 2005: 6.9, B.7).
    pub fn flag_alert(&self) -> Alert {
        match self.discipline {
            Discipline::Standard => self.flag.alert_standard,
            Discipline::Rapid => self.flag.alert_rapid,
            Discipline::Blitz => self.flag.alert_blitz,
        }
    }
}

impl ClassSettings {
    /// The discipline of a game with `T = main time + 60 x time a move`, in milliseconds (Articles
    /// A.1, B.1; 2005: B.1, C.1).
    pub fn discipline(&self, class_ms: u64) -> Discipline {
        if class_ms <= self.blitz_max_ms {
            Discipline::Blitz
        } else if class_ms <= self.rapid_max_ms {
            Discipline::Rapid
        } else {
            Discipline::Standard
        }
    }
}
