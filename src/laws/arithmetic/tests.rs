//! Properties of the arithmetic, and cases that no scenario has.

use proptest::prelude::*;
use shakmaty::Color;

use super::{
    adjournment::{LateOutcome, SealedMove, early_allowed, late_at_resumption, runs_while_absent},
    claim::{ClaimTimes, incorrect_claim},
    clock::{AfterMove, PerMove, after_move},
    default_time::{check, is_charged},
    flags::{BothFlagsOutcome, both_flags},
    illegal::{IllegalOutcome, IllegalTimes, outcome, times},
    periods::{FlagCheck, added_ms, allotted_ms, initial_ms, is_last, period_of, required_moves},
    quickplay::{Circumstances, NotEligible, eligible, five_second_mode},
    recording::{RecordingDuty, request_allowed},
};
use crate::laws::{
    settings::{BothUnknown, ClockMode, Discipline, LawSettings, Quickplay, Rules, Supervision},
    time_control::TimeControl,
};

const ALL: [Rules; 3] = [Rules::Fide2005, Rules::Fide2023, Rules::Ua];
const DISCIPLINES: [Discipline; 3] = [Discipline::Standard, Discipline::Rapid, Discipline::Blitz];

fn standard(rules: Rules) -> LawSettings {
    LawSettings::preset(rules, Discipline::Standard, Supervision::Basic)
}

fn any_settings() -> impl Strategy<Value = LawSettings> {
    let supervisions = prop::sample::select(vec![Supervision::Full, Supervision::Basic]);
    (prop::sample::select(ALL.to_vec()), prop::sample::select(DISCIPLINES.to_vec()), supervisions)
        .prop_map(|(rules, discipline, supervision)| LawSettings::preset(rules, discipline, supervision))
}

/// Times around the boundaries of the formulas, and any others.
fn any_ms() -> impl Strategy<Value = u64> {
    let near = prop::sample::select(vec![0u64, 60_000, 120_000, 300_000, 360_000, 600_000]);
    prop_oneof![near.prop_flat_map(|at| at.saturating_sub(3)..=at + 3), 0..10_000_000u64, Just(u64::MAX),]
}

fn any_per_move() -> impl Strategy<Value = PerMove> {
    (0..4, 0..60_000u64).prop_map(|(kind, ms)| match kind {
        0 => PerMove::None,
        1 => PerMove::Increment { ms },
        2 => PerMove::Delay { ms },
        _ => PerMove::Bronstein { ms },
    })
}

fn claimant_after(settings: &LawSettings, claimant_ms: u64) -> u64 {
    incorrect_claim(&settings.draw, ClaimTimes { claimant_ms, opponent_ms: 0 }).claimant_ms
}

