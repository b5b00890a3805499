//! The editions as tables. Each table is the one before it with what is different.

use super::{
    AbsentBoth, AdjournmentRules, AdjournmentSettings, Alert, BothFlags, BothUnknown, Chess960Settings,
    ClaimLostOn, ClaimantPenalty, ClassSettings, ClockKind, ClockMode, ClockSettings, ColoursReversed,
    DeadCheck, Discipline, DrawSettings, EarlyAdjournment, FeedSettings, FlagSettings, ForfeitScope,
    IllegalFinality, IllegalPosition, IllegalSettings, IntentDefault, Language, LawSettings, PegAnnounce,
    PegSpeech, PressWithoutMove, Quickplay, RecordSettings, RookFirstBan, Rules, Supervision, TouchSettings,
    TwoHands, Unpromoted, WhiteSide,
};

/// The table of an edition, a discipline and a regime of supervision.
pub(super) const fn table(rules: Rules, discipline: Discipline, supervision: Supervision) -> LawSettings {
    match rules {
        Rules::Fide2005 => fide_2005(discipline),
        Rules::Fide2023 => fide_2023(discipline, supervision),
        Rules::Ua => ua(fide_2023(discipline, supervision)),
    }
}

const fn fide_2005(discipline: Discipline) -> LawSettings {
    match discipline {
        Discipline::Standard => STANDARD_2005,
        Discipline::Rapid => RAPID_2005,
        Discipline::Blitz => BLITZ_2005,
    }
}

const fn fide_2023(discipline: Discipline, supervision: Supervision) -> LawSettings {
    match (discipline, supervision) {
        (Discipline::Standard, _) => STANDARD_2023,
        (Discipline::Rapid, Supervision::Full) => RAPID_2023_FULL,
        (Discipline::Rapid, Supervision::Basic) => RAPID_2023_BASIC,
        (Discipline::Blitz, Supervision::Full) => {
            LawSettings { discipline: Discipline::Blitz, ..RAPID_2023_FULL }
        }
        (Discipline::Blitz, Supervision::Basic) => {
            LawSettings { discipline: Discipline::Blitz, ..RAPID_2023_BASIC }
        }
    }
}

/// The Ukrainian rules on top of a table of 2023.
const fn ua(base: LawSettings) -> LawSettings {
    LawSettings {
        adjournment: AdjournmentSettings {
            rules: AdjournmentRules::Ukrainian,
            early: EarlyAdjournment::AfterControl,
            absent_both_clock: AbsentBoth::Sealer,
        },
        ..base
    }
}

const STANDARD_2005: LawSettings = LawSettings {
    discipline: Discipline::Standard,
    // Blitz is less than 15 minutes, rapid chess 15 to 60 minutes.
    class: ClassSettings { blitz_max_ms: 899_999, rapid_max_ms: 3_600_000 },
    quickplay: Quickplay::On,
    touch: TouchSettings {
        order_uncertain_ms: 50,
        adjust_window_ms: 10_000,
        two_hands_window_ms: 20,
        claim_forfeit_scope: ForfeitScope::TouchedPieces,
        breach_undoes_mate: false,
        intent_default: IntentDefault::PresumedDeliberate,
        violation_alert: Alert::Arbiter,
    },
    rook_first_ban: RookFirstBan::ThatSide,
    promotion_any_order: true,
    implied_by_next_move: false,
    clock: ClockSettings {
        kind: ClockKind::External,
        think_times: false,
        mode: ClockMode::Auto,
        first_move_increment: true,
        white_side: WhiteSide::Left,
        tolerance_ms: 1500,
        press_tolerance_ms: 150,
        press_grace_ms: 1500,
    },
    draw: DrawSettings {
        claim_lost_on: ClaimLostOn::Move,
        written_move_stands: false,
        incorrect_claim: ClaimantPenalty::Halving,
        incorrect_claim_bonus_ms: 180_000,
        auto_fivefold: false,
        auto_75: false,
        agreement_min_moves_each: 0,
        forbidden_before_move: 0,
    },
    resign_draw_if_opponent_cannot_mate: false,
    illegal: IllegalSettings {
        bonus_ms: 120_000,
        loss_at: 3,
        draw_if_opponent_cannot_mate: false,
        press_without_move: PressWithoutMove::ClockMisuse,
        two_hands: TwoHands::Discretion,
        unpromoted: Unpromoted::Restore,
        remove_increment: false,
        fast_finality: IllegalFinality::Never,
        irregular_position: IllegalPosition::Correct,
        move_alert: Alert::Arbiter,
    },
    flag: FlagSettings {
        alert_standard: Alert::Arbiter,
        alert_rapid: Alert::Journal,
        alert_blitz: Alert::Journal,
        both_rapid: BothFlags::Draw,
        both_unknown_last_period: BothUnknown::Draw,
    },
    default_time_s: 3600,
    colours_reversed: ColoursReversed::Continue,
    setup_claim_limit_moves: 0,
    record: RecordSettings {
        required: true,
        threshold_ms: 300_000,
        min_increment_ms: 30_000,
        delay_counts: true,
        request_limit: 0,
    },
    dead_check: DeadCheck::Search,
    displace_window_ms: 300,
    peg_announce: PegAnnounce::AssumeOnPress,
    peg_speech: PegSpeech::German,
    mirror_timeout_s: 60,
    chess960: Chess960Settings { position: None, king_off_ms: 20_000 },
    adjournment: AdjournmentSettings {
        rules: AdjournmentRules::AnnexA,
        early: EarlyAdjournment::PlayerToMove,
        absent_both_clock: AbsentBoth::Arbiter,
    },
    feed: FeedSettings { embargo_on_seal: true, show_irregular: false },
    language: Language::English,
};

