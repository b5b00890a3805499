//! Tests of the publisher with facts made by hand.

use super::*;
use crate::{
    publish::{completed_san, state::EarlierPart},
    session::{
        fact::{
            Certainty, EndDetail, MadeDetail,
            law::{Audience, Entry, LawFact, Notice, Side},
        },
        text::MoveText,
    },
};
use proptest::prelude::*;
use shakmaty::{Bitboard, CastlingMode, Color, Position as _};

fn fact(kind: FactKind) -> Fact {
    Fact { ev: 0, at: MonoTime::from_micros(7), kind }
}

fn published(ply: usize, uci: &str) -> FactKind {
    FactKind::MovePublished { ply, uci: uci.into(), made: MonoTime::ZERO }
}

fn withdrawn(ply: usize) -> FactKind {
    FactKind::MoveWithdrawn { ply, uci: MoveText::default(), published: true }
}

fn completed(ply: usize, how: CompletedBy, clock_ms: Option<u64>) -> FactKind {
    FactKind::MoveCompleted { ply, uci: MoveText::default(), by: Color::White, how, clock_ms }
}

fn made(ply: usize, uci: &str) -> FactKind {
    FactKind::MoveMade {
        ply,
        uci: uci.into(),
        san: MoveText::default(),
        by: Color::White,
        placed: MonoTime::ZERO,
        latest: MonoTime::ZERO,
        more: MadeDetail::default(),
    }
}

fn revised(ply: usize, uci: &str) -> FactKind {
    let (was, san) = (MoveText::default(), MoveText::default());
    FactKind::MoveRevised { ply, was, uci: uci.into(), san, reason: "promotion", published: true }
}

struct Desk {
    publisher: Publisher,
    session: Session,
    viewer: BoardState,
}

impl Desk {
    fn new(setup: &GameSetup) -> Desk {
        let session = Session::new(setup).unwrap();
        let publisher = Publisher::new("1", setup, Tags::default(), &session);
        let viewer = publisher.state().clone();
        Desk { publisher, session, viewer }
    }

    fn take(&mut self, kinds: impl IntoIterator<Item = FactKind>) -> Vec<FeedEvent> {
        let facts: Vec<Fact> = kinds.into_iter().map(fact).collect();
        let events = self.publisher.apply(&facts, &self.session);
        events.iter().for_each(|event| self.viewer.apply(event));
        events
    }

    fn sans(&self) -> Vec<&str> {
        self.publisher.state().plies.iter().map(|ply| ply.san.as_str()).collect()
    }
}

fn names(events: &[FeedEvent]) -> Vec<&'static str> {
    events.iter().map(FeedEvent::name).collect()
}

