//! The names of the settings, with what each expects. The one list that the sensor log, the
//! configuration file and the documentation go by.

use serde_json::{Value, json};

use super::{LawSettings, SettingError, words::Word};

/// One setting by its name.
#[derive(Clone, Copy, Debug)]
pub struct LawKey {
    /// The dotted name in a sensor log, such as `draw.claim_lost_on`.
    pub name: &'static str,
    /// The place in the configuration file, such as `draw.claim-lost-on`.
    pub place: &'static str,
    /// What a value may be.
    pub expected: Expected,
    get: fn(&LawSettings) -> Value,
    set: fn(&mut LawSettings, &Value) -> Option<()>,
}

/// What the value of a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A whole number.
    Number {
        /// Reads like `milliseconds`.
        unit: &'static str,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expected::Number { unit: "", min, max } => write!(f, "a whole number from {min} to {max}"),
            Expected::Number { unit, min, max } => {
                write!(f, "a whole number of {unit} from {min} to {max}")
            }
            Expected::Boolean => f.write_str("true or false"),
            Expected::Word(words) => {
                for (index, word) in words.iter().enumerate() {
                    let between = match index {
                        0 => "",
                        _ if index + 1 == words.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{between}{word:?}")?;
                }
                Ok(())
            }
        }
    }
}

impl Expected {
    /// True for a value that is right.
    pub fn fits(&self, value: &Value) -> bool {
        match self {
            Expected::Number { min, max, .. } => {
                value.as_u64().is_some_and(|number| (*min..=*max).contains(&number))
            }
            Expected::Boolean => value.is_boolean(),
            Expected::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }
}

impl LawKey {
    /// The setting with this dotted name.
    pub fn find(name: &str) -> Option<&'static LawKey> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The value of the setting, as a sensor log states it; null where there is none.
    pub fn value(&self, settings: &LawSettings) -> Value {
        (self.get)(settings)
    }

    /// True where the editions, the disciplines or the regimes of supervision differ; false for a
    /// tolerance or a choice of this program.
    pub fn follows_edition(&self) -> bool {
        let mut values = super::presets().map(|settings| self.value(&settings));
        let first = values.next();
        values.any(|value| Some(&value) != first.as_ref())
    }

