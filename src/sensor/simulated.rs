//! A simulated board: the handling simulator plays one game in real time or faster.

use shakmaty::Bitboard;

use super::{Pace, Sink, Source, SourceError, Stop, Timeline, pacer::Pacer};
use crate::{
    session::{event::Event, io::Input, setup::GameSetup, time::MonoTime},
    simulate::{Game, SimulateError, Simulation, params::Params, simulate},
    sysclock,
};

/// Plays a game and ends; the board then keeps its last position.
///
/// A stamp is the start plus the simulated time, not divided by the speed (see the time lines of
/// [`crate::sensor`]). The start is `CLOCK_MONOTONIC` when the source begins to run.
#[derive(Clone, Debug)]
pub struct SimulatedSource {
    simulation: Simulation,
    pace: Pace,
    resume: Option<(MonoTime, MonoTime)>,
}

impl SimulatedSource {
    /// A source that plays `game` with the hands of `params`. The same seed plays it the same way.
    pub fn new(
        game: &Game,
        params: &Params,
        seed: u64,
        pace: Pace,
    ) -> Result<SimulatedSource, SimulateError> {
        Ok(SimulatedSource { simulation: simulate(game, params, seed)?, pace, resume: None })
    }

    /// Goes on where an interrupted run with the same game, parameters and seed was. `start` is the
    /// stamp of its first reading, `last` the stamp of its last one that was recorded.
    pub fn resume(mut self, start: MonoTime, last: MonoTime) -> SimulatedSource {
        self.resume = Some((start, last));
        self
    }

    /// The set-up that belongs to the events: the session has to be made with it.
    pub fn setup(&self) -> &GameSetup {
        &self.simulation.setup
    }

    /// What will be played, with the truth about it.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// What the contacts show after every event up to `last`.
    fn occupancy_at(&self, start: MonoTime, last: MonoTime) -> Bitboard {
        let mut occupied = Bitboard::EMPTY;
        for stamped in &self.simulation.events {
            if start.plus_micros(stamped.at.as_micros()) > last {
                break;
            }
            match &stamped.event {
                Event::Occupied(all) => occupied = *all,
                Event::Square { square, occupied: true } => occupied.add(*square),
                Event::Square { square, occupied: false } => occupied.discard(*square),
                _ => {}
            }
        }
        occupied
    }
}

impl Source for SimulatedSource {
    fn name(&self) -> String {
        "simulated".to_owned()
    }

    fn timeline(&self) -> Timeline {
        Timeline::of(self.pace)
    }

    fn run(self: Box<Self>, sink: &Sink, stop: &Stop) -> Result<(), SourceError> {
        let (start, resumed) = match self.resume {
            Some((start, last)) => (start, Some(last)),
            None => (sysclock::monotonic(), None),
        };
        let mut pacer = Pacer::start(self.pace, resumed.unwrap_or(start));
        if let Some(last) = resumed {
            sink.send(last, Event::Occupied(self.occupancy_at(start, last)))?;
        }
        for stamped in self.simulation.events {
            let at = start.plus_micros(stamped.at.as_micros());
            if resumed.is_some_and(|last| at <= last) {
                continue;
            }
            if !pacer.wait(at, sink, stop)? {
                return Ok(());
            }
            sink.send(at, Input::Event(stamped.unit, stamped.event))?;
            pacer.sent(at);
        }
        pacer.tail(sink, stop).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sensor::{Reading, Speed, TAIL_US},
        simulate::{games::DemoGame, params::Level},
    };
    use std::sync::mpsc::{Receiver, sync_channel};

    fn source(pace: Pace) -> SimulatedSource {
        let mut game = DemoGame::find("opera").unwrap().game(GameSetup::default());
        game.moves.truncate(4);
        SimulatedSource::new(&game, &Params::level(Level::Tournament), 3, pace).unwrap()
    }

    fn run(source: SimulatedSource, stop: &Stop) -> Vec<Reading> {
        let (sender, receiver): (_, Receiver<Reading>) = sync_channel(16);
        let stop = stop.clone();
        let thread = std::thread::spawn(move || Box::new(source).run(&Sink::new(sender), &stop));
        let readings = receiver.iter().collect();
        thread.join().unwrap().unwrap();
        readings
    }

    fn inputs(readings: &[Reading]) -> Vec<(u64, Input)> {
        let start = readings[0].at;
        readings.iter().filter_map(|r| Some((r.at.since(start), r.input.clone()?))).collect()
    }

    fn expected(source: &SimulatedSource) -> Vec<(u64, Input)> {
        source
            .simulation()
            .events
            .iter()
            .map(|s| (s.at.as_micros(), Input::Event(s.unit, s.event.clone())))
            .collect()
    }

    #[test]
    fn stamps_keep_the_spacing_of_what_happened_at_every_speed() {
        for pace in [Pace::At(Speed::new(1000).unwrap()), Pace::AsFastAsPossible] {
            let source = source(pace);
            let expected = expected(&source);
            let readings = run(source, &Stop::default());
            assert_eq!(inputs(&readings), expected);
            assert!(readings.windows(2).all(|pair| pair[0].at <= pair[1].at));
            let end = expected.last().unwrap().0 + TAIL_US;
            assert_eq!(readings.last().unwrap().at.since(readings[0].at), end);
            assert_eq!(readings.last().unwrap().input, None);
        }
    }

    #[test]
    fn time_goes_on_between_events() {
        let readings = run(source(Pace::At(Speed::new(200).unwrap())), &Stop::default());
        assert!(readings.iter().any(|reading| reading.input.is_none()));
    }

    #[test]
    fn an_interrupted_run_goes_on_after_its_last_reading() {
        let whole = source(Pace::AsFastAsPossible);
        let expected = expected(&whole);
        let start = MonoTime::from_micros(5_000_000);
        let middle = expected[expected.len() / 2].0;
        let readings = run(whole.resume(start, start.plus_micros(middle)), &Stop::default());
        assert!(matches!(readings[0].input, Some(Input::Event(_, Event::Occupied(_)))));
        let rest: Vec<_> = expected.iter().filter(|(at, _)| *at > middle).cloned().collect();
        let got: Vec<_> =
            readings[1..].iter().filter_map(|r| Some((r.at.since(start), r.input.clone()?))).collect();
        assert_eq!(got, rest);
    }

    #[test]
    fn a_stop_ends_it() {
        let stop = Stop::default();
        stop.set();
        assert!(run(source(Pace::At(Speed::REAL_TIME)), &stop).is_empty());
    }
}