#[test]
fn a_published_move_gets_its_notation_and_position() {
    let mut desk = Desk::new(&GameSetup::default());
    let events = desk.take([published(1, "e2e4")]);
    assert_eq!(names(&events), ["move", "status"]);
    let state = desk.publisher.state();
    assert_eq!(state.fen, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert_eq!((state.turn, state.status), ("black", STATUS_PLAYING));
    assert_eq!(desk.sans(), ["e4"]);
}

#[test]
fn the_history_counts_as_played_and_completed() {
    let setup = GameSetup { history: vec!["e2e4".to_owned(), "e7e5".to_owned()], ..GameSetup::default() };
    let mut desk = Desk::new(&setup);
    assert_eq!(desk.publisher.state().status, STATUS_WAITING);
    let events = desk.take([published(1, "g1f3")]);
    assert!(matches!(&events[0], FeedEvent::Move { ply: 3, .. }));
    assert_eq!(desk.sans(), ["e4", "e5", "Nf3"]);
    let state = desk.publisher.state();
    assert_eq!(state.board, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR");
    assert!(state.plies[1].completed && !state.plies[2].completed);
    assert!(desk.take([withdrawn(0)]).is_empty(), "a move of the history cannot be withdrawn");
}

#[test]
fn takebacks_in_a_row_are_told_as_one() {
    let mut desk = Desk::new(&GameSetup::default());
    desk.take([published(1, "e2e4"), published(2, "e7e5"), published(3, "g1f3")]);
    let events = desk.take([withdrawn(3), withdrawn(2)]);
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".to_owned();
    assert_eq!(events, [FeedEvent::Undo { n: 2, fen }]);
    assert_eq!(desk.sans(), ["e4"]);
}

#[test]
fn a_move_that_was_never_published_leaves_no_trace() {
    let mut desk = Desk::new(&GameSetup::default());
    let quiet = FactKind::MoveWithdrawn { ply: 1, uci: "e2e4".into(), published: false };
    assert!(desk.take([quiet]).is_empty());
    let illegal = FactKind::IllegalMove {
        by: Color::White,
        attempt: None,
        kind: "illegal-move",
        n: 1,
        to: Audience::Arbiter,
    };
    let advisory = FactKind::Advisory {
        side: None,
        code: "setup-missing",
        squares: Bitboard::EMPTY,
        to: Audience::Arbiter,
        detail: "".into(),
    };
    assert!(desk.take([illegal, advisory]).is_empty());
}

#[test]
fn a_revised_promotion_keeps_the_later_plies_and_their_notation_right() {
    let setup = GameSetup { start_fen: "7k/P7/8/8/8/8/8/K7 w - - 0 1".to_owned(), ..GameSetup::default() };
    let mut desk = Desk::new(&setup);
    desk.take([published(1, "a7a8q"), published(2, "h8g7")]);
    assert_eq!(desk.sans(), ["a8=Q+", "Kg7"]);
    let events = desk.take([revised(1, "a7a8n")]);
    assert_eq!(names(&events), ["correct"]);
    assert_eq!(desk.sans(), ["a8=N", "Kg7"]);
    assert_eq!(desk.publisher.state().fen, "N7/6k1/8/8/8/8/8/K7 w - - 1 2");
}

#[test]
fn a_later_ply_that_a_revision_makes_impossible_is_taken_back() {
    let mut desk = Desk::new(&GameSetup::default());
    desk.take([published(1, "e2e4"), published(2, "d7d5"), published(3, "e4d5")]);
    let events = desk.take([revised(2, "e7e5")]);
    assert_eq!(names(&events), ["undo", "correct"]);
    assert_eq!(desk.sans(), ["e4", "e5"]);
}

#[test]
fn revisions_that_belong_together_are_one_change() {
    let setup = GameSetup { start_fen: "7k/P7/8/8/8/8/8/K7 w - - 0 1".to_owned(), ..GameSetup::default() };
    let mut desk = Desk::new(&setup);
    desk.take([published(1, "a7a8q"), published(2, "h8g7"), published(3, "a8b8")]);
    // A knight cannot go to b8; only with the third ply is this a game again.
    let events = desk.take([revised(1, "a7a8n"), revised(3, "a8b6")]);
    assert_eq!(names(&events), ["correct", "correct"]);
    assert_eq!(desk.sans(), ["a8=N", "Kg7", "Nb6"]);
}

#[test]
fn plies_that_became_impossible_come_back_when_they_fit_again() {
    let setup = GameSetup { start_fen: "7k/P7/8/8/8/8/8/K7 w - - 0 1".to_owned(), ..GameSetup::default() };
    let mut desk = Desk::new(&setup);
    desk.take([published(1, "a7a8q"), published(2, "h8g7"), published(3, "a8b8")]);
    desk.take([completed(3, CompletedBy::Press, Some(1000))]);
    assert_eq!(names(&desk.take([revised(1, "a7a8n")])), ["undo", "correct"]);
    assert_eq!(desk.sans(), ["a8=N", "Kg7"]);
    assert_eq!(desk.publisher.held(), 1);
    let events = desk.take([published(4, "g7f7"), revised(1, "a7a8r")]);
    assert_eq!(names(&events), ["correct", "move", "completed", "move"]);
    assert_eq!(desk.sans(), ["a8=R+", "Kg7", "Rb8", "Kf7"]);
    assert_eq!(desk.publisher.state().plies[2].clock_ms, Some(1000));
}

#[test]
fn a_completion_that_comes_before_the_publication_is_kept() {
    let mut desk = Desk::new(&GameSetup::default());
    assert!(desk.take([completed(1, CompletedBy::Press, Some(5000))]).is_empty());
    desk.take([published(1, "e2e4")]);
    let state = desk.publisher.state();
    assert!(state.plies[0].completed && state.has_presses);
    assert_eq!(state.plies[0].clock_ms, Some(5000));
}

#[test]
fn only_completed_moves_count_where_presses_are_told() {
    let mut desk = Desk::new(&GameSetup::default());
    desk.take([published(1, "e2e4")]);
    assert_eq!(completed_san(desk.publisher.state()), ["e4"], "nothing tells presses here");
    desk.take([completed(1, CompletedBy::Press, None), published(2, "e7e5"), published(3, "g1f3")]);
    assert_eq!(completed_san(desk.publisher.state()), ["e4"]);
    desk.take([completed(3, CompletedBy::Press, None)]);
    assert_eq!(completed_san(desk.publisher.state()), ["e4", "e5", "Nf3"]);
    desk.take([published(4, "b8c6")]);
    assert_eq!(completed_san(desk.publisher.state()).len(), 3);
    let end = |result| FactKind::GameEnd {
        result,
        reason: "entered",
        certainty: Certainty::Arbiter,
        more: EndDetail::default(),
    };
    let events = desk.take([end(GameResult::WhiteWins)]);
    assert_eq!(names(&events), ["result", "status"]);
    assert_eq!(completed_san(desk.publisher.state()).len(), 4, "the last move needs no press");
    desk.take([FactKind::ResultWithdrawn]);
    assert_eq!(desk.publisher.state().status, STATUS_PLAYING);
}

#[test]
fn a_clock_that_stops_pauses_the_game() {
    let mut desk = Desk::new(&GameSetup::default());
    let reading =
        |running| FactKind::Clock(ClockReading { white_ms: Some(1000), black_ms: Some(2000), running });
    assert_eq!(names(&desk.take([reading(None)])), ["clock"]);
    assert!(desk.take([reading(None)]).is_empty(), "nothing new");
    assert_eq!(names(&desk.take([reading(Some(Color::White))])), ["clock", "status"]);
    desk.take([reading(None)]);
    assert_eq!(desk.publisher.state().status, STATUS_PAUSED);
}

#[test]
fn the_link_is_told_once() {
    let mut desk = Desk::new(&GameSetup::default());
    assert_eq!(names(&desk.publisher.link(false)), ["status"]);
    assert!(desk.publisher.link(false).is_empty());
}

#[test]
fn the_json_of_an_event_names_its_kind() {
    let event = FeedEvent::Board { board: "8/8".to_owned() };
    assert_eq!(serde_json::to_string(&event).unwrap(), r#"{"type":"board","placement":"8/8"}"#);
}

/// A step of a game that the facts tell in any order, sensible or not.
#[derive(Clone, Debug)]
enum Step {
    Play(prop::sample::Index),
    Withdraw(usize),
    Revise(usize, prop::sample::Index),
    Complete(usize, Option<u64>),
    Raw(usize, String),
    SetUp(bool, prop::sample::Index),
    Embargo(bool),
    End(bool),
}

/// Positions that are set up, or that an illegal move led to.
const OTHERS: [&str; 3] = [
    "4k3/8/8/8/8/8/4P3/4K3 w - - 0 30",
    "rnbqkbnr/pppp1ppp/8/4p3/4P3/4K3/PPPP1PPP/RNBQ1BNR b kq - 1 2",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => any::<prop::sample::Index>().prop_map(Step::Play),
        1 => (0..30_usize).prop_map(Step::Withdraw),
        1 => (0..30_usize, any::<prop::sample::Index>()).prop_map(|(ply, to)| Step::Revise(ply, to)),
        2 => (0..30_usize, any::<Option<u64>>()).prop_map(|(ply, ms)| Step::Complete(ply, ms)),
        1 => (0..30_usize, "[a-h][1-8][a-h][1-8]").prop_map(|(ply, uci)| Step::Raw(ply, uci)),
        1 => any::<(bool, prop::sample::Index)>().prop_map(|(stands, which)| Step::SetUp(stands, which)),
        1 => any::<bool>().prop_map(Step::Embargo),
        1 => any::<bool>().prop_map(Step::End),
    ]
}

fn uci_at(publisher: &Publisher, index: usize, choice: &prop::sample::Index) -> Option<String> {
    let position = publisher.positions.get(index)?;
    let moves = position.legal_moves();
    (!moves.is_empty()).then(|| moves[choice.index(moves.len())].to_uci(CastlingMode::Standard).to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_state_is_the_sum_of_the_events_and_a_legal_game(steps in prop::collection::vec(step(), 0..60)) {
        let mut desk = Desk::new(&GameSetup::default());
        for step in steps {
            let len = desk.publisher.state.plies.len();
            let kind = match step {
                Step::Play(choice) => uci_at(&desk.publisher, len, &choice).and_then(|uci| {
                    let ply = usize::try_from(signed(len + 1) - desk.publisher.part.base).ok()?;
                    Some(published(ply, &uci))
                }),
                Step::Withdraw(ply) => Some(withdrawn(ply)),
                Step::Revise(ply, choice) => uci_at(&desk.publisher, ply.saturating_sub(1), &choice)
                    .map(|uci| revised(ply, &uci)),
                Step::Complete(ply, ms) => Some(completed(ply, CompletedBy::Press, ms)),
                Step::Raw(ply, uci) => Some(published(ply, &uci)),
                Step::SetUp(stands, which) => {
                    let fen = OTHERS[which.index(OTHERS.len())];
                    Some(if stands {
                        let (fen, attempt) = (fen.to_owned(), "e1e3".to_owned());
                        let (by, to) = (Side(Color::White), Audience::Arbiter);
                        law(LawFact::IllegalStands { fen, by, attempt, to })
                    } else {
                        entry("set position", Some(fen))
                    })
                }
                Step::Embargo(true) => Some(embargo()),
                Step::Embargo(false) => Some(entry("open-envelope Nf3", None)),
                Step::End(true) => Some(end(GameResult::WhiteWins, "checkmate", Certainty::Law)),
                Step::End(false) => Some(end(GameResult::Ongoing, "entered", Certainty::Arbiter)),
            };
            let events = desk.take(kind);
            prop_assert_eq!(&desk.viewer, desk.publisher.state());
            if desk.publisher.is_embargoed() {
                let held = |event: &FeedEvent| {
                    matches!(event, FeedEvent::Clock(_) | FeedEvent::Status { .. } | FeedEvent::Result { result: "*", .. })
                };
                prop_assert!(events.iter().all(held), "{:?}", events);
            }
            let start: Fen = desk.viewer.start_fen.parse().unwrap();
            let mut position: Chess = start.into_position(CastlingMode::Standard).unwrap();
            for ply in desk.viewer.plies.iter() {
                let (san, next) = play(&position, &ply.uci).unwrap();
                prop_assert_eq!(&san, &ply.san);
                position = next;
            }
            prop_assert_eq!(&fen_of(&position), &desk.viewer.fen);
            prop_assert_eq!(desk.publisher.positions.len(), desk.viewer.plies.len() + 1);
        }
    }
}

fn law(fact: LawFact) -> FactKind {
    FactKind::Law(Box::new(fact))
}

fn entry(command: &str, after: Option<&str>) -> FactKind {
    let after = after.map(str::to_owned);
    let (command, before) = (command.to_owned(), after.as_ref().map(|_| String::new()));
    law(LawFact::ArbiterEntry(Entry { command, accepted: true, reason: None, before, after }))
}

fn embargo() -> FactKind {
    law(LawFact::Advisory(Box::new(Notice::of("feed-embargo", Audience::Feed))))
}

fn end(result: GameResult, reason: &'static str, certainty: Certainty) -> FactKind {
    FactKind::GameEnd { result, reason, certainty, more: EndDetail::default() }
}

const RUY: &str = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";

#[test]
fn nothing_of_a_sealed_move_leaves_before_the_envelope_is_opened() {
    let history = ["e2e4", "e7e5", "g1f3", "b8c6"].map(str::to_owned).to_vec();
    let mut desk = Desk::new(&GameSetup { history, ..GameSetup::default() });
    desk.take([entry("seal-request", None), embargo()]);
    let reading = ClockReading { white_ms: Some(60_000), black_ms: Some(50_000), running: None };
    let events = desk.take([
        FactKind::Clock(reading),
        published(1, "f1b5"),
        completed(1, CompletedBy::Press, Some(60_000)),
        end(GameResult::WhiteWins, "checkmate", Certainty::Law),
    ]);
    assert_eq!(names(&events), ["clock"], "the clocks may be seen");
    assert!(desk.publisher.is_embargoed());
    // A position that is put up again does not tell the sealed move that was made on the board.
    assert!(desk.take([entry("resume", None)]).is_empty());
    let events = desk.take([entry("open-envelope Bb5", None)]);
    assert_eq!(names(&events), ["move", "completed", "result", "status"]);
    assert_eq!(desk.publisher.state().fen, RUY);
    assert_eq!(desk.viewer, *desk.publisher.state());
}

/// A mate that may still be claimed to break Article 4 is presumed: it is on the board all the same.
#[test]
fn a_presumed_mate_tells_of_the_sealed_move_as_well() {
    let mut desk = Desk::new(&GameSetup::default());
    desk.take([entry("seal-request", None), embargo()]);
    assert!(desk.take([end(GameResult::WhiteWins, "checkmate", Certainty::Presumed)]).is_empty());
    assert_eq!(names(&desk.take([entry("open-envelope Re8", None)])), ["result", "status"]);
}

#[test]
fn an_adjourned_game_may_end_by_agreement_and_go_on_without_an_envelope() {
    let mut desk = Desk::new(&GameSetup::default());
    desk.take([published(1, "e2e4"), entry("seal-request", None), embargo()]);
    let events = desk.take([end(GameResult::Draw, "agreement", Certainty::Presumed)]);
    assert_eq!(names(&events), ["result", "status"]);

    let mut desk = Desk::new(&GameSetup::default());
    desk.take([published(1, "e2e4"), entry("seal-request", None), embargo()]);
    desk.take([entry("resume", None)]);
    assert_eq!(names(&desk.take([published(2, "e7e5")])), ["move"]);
}

#[test]
fn an_illegal_move_that_stands_begins_a_part_and_restoring_ends_it() {
    let mut desk = Desk::new(&GameSetup::default());
    desk.take([published(1, "e2e4"), published(2, "e7e5")]);
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/4K3/PPPP1PPP/RNBQ1BNR b kq - 1 2".to_owned();
    let stands = LawFact::IllegalStands {
        fen: fen.clone(),
        by: Side(Color::White),
        attempt: "e1e3".to_owned(),
        to: Audience::Arbiter,
    };
    assert_eq!(names(&desk.take([law(stands)])), ["setup"]);
    let events = desk.take([published(4, "b8c6"), completed(4, CompletedBy::Press, None)]);
    assert_eq!(names(&events), ["move", "completed"]);
    let state = desk.publisher.state();
    assert_eq!((state.start_fen.as_str(), state.plies.len()), (fen.as_str(), 1));
    let before = EarlierPart {
        start_fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
        san: ["e4", "e5", "e1e3"].map(str::to_owned).to_vec(),
        times: vec![crate::publish::PlyTimes::default(); 3],
    };
    assert_eq!(*state.earlier, [before]);
    assert_eq!(desk.viewer, *state);
    // The arbiter goes back to the position before the illegal move.
    let events = desk.take([withdrawn(4), withdrawn(3)]);
    assert_eq!(names(&events), ["undo", "setup", "move", "move"]);
    assert_eq!(desk.sans(), ["e4", "e5"]);
    assert!(desk.publisher.state().earlier.is_empty());
    assert_eq!(names(&desk.take([published(3, "g1f3")])), ["move"]);
    assert_eq!(desk.viewer, *desk.publisher.state());
}

#[test]
fn a_position_that_an_arbiter_sets_up_begins_a_part() {
    let mut desk = Desk::new(&GameSetup::default());
    desk.take([published(1, "e2e4"), published(2, "e7e5")]);
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 30";
    assert_eq!(names(&desk.take([entry(&format!("set position {fen}"), Some(fen))])), ["setup"]);
    assert_eq!(names(&desk.take([published(1, "e2e4")])), ["move"]);
    let state = desk.publisher.state();
    assert_eq!((state.start_fen.as_str(), state.earlier.len(), state.turn), (fen, 1, "black"));
    // Back to a position of the first part, after which the facts count from there.
    let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let events = desk.take([entry("set position", Some(after_e4))]);
    assert_eq!(names(&events), ["setup", "move"]);
    desk.take([published(1, "c7c5")]);
    assert_eq!(desk.sans(), ["e4", "c5"]);
    assert_eq!(desk.viewer, *desk.publisher.state());
}

#[test]
fn results_tell_how_the_game_ended_where_it_did_not_end_as_games_do() {
    for (result, reason, played, told) in [
        (GameResult::WhiteWins, "checkmate", true, None),
        (GameResult::WhiteWins, "time", true, Some("time forfeit")),
        (GameResult::BlackWins, "illegal-count", true, Some("rules infraction")),
        (GameResult::BothLose, "arbiter-decision", true, Some("adjudication")),
        (GameResult::WhiteWins, "arbiter-decision", false, Some("abandoned")),
    ] {
        let mut desk = Desk::new(&GameSetup::default());
        desk.take(played.then(|| published(1, "e2e4")));
        desk.take([end(result, reason, Certainty::Arbiter)]);
        let state = desk.publisher.state();
        assert_eq!((state.result, state.termination), (result.as_str(), told), "{reason}");
    }
}

#[test]
fn spectators_see_an_irregular_position_only_where_the_event_says_so() {
    let illegal = || FactKind::IllegalMove {
        by: Color::White,
        attempt: Some("e1e3".to_owned()),
        kind: "illegal-move",
        n: 1,
        to: Audience::Arbiter,
    };
    let mut silent = Desk::new(&GameSetup::default());
    silent.take([published(1, "e2e4")]);
    assert!(silent.take([illegal()]).is_empty());

    let config = serde_json::json!({"feed.show_irregular": true});
    let setup = GameSetup { config: config.as_object().unwrap().clone(), ..GameSetup::default() };
    let mut desk = Desk::new(&setup);
    desk.take([published(1, "e2e4")]);
    assert_eq!(names(&desk.take([illegal()])), ["status"]);
    assert_eq!(desk.viewer.status, STATUS_IRREGULAR);
    // The legal move that replaces it.
    desk.take([made(2, "e7e5")]);
    assert_eq!(desk.viewer.status, STATUS_PLAYING);
    desk.take([illegal()]);
    desk.take([entry("reject", None)]);
    assert_eq!(desk.viewer.status, STATUS_PLAYING);
}