    /// Changes the setting.
    ///
    /// # Errors
    /// The value is of the wrong type or out of range.
    pub fn set(&self, settings: &mut LawSettings, value: &Value) -> Result<(), SettingError> {
        Some(value)
            .filter(|value| self.expected.fits(value))
            .and_then(|value| (self.set)(settings, value))
            .ok_or_else(|| SettingError::Value {
                key: self.name.to_owned(),
                reason: format!("expected {}, found {value}", self.expected),
            })
    }
}

macro_rules! number {
    ($name:literal, $place:literal, $($field:ident).+, $unit:literal, $min:literal..=$max:literal) => {
        LawKey {
            name: $name,
            place: $place,
            expected: Expected::Number { unit: $unit, min: $min, max: $max },
            get: |settings| json!(settings.$($field).+),
            set: |settings, value| {
                settings.$($field).+ = value.as_u64()?.try_into().ok()?;
                Some(())
            },
        }
    };
}

macro_rules! boolean {
    ($name:literal, $place:literal, $($field:ident).+) => {
        LawKey {
            name: $name,
            place: $place,
            expected: Expected::Boolean,
            get: |settings| json!(settings.$($field).+),
            set: |settings, value| {
                settings.$($field).+ = value.as_bool()?;
                Some(())
            },
        }
    };
}

macro_rules! word {
    ($name:literal, $place:literal, $($field:ident).+, $type:ident) => {
        LawKey {
            name: $name,
            place: $place,
            expected: Expected::Word(<super::$type as Word>::WORDS),
            get: |settings| json!(settings.$($field).+.as_str()),
            set: |settings, value| {
                settings.$($field).+ = super::$type::parse(value.as_str()?)?;
                Some(())
            },
        }
    };
}

/// Every setting of the Laws.
pub const KEYS: &[LawKey] = &[
    number!("class.blitz_max_ms", "class.blitz-max-ms", class.blitz_max_ms, "milliseconds", 0..=86_400_000),
    number!("class.rapid_max_ms", "class.rapid-max-ms", class.rapid_max_ms, "milliseconds", 0..=86_400_000),
    word!("rules.quickplay", "quickplay", quickplay, Quickplay),
    word!("rules.adjournment", "adjournment.rules", adjournment.rules, AdjournmentRules),
    word!("adjournment.early", "adjournment.early", adjournment.early, EarlyAdjournment),
    word!(
        "adjournment.absent_both_clock",
        "adjournment.absent-both-clock",
        adjournment.absent_both_clock,
        AbsentBoth
    ),
    number!(
        "touch.order_uncertain_ms",
        "touch.order-uncertain-ms",
        touch.order_uncertain_ms,
        "milliseconds",
        0..=10_000
    ),
    number!(
        "touch.adjust_window_ms",
        "touch.adjust-window-ms",
        touch.adjust_window_ms,
        "milliseconds",
        0..=60_000
    ),
    number!(
        "touch.two_hands_window_ms",
        "touch.two-hands-window-ms",
        touch.two_hands_window_ms,
        "milliseconds",
        0..=10_000
    ),
    boolean!("touch.breach_undoes_mate", "touch.breach-undoes-mate", touch.breach_undoes_mate),
    word!("touch.claim_forfeit_scope", "touch.claim-forfeit-scope", touch.claim_forfeit_scope, ForfeitScope),
    word!("touch.intent_default", "touch.intent-default", touch.intent_default, IntentDefault),
    word!("touch.violation_alert", "touch.violation-alert", touch.violation_alert, Alert),
    word!("castling.rook_first_ban", "castling.rook-first-ban", rook_first_ban, RookFirstBan),
    boolean!("promotion.any_order", "promotion.any-order", promotion_any_order),
    boolean!("completion.implied_by_next_move", "completion.implied-by-next-move", implied_by_next_move),
    word!("clock.kind", "clock.kind", clock.kind, ClockKind),
    boolean!("clock.think_times", "clock.think-times", clock.think_times),
    word!("clock.mode", "clock.mode", clock.mode, ClockMode),
    boolean!("clock.first_move_increment", "clock.first-move-increment", clock.first_move_increment),
    word!("clock.white_side", "clock.white-side", clock.white_side, WhiteSide),
    number!("clock.tolerance_ms", "clock.tolerance-ms", clock.tolerance_ms, "milliseconds", 0..=60_000),
    number!(
        "clock.press_tolerance_ms",
        "clock.press-tolerance-ms",
        clock.press_tolerance_ms,
        "milliseconds",
        0..=10_000
    ),
    number!("clock.press_grace_ms", "clock.press-grace-ms", clock.press_grace_ms, "milliseconds", 0..=60_000),
    word!("draw.claim_lost_on", "draw.claim-lost-on", draw.claim_lost_on, ClaimLostOn),
    boolean!("draw.written_move_stands", "draw.written-move-stands", draw.written_move_stands),
    word!("draw.incorrect_claim", "draw.incorrect-claim", draw.incorrect_claim, ClaimantPenalty),
    number!(
        "draw.incorrect_claim_bonus_ms",
        "draw.incorrect-claim-bonus-ms",
        draw.incorrect_claim_bonus_ms,
        "milliseconds",
        0..=3_600_000
    ),
    boolean!("draw.auto_fivefold", "draw.auto-fivefold", draw.auto_fivefold),
    boolean!("draw.auto_75", "draw.auto-75", draw.auto_75),
    number!(
        "draw.agreement_min_moves_each",
        "draw.agreement-min-moves-each",
        draw.agreement_min_moves_each,
        "moves",
        0..=500
    ),
    number!(
        "draw.forbidden_before_move",
        "draw.forbidden-before-move",
        draw.forbidden_before_move,
        "moves",
        0..=500
    ),
    boolean!(
        "resign.draw_if_opponent_cannot_mate",
        "resign.draw-if-opponent-cannot-mate",
        resign_draw_if_opponent_cannot_mate
    ),
    number!("illegal.bonus_ms", "illegal.bonus-ms", illegal.bonus_ms, "milliseconds", 0..=3_600_000),
    number!("illegal.loss_at", "illegal.loss-at", illegal.loss_at, "", 1..=100),
    boolean!(
        "illegal.draw_if_opponent_cannot_mate",
        "illegal.draw-if-opponent-cannot-mate",
        illegal.draw_if_opponent_cannot_mate
    ),
    word!(
        "illegal.press_without_move",
        "illegal.press-without-move",
        illegal.press_without_move,
        PressWithoutMove
    ),
    word!("illegal.two_hands", "illegal.two-hands", illegal.two_hands, TwoHands),
    word!("illegal.unpromoted", "illegal.unpromoted", illegal.unpromoted, Unpromoted),
    boolean!("illegal.remove_increment", "illegal.remove-increment", illegal.remove_increment),
    word!("illegal.fast_finality", "illegal.fast-finality", illegal.fast_finality, IllegalFinality),
    word!(
        "illegal.irregular_position",
        "illegal.irregular-position",
        illegal.irregular_position,
        IllegalPosition
    ),
    word!("illegal.move_alert", "illegal.move-alert", illegal.move_alert, Alert),
    word!("flag.alert.standard", "flag.alert.standard", flag.alert_standard, Alert),
    word!("flag.alert.rapid", "flag.alert.rapid", flag.alert_rapid, Alert),
    word!("flag.alert.blitz", "flag.alert.blitz", flag.alert_blitz, Alert),
    word!("flag.both_rapid", "flag.both-rapid", flag.both_rapid, BothFlags),
    word!(
        "flag.both_unknown.last_period",
        "flag.both-unknown.last-period",
        flag.both_unknown_last_period,
        BothUnknown
    ),
    number!("default_time_s", "default-time-s", default_time_s, "seconds", 0..=86_400),
    word!("colours_reversed", "colours-reversed", colours_reversed, ColoursReversed),
    number!("setup.claim_limit_moves", "setup.claim-limit-moves", setup_claim_limit_moves, "moves", 0..=500),
    boolean!("record.required", "record.required", record.required),
    number!(
        "record.threshold_ms",
        "record.threshold-ms",
        record.threshold_ms,
        "milliseconds",
        0..=86_400_000
    ),
    number!(
        "record.min_increment_ms",
        "record.min-increment-ms",
        record.min_increment_ms,
        "milliseconds",
        0..=3_600_000
    ),
    boolean!("record.delay_counts", "record.delay-counts", record.delay_counts),
    number!("record.request_limit", "record.request-limit", record.request_limit, "requests", 0..=100),
    word!("dead.check", "dead.check", dead_check, DeadCheck),
    number!("displace.window_ms", "displace.window-ms", displace_window_ms, "milliseconds", 0..=10_000),
    word!("peg.speech", "peg.speech", peg_speech, PegSpeech),
    word!("peg.announce", "peg.announce", peg_announce, PegAnnounce),
    number!(
        "two_board.mirror_timeout_s",
        "two-board.mirror-timeout-s",
        mirror_timeout_s,
        "seconds",
        0..=3600
    ),
    LawKey {
        name: "chess960.position",
        place: "chess960.position",
        expected: Expected::Number { unit: "", min: 0, max: 959 },
        get: |settings| json!(settings.chess960.position),
        set: |settings, value| {
            settings.chess960.position = Some(value.as_u64()?.try_into().ok()?);
            Some(())
        },
    },
    number!(
        "chess960.king_off_ms",
        "chess960.king-off-ms",
        chess960.king_off_ms,
        "milliseconds",
        0..=600_000
    ),
    boolean!("feed.embargo_on_seal", "feed.embargo-on-seal", feed.embargo_on_seal),
    boolean!("feed.show_irregular", "feed.show-irregular", feed.show_irregular),
    word!("notation.language", "notation.language", language, Language),
];