proptest! {
    #[test]
    fn an_incorrect_claim_never_helps_the_claimant(
        settings in any_settings(), claimant_ms in any_ms(), opponent_ms in any_ms(),
    ) {
        let after = incorrect_claim(&settings.draw, ClaimTimes { claimant_ms, opponent_ms });
        prop_assert!(after.claimant_ms <= claimant_ms);
        prop_assert!(claimant_ms - after.claimant_ms <= 180_000);
        prop_assert!(after.claimant_ms >= claimant_ms.min(60_000));
        prop_assert!(after.opponent_ms > opponent_ms || opponent_ms == u64::MAX);
    }

    /// Who has more before has at least as much after, and a millisecond makes no jump.
    #[test]
    fn the_deduction_is_monotone_and_continuous(settings in any_settings(), ms in 0..10_000_000u64) {
        let (less, more) = (claimant_after(&settings, ms), claimant_after(&settings, ms + 1));
        prop_assert!((less..=less + 1).contains(&more), "{less} {more}");
    }

    #[test]
    fn every_time_control_has_one_class_and_a_longer_one_is_no_faster(
        settings in any_settings(), shorter in any_ms(), longer in any_ms(),
    ) {
        let (shorter, longer) = (shorter.min(longer), shorter.max(longer));
        let class = |ms| settings.class.discipline(ms);
        // Declared from the slowest to the fastest.
        prop_assert!(class(shorter) >= class(longer));
    }

    #[test]
    fn a_later_illegal_move_is_punished_no_less(settings in any_settings(), number in 1..10u32) {
        let lost = |number| !matches!(outcome(&settings.illegal, number, false), IllegalOutcome::Bonus { .. });
        prop_assert!(!lost(number) || lost(number + 1));
        prop_assert!(lost(settings.illegal.loss_at));
        prop_assert_ne!(outcome(&settings.illegal, number, false), IllegalOutcome::Draw);
    }

    #[test]
    fn an_illegal_move_never_gives_its_player_time(
        settings in any_settings(), offender_ms in any_ms(), per_move in any_per_move(), used_ms in any_ms(),
    ) {
        let before = IllegalTimes { offender_ms, opponent_ms: 0 };
        let after = times(&settings.illegal, before, settings.illegal.bonus_ms, per_move, used_ms);
        prop_assert!(after.offender_ms <= offender_ms);
        prop_assert_eq!(after.opponent_ms, settings.illegal.bonus_ms);
    }

    /// Only an increment makes a clock show more than before, and a longer move never leaves more.
    #[test]
    fn a_clock_gains_by_an_increment_only(
        before in 1..10_000_000u64, used in 0..10_000_000u64, per_move in any_per_move(),
    ) {
        let after = after_move(before, used, per_move);
        let gain = match per_move {
            PerMove::Increment { ms } => ms,
            _ => 0,
        };
        prop_assert!(after.ms() <= before + gain);
        prop_assert!(after_move(before, used + 1, per_move).ms() <= after.ms());
        if let PerMove::Bronstein { ms } = per_move && after != AfterMove::Flag {
            prop_assert_eq!(after, after_move(before, used, PerMove::Delay { ms }));
        }
    }

    /// Once free of it, a player stays free for the period, whatever his clock shows later.
    #[test]
    fn the_duty_to_record_does_not_come_back(
        settings in any_settings(), times in prop::collection::vec(any_ms(), 1..20), per_move in any_per_move(),
    ) {
        let mut duty = RecordingDuty::default();
        let mut free = false;
        for ms in times {
            let required = duty.observe(&settings.record, ms, per_move);
            prop_assert!(!(free && required));
            free |= !required;
        }
    }

    #[test]
    fn lateness_is_judged_strictly(settings in any_settings(), late_ms in any_ms()) {
        let judged = check(&settings, late_ms);
        prop_assert_eq!(judged.lost, late_ms > u64::from(settings.default_time_s) * 1000);
    }

    #[test]
    fn more_moves_are_never_allotted_less(
        text in prop::sample::select(vec!["40/5400+30:1800+30", "300", "40/7200:20/3600:900+30", "300d3"]),
        completed in 0..200u32, first in any::<bool>(),
    ) {
        let control: TimeControl = text.parse().unwrap();
        let mut clock = standard(Rules::Ua).clock;
        clock.first_move_increment = first;
        prop_assert!(allotted_ms(&control, &clock, completed) <= allotted_ms(&control, &clock, completed + 1));
        prop_assert!(period_of(&control, completed) <= period_of(&control, completed + 1));
    }
}

#[test]
fn the_table_of_the_halving_formula() {
    let settings = standard(Rules::Fide2005);
    let table = [
        (600_000, 420_000),
        (360_000, 180_000),
        (300_000, 150_000),
        (121_000, 60_500),
        (120_000, 60_000),
        (90_000, 60_000),
        (60_001, 60_000),
        (60_000, 60_000),
        (59_000, 59_000),
        (121_001, 60_501),
        (0, 0),
    ];
    for (before, after) in table {
        assert_eq!(claimant_after(&settings, before), after, "{before}");
    }
}

