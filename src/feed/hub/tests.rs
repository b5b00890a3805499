//! Tests of numbering, resuming and lagging.

use proptest::prelude::*;

use super::*;
use crate::{
    publish::{Publisher, Tags},
    session::{Session, setup::GameSetup},
};

fn state(id: &str) -> BoardState {
    let setup = GameSetup::default();
    let session = Session::new(&setup).unwrap();
    Publisher::new(id, &setup, Tags::default(), &session).state().clone()
}

fn board(text: &str) -> FeedEvent {
    FeedEvent::Board { board: text.to_owned() }
}

fn hub() -> Hub {
    let hub = Hub::with_run("r");
    hub.set(state("1"));
    hub.set(state("2"));
    hub
}

/// What a subscription delivers without waiting: identifiers and payloads.
fn drain(subscription: &mut Subscription) -> Vec<(String, String)> {
    let mut items = Vec::new();
    while let Ok(batch) = subscription.live.try_recv() {
        let audience = &subscription.audience;
        let frames = batch.frames.iter().filter(|frame| audience.sees(&frame.board));
        subscription.backlog.extend(frames.map(|frame| frame.item(audience, &subscription.run)));
    }
    while let Some(item) = subscription.backlog.pop_front() {
        let text = match item.payload {
            Payload::Snapshot(states) => {
                format!("snapshot {}", states.iter().map(|state| state.id.as_str()).collect::<String>())
            }
            Payload::Event(happened) => format!("{} {:?}", happened.board, happened.event),
        };
        items.push((item.id, text));
    }
    items
}

fn ids(items: &[(String, String)]) -> Vec<&str> {
    items.iter().map(|(id, _)| id.as_str()).collect()
}

#[test]
fn each_audience_has_its_own_numbers_without_gaps() {
    let hub = hub();
    let mut all = hub.subscribe(Audience::All, None);
    let mut one = hub.subscribe(Audience::Board("1".to_owned()), None);
    hub.publish("2", vec![board("a"), board("b")]);
    hub.publish("1", vec![board("c")]);
    let items = drain(&mut all);
    assert_eq!(ids(&items), ["r-2", "r-3", "r-4", "r-5"]);
    assert_eq!(items[0].1, "snapshot 12");
    let items = drain(&mut one);
    assert_eq!(ids(&items), ["r.0-1", "r.0-2"]);
    assert_eq!(items[0].1, "snapshot 1");
}

#[test]
fn a_reader_resumes_after_the_last_event_it_has() {
    let hub = hub();
    hub.publish("1", vec![board("a")]);
    hub.publish("2", vec![board("b")]);
    hub.publish("1", vec![board("c")]);
    let items = drain(&mut hub.subscribe(Audience::All, Some("r-3")));
    assert_eq!(ids(&items), ["r-4", "r-5"]);
    let items = drain(&mut hub.subscribe(Audience::Board("1".to_owned()), Some("r.0-2")));
    assert_eq!(ids(&items), ["r.0-3"]);
    assert!(drain(&mut hub.subscribe(Audience::All, Some("r-5"))).is_empty(), "nothing was missed");
}

#[test]
fn an_identifier_that_cannot_be_resumed_gets_a_snapshot() {
    let hub = hub();
    for n in 0..RING {
        hub.publish("1", vec![board(&n.to_string())]);
    }
    for id in ["r-0", "r-1", "r.0-4000", "other-4000", "r-99999", "r-", "4000", "", "r-x"] {
        let items = drain(&mut hub.subscribe(Audience::All, Some(id)));
        assert_eq!(items, [("r-4098".to_owned(), "snapshot 12".to_owned())], "{id}");
    }
    assert_eq!(drain(&mut hub.subscribe(Audience::All, Some("r-2049"))).len(), 2049);
    let quiet = drain(&mut hub.subscribe(Audience::Board("2".to_owned()), Some("r.1-1")));
    assert!(quiet.is_empty(), "a quiet board keeps its readers");
}

#[test]
fn a_new_game_is_a_snapshot_in_the_stream() {
    let hub = hub();
    let mut all = hub.subscribe(Audience::All, Some("r-2"));
    let mut other = hub.subscribe(Audience::Board("2".to_owned()), Some("r.1-1"));
    hub.publish("1", vec![board("x")]);
    hub.set(state("1"));
    let items = drain(&mut all);
    assert_eq!(items[1], ("r-4".to_owned(), "snapshot 12".to_owned()));
    assert!(drain(&mut other).is_empty());
    assert_eq!(hub.board("1").unwrap().board, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
}

#[test]
fn a_reader_that_falls_behind_is_told() {
    let hub = hub();
    let mut slow = hub.subscribe(Audience::All, Some("r-2"));
    for n in 0..=QUEUE {
        hub.publish("1", vec![board(&n.to_string())]);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert!(matches!(runtime.block_on(slow.next()), Err(Ended::Lagged(1))));
}

#[test]
fn the_state_of_an_unknown_board_is_not_invented() {
    let hub = hub();
    hub.publish("3", vec![board("x")]);
    assert!(hub.board("3").is_none());
    assert_eq!(hub.boards().len(), 2);
}

#[test]
fn runs_differ_and_are_short() {
    let run = Hub::new().0.run.clone();
    assert!(!run.is_empty() && run.len() <= 6 && run.chars().all(|c| c.is_ascii_alphanumeric()), "{run}");
}

proptest! {
    /// Cut anywhere and resumed, a stream delivers the same as one that was never cut.
    #[test]
    fn a_cut_stream_misses_nothing(
        boards in prop::collection::vec(any::<bool>(), 1..60),
        cut in any::<prop::sample::Index>(),
        one in any::<bool>(),
    ) {
        let audience = if one { Audience::Board("1".to_owned()) } else { Audience::All };
        let hub = hub();
        let mut whole = hub.subscribe(audience.clone(), None);
        for (n, first) in boards.iter().enumerate() {
            hub.publish(if *first { "1" } else { "2" }, vec![board(&n.to_string())]);
        }
        let items = drain(&mut whole);
        let at = cut.index(items.len());
        let rest = drain(&mut hub.subscribe(audience, Some(&items[at].0)));
        prop_assert_eq!(&items[at + 1..], &rest[..]);
    }
}

#[test]
fn clock_readings_are_stamped_with_the_clock_of_this_machine() {
    let reading =
        PublicClock { white_ms: Some(60_000), black_ms: None, running: Some("white"), delay_ms: 0, at_us: 7 };
    let before = sysclock::monotonic().as_micros();
    let hub = Hub::with_run("r");
    hub.set(BoardState { clock: Some(reading), ..state("1") });
    hub.set(state("2"));
    hub.publish("2", vec![FeedEvent::Clock(reading)]);
    let after = sysclock::monotonic().as_micros();
    for id in ["1", "2"] {
        let told = hub.board(id).unwrap().clock.unwrap();
        assert!((before..=after).contains(&told.at_us), "{id}: {told:?}");
        assert_eq!(PublicClock { at_us: 7, ..told }, reading);
    }
}

#[test]
fn a_clock_that_was_heard_before_the_start_has_its_time_then() {
    let clock = PublicClock {
        white_ms: Some(60_000),
        black_ms: Some(50_000),
        running: Some("white"),
        delay_ms: 0,
        at_us: 7,
    };
    assert_eq!(heard_at(clock, 5_000_000), PublicClock { at_us: 5_000_000, ..clock });
    // Before the machine was started: what ran down until then is taken off.
    let at_start = PublicClock { white_ms: Some(58_000), at_us: 0, ..clock };
    assert_eq!(heard_at(clock, -2_000_000), at_start);
}
