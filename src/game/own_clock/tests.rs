use proptest::prelude::*;
use shakmaty::Color::{Black, White};

use super::*;

const fn ms(ms: u64) -> MonoTime {
    MonoTime::from_micros(ms * 1000)
}

fn clock(seconds: u64) -> OwnClock {
    OwnClock::new(ByColor { white: seconds * 1000, black: seconds * 1000 }, ByColor { white: 0, black: 0 })
}

const INC: PerMove = PerMove::Increment { ms: 2000 };
const DELAY: PerMove = PerMove::Delay { ms: 5000 };
const BRONSTEIN: PerMove = PerMove::Bronstein { ms: 3000 };

fn left(clock: &OwnClock, at: u64) -> (u64, u64) {
    (clock.left_ms(White, ms(at)), clock.left_ms(Black, ms(at)))
}

#[test]
fn the_first_press_starts_the_other_side_and_adds_nothing() {
    let mut clock = clock(300);
    assert!(clock.heeds_press(Black) && clock.heeds_press(White));
    clock.press(Black, ms(1000), INC, INC);
    assert_eq!((clock.running(), left(&clock, 1000)), (Some(White), (300_000, 300_000)));
    assert!(clock.heeds_press(White) && !clock.heeds_press(Black));
    let pressed = clock.press(White, ms(11_000), INC, INC);
    assert_eq!((pressed.own_ms, pressed.credited_ms), (290_000, 292_000));
    assert_eq!(left(&clock, 12_500), (292_000, 298_500));
}

#[test]
fn a_delay_is_waited_for_and_what_is_saved_of_it_is_lost() {
    let mut clock = clock(300);
    clock.run(White, ms(0), DELAY);
    assert_eq!((clock.delay_ms(ms(0)), clock.delay_ms(ms(4000))), (5000, 1000));
    clock.press(White, ms(3000), DELAY, DELAY);
    assert_eq!(left(&clock, 3000), (300_000, 300_000));
    assert_eq!(clock.due(), Some(ms(8000)));
    assert_eq!(clock.fire(ms(8000)), Some(Due::DelayOver));
    assert_eq!(clock.due(), Some(ms(308_000)));
    clock.press(Black, ms(10_000), DELAY, DELAY);
    assert_eq!(left(&clock, 10_000), (300_000, 298_000));
}

#[test]
fn a_stop_in_a_turn_leaves_the_rest_of_its_delay() {
    let mut clock = clock(300);
    clock.run(White, ms(0), DELAY);
    clock.stop(ms(2000));
    assert!(!clock.heeds_press(White) && !clock.heeds_press(Black));
    clock.run(White, ms(100_000), DELAY);
    assert_eq!(clock.delay_ms(ms(100_000)), 3000);
    assert_eq!(left(&clock, 104_000), (299_000, 300_000));
    clock.stop(ms(104_000));
    // The turn had used its delay up.
    clock.run(White, ms(200_000), DELAY);
    assert_eq!((clock.delay_ms(ms(200_000)), left(&clock, 201_000)), (0, (298_000, 300_000)));
}

#[test]
fn bronstein_gives_back_what_the_move_took_and_no_more() {
    let mut clock = clock(300);
    clock.run(White, ms(0), BRONSTEIN);
    clock.press(White, ms(1200), BRONSTEIN, BRONSTEIN);
    assert_eq!(left(&clock, 1200), (300_000, 300_000));
    clock.press(Black, ms(11_200), BRONSTEIN, BRONSTEIN);
    assert_eq!(left(&clock, 11_200), (300_000, 293_000));
    // A stop in between does not cut the turn in two.
    clock.stop(ms(13_200));
    clock.run(White, ms(20_000), BRONSTEIN);
    clock.press(White, ms(20_500), BRONSTEIN, BRONSTEIN);
    assert_eq!(left(&clock, 20_500), (300_000, 293_000));
}

#[test]
fn the_flag_falls_when_the_last_microsecond_is_used_and_nothing_is_added_after_it() {
    let mut clock = clock(10);
    clock.run(White, ms(0), INC);
    assert_eq!(clock.due(), Some(ms(10_000)));
    assert_eq!(clock.fire(ms(9_999)), None);
    assert_eq!(clock.fire(ms(10_000)), Some(Due::Flag(White)));
    assert_eq!((clock.due(), clock.face(ms(10_000)).white_flag), (None, true));
    let pressed = clock.press(White, ms(12_000), INC, INC);
    assert_eq!((pressed.own_ms, pressed.credited_ms), (0, 0));
    assert_eq!(clock.fire(ms(22_000)), Some(Due::Flag(Black)));
    clock.set(White, 60_000, ms(23_000));
    assert!(!clock.face(ms(23_000)).white_flag && clock.face(ms(23_000)).black_flag);
}

#[test]
fn a_period_is_added_once() {
    let mut clock = clock(10);
    clock.begin_period(White, 1, 1_800_000);
    clock.begin_period(White, 1, 1_800_000);
    assert_eq!((left(&clock, 0), clock.period(White)), ((1_810_000, 10_000), 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is pressed, stopped and started within ten hours: what both sides lost and were given is,
    /// to the microsecond, how long the clock ran.
    #[test]
    fn no_microsecond_is_lost_or_found(steps in prop::collection::vec((1u64..90_000_000, 0u8..8), 1..400)) {
        let start = 36_000_000_000u64;
        let mut clock = OwnClock::new(
            ByColor { white: start / 1000, black: start / 1000 },
            ByColor { white: 0, black: 0 },
        );
        let (mut at, mut ran, mut given) = (7u64, 0u64, 0u64);
        for (wait, deed) in steps {
            ran += if clock.running().is_some() { wait } else { 0 };
            at += wait;
            let now = MonoTime::from_micros(at);
            match deed {
                0 => clock.stop(now),
                1 => clock.run(White, now, PerMove::None),
                2 => clock.run(Black, now, PerMove::None),
                3 => clock.settle(now),
                _ => if let Some(side) = clock.running() {
                    clock.press(side, now, INC, INC);
                    given += 2_000_000;
                },
            }
        }
        let now = MonoTime::from_micros(at);
        let left = clock.left_us(White, now) + clock.left_us(Black, now);
        prop_assert_eq!(left + ran, 2 * start + given);
    }
}