#[test]
fn a_blitz_claim_of_2005_wins_unless_the_claimant_cannot_mate() {
    let settings = LawSettings::preset(Rules::Fide2005, Discipline::Blitz, Supervision::Basic);
    assert_eq!(outcome(&settings.illegal, 1, false), IllegalOutcome::Loss);
    assert_eq!(outcome(&settings.illegal, 1, true), IllegalOutcome::Draw);
    // Not stated for standard play.
    assert_eq!(outcome(&standard(Rules::Fide2005).illegal, 3, true), IllegalOutcome::Loss);
    assert_eq!(outcome(&standard(Rules::Fide2023).illegal, 2, true), IllegalOutcome::Draw);
}

#[test]
fn periods_and_what_they_give() {
    let control: TimeControl = "40/5400+30:20/3600+30:900+30".parse().unwrap();
    let clock = standard(Rules::Fide2023).clock;
    let required: Vec<_> = (0..4).map(|period| required_moves(&control, period)).collect();
    assert_eq!(required, [Some(40), Some(60), None, None]);
    let periods: Vec<_> = [0, 39, 40, 59, 60, 200].map(|moves| period_of(&control, moves)).to_vec();
    assert_eq!(periods, [0, 0, 1, 1, 2, 2]);
    assert_eq!((is_last(&control, 1), is_last(&control, 2)), (false, true));
    assert_eq!(initial_ms(&control, &clock), 5_430_000);
    assert_eq!((added_ms(&control, 1), added_ms(&control, 3)), (Some(3_600_000), None));
    assert_eq!(allotted_ms(&control, &clock, 0), 5_430_000);
    assert_eq!(allotted_ms(&control, &clock, 39), 5_400_000 + 40 * 30_000);
    assert_eq!(allotted_ms(&control, &clock, 40), 5_400_000 + 41 * 30_000 + 3_600_000);
    let met = |period, completed| FlagCheck::in_period(&control, period, completed).met;
    assert_eq!((met(0, 39), met(0, 40), met(1, 59), met(2, 500)), (false, true, false, false));
    let delay: TimeControl = "300d3".parse().unwrap();
    assert_eq!((initial_ms(&delay, &clock), allotted_ms(&delay, &clock, 10)), (300_000, 300_000));
}

#[test]
fn the_kind_of_additional_time_is_that_of_the_notation_or_of_the_setting() {
    let of = |text: &str, mode| PerMove::of(&text.parse::<TimeControl>().unwrap().periods()[0], mode);
    assert_eq!(of("300d3", ClockMode::Auto), PerMove::Delay { ms: 3000 });
    assert_eq!(of("300+3", ClockMode::Auto), PerMove::Increment { ms: 3000 });
    assert_eq!(of("300d3", ClockMode::Bronstein), PerMove::Bronstein { ms: 3000 });
    assert_eq!(of("300+3", ClockMode::None), PerMove::None);
    assert_eq!(of("300", ClockMode::Fischer), PerMove::None);
}

#[test]
fn both_flags_down() {
    let white = Some(Color::White);
    let mut settings = standard(Rules::Fide2005);
    assert_eq!(both_flags(&settings, white, true), BothFlagsOutcome::First(Color::White));
    assert_eq!(both_flags(&settings, None, false), BothFlagsOutcome::Continue);
    assert_eq!(both_flags(&settings, None, true), BothFlagsOutcome::Draw);
    settings.flag.both_unknown_last_period = BothUnknown::Continue;
    assert_eq!(both_flags(&settings, None, true), BothFlagsOutcome::Continue);
    assert_eq!(both_flags(&standard(Rules::Fide2023), None, true), BothFlagsOutcome::Arbiter);
    let rapid = |rules| LawSettings::preset(rules, Discipline::Rapid, Supervision::Basic);
    assert_eq!(both_flags(&rapid(Rules::Fide2005), white, true), BothFlagsOutcome::Draw);
    assert_eq!(both_flags(&rapid(Rules::Fide2023), white, true), BothFlagsOutcome::First(Color::White));
}

