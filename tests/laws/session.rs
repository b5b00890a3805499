//! The session under any sequence of events.

use shakmaty::{Chess, Position as _, san::SanPlus, uci::UciMove};
use touchmoved::{
    game::Board,
    publish::{Publisher, Tags},
    session::{
        Session,
        fact::{Fact, FactKind},
        setup::GameSetup,
        time::MonoTime,
    },
};

use super::{fold::Fold, script::Script};

/// Facts that one input may lead to, the deadlines behind it included.
const FACTS: usize = 128;
/// Deadlines that one input may lead to: 64 contacts of each of two boards and a few looks at the board.
const DEADLINES: usize = 224;
/// Readings of the board at any moment.
const READINGS: usize = 64;
/// Plies of one reading that are not firm.
const LOOSE: usize = 122;

/// Any events: no panic, the same facts in every run and however the time is advanced, a legal
/// game at every moment, facts that add up to it and to what the public sees, and bounded work.
pub fn session_events(data: &[u8]) {
    let script = Script::new(data);
    let facts = watched(&script);
    assert_eq!(stepped(&script), facts, "time in small steps (left) and in one");
    assert_eq!(copied(&script), facts, "a copy that goes on (left) and the board itself");
}

fn drain(board: &mut Board) -> Vec<Fact> {
    std::iter::from_fn(|| board.poll_fact()).collect()
}

/// One run; after every input everything is compared.
fn watched(script: &Script) -> Vec<Fact> {
    let mut board = Board::new(&script.setup).unwrap();
    let mut publisher = Publisher::new("1", &script.setup, Tags::default(), board.session());
    let start = script.setup.position().unwrap();
    let mut public = publisher.state().clone();
    let mut fold = Fold::default();
    let mut all: Vec<Fact> = Vec::new();
    for step in 0..=script.inputs.len() {
        match script.inputs.get(step) {
            Some((at, input)) => board.input(*at, input),
            None => board.advance(MonoTime::END),
        }
        let facts = drain(&mut board);
        let session = board.session();
        in_order(all.last(), &facts, session);
        facts.iter().for_each(|fact| fold.take(fact));
        fold.agrees_with(session);
        legal(&start, session);
        looks(session);
        for event in publisher.apply(&facts, session) {
            public.apply(&event);
        }
        assert_eq!(publisher.state(), &public, "the public state and its events");
        assert_eq!(publisher.held(), 0, "published moves that are not legal: {facts:?}");
        shown(&script.setup, &publisher, session, fold.published());
        all.extend(facts);
    }
    let bound = FACTS * (script.inputs.len() + 1);
    assert!(all.len() <= bound, "{} facts of {} inputs", all.len(), script.inputs.len());
    all
}

fn in_order(before: Option<&Fact>, facts: &[Fact], session: &Session) {
    let mut last = before;
    for fact in facts {
        assert!(fact.ev <= session.last_event(), "{fact:?}");
        assert!(last.is_none_or(|last| last.ev <= fact.ev && last.at <= fact.at), "{last:?} {fact:?}");
        assert!(fact.to_value().is_object());
        if let FactKind::Advisory { to, .. } = &fact.kind {
            assert!(*to != touchmoved::session::fact::law::Audience::Feed, "{fact:?}");
        }
        last = Some(fact);
    }
}

/// The plies are legal, their two notations agree, and they lead to the position.
fn legal(start: &Chess, session: &Session) {
    let mut position = start.clone();
    for (index, ply) in session.plies().enumerate() {
        let uci: UciMove = ply.uci.parse().expect("UCI");
        let mv = uci.to_move(&position).unwrap_or_else(|_| panic!("ply {} is not legal: {ply:?}", index + 1));
        assert_eq!(SanPlus::from_move(position.clone(), mv).to_string(), ply.san, "ply {}", index + 1);
        position.play_unchecked(mv);
    }
    assert_eq!(&position, session.position());
}

/// What the session shows of itself is consistent, and what it keeps in mind is bounded.
fn looks(session: &Session) {
    let effort = session.effort();
    assert!((1..=READINGS).contains(&effort.readings), "{effort:?}");
    assert!(effort.loose_plies <= effort.readings * LOOSE, "{effort:?}");
    assert!(effort.games <= effort.loose_plies + 1, "{effort:?}");
    let view = session.view();
    let plies = session.plies().len();
    assert!(view.plies <= plies, "{view:?}");
    // A ply that is not told yet may be in doubt, too.
    assert!(session.doubts().iter().all(|ply| *ply >= 1) && session.doubts().is_sorted());
    let physical = session.physical();
    assert!((physical.board.occupied() & physical.unknown).is_empty());
}

/// The public sees the published plies and no other.
fn shown(setup: &GameSetup, publisher: &Publisher, session: &Session, published: usize) {
    let state = publisher.state();
    assert_eq!(state.plies.len(), setup.history.len() + published);
    let public = state.plies.iter().skip(setup.history.len()).map(|ply| &ply.san);
    assert!(public.eq(session.plies().take(published).map(|ply| &ply.san)));
    assert_eq!(state.result, session.result().as_str());
}

/// The time is advanced to every deadline and between them.
fn stepped(script: &Script) -> Vec<Fact> {
    let mut board = Board::new(&script.setup).unwrap();
    let mut all = Vec::new();
    let mut now = MonoTime::ZERO;
    for step in 0..=script.inputs.len() {
        let next = script.inputs.get(step);
        let until = next.map_or(MonoTime::END, |(at, _)| *at).max(now);
        let mut fired = 0;
        while let Some(due) = board.deadline().filter(|due| *due < until) {
            board.advance(MonoTime::from_micros(now.as_micros().midpoint(due.as_micros())));
            board.advance(due);
            assert!(board.deadline().is_none_or(|next| next > due), "{due} fires without end");
            all.extend(drain(&mut board));
            fired += 1;
            assert!(fired <= DEADLINES, "{fired} deadlines after input {step}");
            now = now.max(due);
        }
        now = until;
        match next {
            Some((at, input)) => board.input(*at, input),
            None => board.advance(MonoTime::END),
        }
        all.extend(drain(&mut board));
    }
    all
}

/// The board is copied in the middle, and the copy goes on.
fn copied(script: &Script) -> Vec<Fact> {
    let mut board = Board::new(&script.setup).unwrap();
    let (first, second) = script.inputs.split_at(script.inputs.len() / 2);
    first.iter().for_each(|(at, input)| board.input(*at, input));
    let mut copy = board.clone();
    drop(board);
    second.iter().for_each(|(at, input)| copy.input(*at, input));
    copy.advance(MonoTime::END);
    drain(&mut copy)
}
