//! Events into a session, facts out of it.

use std::iter;

use touchmoved::session::{Session, event::Stamped, fact::Fact, setup::GameSetup, time::MonoTime};

/// Plays events into a session and gives it with all its facts.
pub fn play(setup: &GameSetup, events: &[Stamped]) -> (Session, Vec<Fact>) {
    let mut session = Session::new(setup).unwrap();
    let mut facts = Vec::new();
    for stamped in events {
        session.handle(stamped);
        facts.extend(iter::from_fn(|| session.poll_fact()));
    }
    session.advance(MonoTime::END);
    facts.extend(iter::from_fn(|| session.poll_fact()));
    (session, facts)
}