#[test]
fn a_quickplay_claim_and_what_stands_against_it() {
    let mut settings = standard(Rules::Fide2005);
    let claim = Circumstances {
        remaining_ms: 119_999,
        to_move: true,
        flag_fallen: false,
        last_period: true,
        per_move: PerMove::None,
    };
    assert_eq!(eligible(&settings, &claim), Ok(()));
    let against = |claim: &Circumstances| eligible(&settings, claim).unwrap_err();
    assert_eq!(against(&Circumstances { remaining_ms: 120_000, ..claim }), NotEligible::TooMuchTime);
    assert_eq!(against(&Circumstances { to_move: false, ..claim }), NotEligible::NotToMove);
    assert_eq!(against(&Circumstances { flag_fallen: true, ..claim }), NotEligible::FlagFallen);
    assert_eq!(against(&Circumstances { last_period: false, ..claim }), NotEligible::EarlierPeriod);
    let per_move = PerMove::Increment { ms: 1000 };
    assert_eq!(against(&Circumstances { per_move, ..claim }), NotEligible::AdditionalTime);
    assert_eq!(eligible(&standard(Rules::Fide2023), &claim), Err(NotEligible::NotAnnounced));
    let blitz = LawSettings::preset(Rules::Fide2005, Discipline::Blitz, Supervision::Basic);
    assert_eq!(eligible(&blitz, &claim), Err(NotEligible::Blitz));
    assert_eq!(five_second_mode(&settings), None);
    settings.quickplay = Quickplay::FiveSecondDelay;
    assert_eq!(five_second_mode(&settings), Some(PerMove::Delay { ms: 5000 }));
}

#[test]
fn a_period_brings_the_duty_to_record_back() {
    let record = standard(Rules::Fide2023).record;
    let mut duty = RecordingDuty::default();
    assert!(duty.observe(&record, 300_000, PerMove::None));
    assert!(!duty.observe(&record, 299_999, PerMove::None));
    assert!(!duty.observe(&record, 419_999, PerMove::None));
    duty.period_begins();
    assert!(duty.observe(&record, 1_800_000, PerMove::None));
    assert!(duty.observe(&record, 1000, PerMove::Delay { ms: 30_000 }));
    assert!(!request_allowed(&record, 1));
}

#[test]
fn absence() {
    assert!(is_charged(&standard(Rules::Fide2005)));
    assert!(!is_charged(&standard(Rules::Fide2023)));
    let of = |rules| standard(rules).adjournment;
    let running = ALL.map(|rules| runs_while_absent(&of(rules), Color::White));
    assert_eq!(running, [None, Some(Color::Black), Some(Color::White)]);
    assert_eq!(ALL.map(|rules| early_allowed(&of(rules), false)), [true, true, false]);
    let late = |rules, sealed, flag, late_ms| {
        let check = check(&standard(rules), late_ms);
        late_at_resumption(&of(rules), Color::Black, check, Color::White, sealed, flag)
    };
    let hour = 3_600_000;
    assert_eq!(late(Rules::Fide2005, SealedMove::GoesOn, false, hour), LateOutcome::InTime);
    assert_eq!(late(Rules::Fide2005, SealedMove::GoesOn, false, hour + 1), LateOutcome::Loses(Color::Black));
    assert_eq!(late(Rules::Fide2005, SealedMove::Mate, false, hour + 1), LateOutcome::Wins(Color::White));
    assert_eq!(late(Rules::Fide2005, SealedMove::Draw, true, hour + 1), LateOutcome::Draw);
    let lost = LateOutcome::PresentPlayerLost(Color::White);
    assert_eq!(late(Rules::Fide2005, SealedMove::GoesOn, true, hour + 1), lost);
    assert_eq!(late(Rules::Fide2023, SealedMove::GoesOn, true, 1), LateOutcome::Loses(Color::Black));
}