/// Annex B.
const RAPID_2005: LawSettings = LawSettings {
    discipline: Discipline::Rapid,
    touch: TouchSettings { violation_alert: Alert::Journal, ..STANDARD_2005.touch },
    illegal: IllegalSettings {
        fast_finality: IllegalFinality::ClaimBeforeOwnMove,
        irregular_position: IllegalPosition::Intervene,
        move_alert: Alert::Journal,
        ..STANDARD_2005.illegal
    },
    setup_claim_limit_moves: 3,
    record: RecordSettings { required: false, ..STANDARD_2005.record },
    ..STANDARD_2005
};

/// Annex C: an illegal move loses on the opponent's claim; Article 10.2 and Annex B.6 do not hold.
const BLITZ_2005: LawSettings = LawSettings {
    discipline: Discipline::Blitz,
    quickplay: Quickplay::Off,
    illegal: IllegalSettings {
        loss_at: 1,
        draw_if_opponent_cannot_mate: true,
        irregular_position: IllegalPosition::Correct,
        ..RAPID_2005.illegal
    },
    ..RAPID_2005
};

const STANDARD_2023: LawSettings = LawSettings {
    // Blitz is at most 10 minutes, rapid chess less than 60 minutes.
    class: ClassSettings { blitz_max_ms: 600_000, rapid_max_ms: 3_599_999 },
    quickplay: Quickplay::Off,
    touch: TouchSettings {
        claim_forfeit_scope: ForfeitScope::ActOfMoving,
        breach_undoes_mate: true,
        intent_default: IntentDefault::UnlessAccidental,
        ..STANDARD_2005.touch
    },
    implied_by_next_move: true,
    draw: DrawSettings {
        claim_lost_on: ClaimLostOn::Touch,
        written_move_stands: true,
        incorrect_claim: ClaimantPenalty::None,
        incorrect_claim_bonus_ms: 120_000,
        auto_fivefold: true,
        auto_75: true,
        agreement_min_moves_each: 1,
        ..STANDARD_2005.draw
    },
    resign_draw_if_opponent_cannot_mate: true,
    illegal: IllegalSettings {
        loss_at: 2,
        draw_if_opponent_cannot_mate: true,
        press_without_move: PressWithoutMove::Counts,
        two_hands: TwoHands::Counts,
        unpromoted: Unpromoted::Queen,
        remove_increment: true,
        ..STANDARD_2005.illegal
    },
    flag: FlagSettings {
        alert_rapid: Alert::Arbiter,
        alert_blitz: Alert::Arbiter,
        both_rapid: BothFlags::ByOrder,
        both_unknown_last_period: BothUnknown::Arbiter,
        ..STANDARD_2005.flag
    },
    default_time_s: 0,
    colours_reversed: ColoursReversed::RestartBefore10,
    adjournment: AdjournmentSettings {
        rules: AdjournmentRules::GuidelineI,
        absent_both_clock: AbsentBoth::Replier,
        ..STANDARD_2005.adjournment
    },
    ..STANDARD_2005
};

/// Article A.4: the Laws of standard play, with the penalties of A.3 and the requests of A.4.3.
const RAPID_2023_FULL: LawSettings = LawSettings {
    discipline: Discipline::Rapid,
    draw: DrawSettings { incorrect_claim_bonus_ms: 60_000, ..STANDARD_2023.draw },
    illegal: IllegalSettings { bonus_ms: 60_000, ..STANDARD_2023.illegal },
    record: RecordSettings { required: false, request_limit: 5, ..STANDARD_2023.record },
    ..STANDARD_2023
};

/// Article A.5.
const RAPID_2023_BASIC: LawSettings = LawSettings {
    illegal: IllegalSettings {
        fast_finality: IllegalFinality::ObservedOrClaimed,
        irregular_position: IllegalPosition::DrawAfterNextMove,
        ..RAPID_2023_FULL.illegal
    },
    setup_claim_limit_moves: 10,
    record: RecordSettings { request_limit: 0, ..RAPID_2023_FULL.record },
    ..RAPID_2023_FULL
};
