//! Sick sensors: found from what the reconstruction and the board go on contradicting each other in,
//! masked so that the game goes on, reported once, and believed again when they behave.
//!
//! The evidence is always the same: the game is in order and goes on, but for one square. A square that
//! is masked contradicts no reading (`tracker::Observed::masked`); what it hides is left to the rest of
//! the board and to the later game.

mod care;
pub(crate) mod chatter;
mod matrix;
mod verdict;

use shakmaty::{Bitboard, Position as _, Square};

use self::{
    chatter::Contacts,
    verdict::{agreed, in_doubt, tells_at, verdict},
};
use super::{
    time::MonoTime,
    tracker::{Reading, Tracker},
};

/// Other squares are masked once so many plies were played around them.
const PLIES: usize = 2;
/// Where more squares than this are out of order, men were displaced.
const MOST: usize = 4;
/// A square that chattered is believed again after a rest of this long.
const REST_MS: u64 = 10_000;
/// The same square is reported this often; then it is masked without a word.
const REPORTS: u8 = 3;

/// What is wrong with a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It reads occupied and is empty.
    Stuck,
    /// It reads occupied because of the man beside it.
    Bleed,
    /// It reads empty and a man stands there.
    Dead,
    /// It changes faster than a hand.
    Chatter,
    /// It reads another man than the one that stands there (identity boards).
    Misread,
}

impl Fault {
    const fn words(self) -> &'static str {
        match self {
            Fault::Stuck => "reads occupied although it is empty; it is ignored and the game goes on",
            Fault::Bleed => "reads occupied because of the man on the next square; it is ignored",
            Fault::Dead => "does not see the man that stands there; it is ignored and the game goes on",
            Fault::Chatter => "changes faster than any hand; it is ignored until it rests",
            Fault::Misread => {
                "reads another man than the one that stands there; the man is taken from the game"
            }
        }
    }
}

/// A square that is not believed.
#[derive(Clone, Copy, Debug)]
struct Sick {
    square: Square,
    fault: Fault,
    since: MonoTime,
    /// How many plies the game had then.
    plies: usize,
    told: bool,
    /// A man stood there while the game went on.
    sure: bool,
    /// Why it reads so is known: it is not reported.
    known: bool,
}

/// A square in which the best reading and the board differ.
#[derive(Clone, Copy, Debug)]
struct Noted {
    square: Square,
    since: MonoTime,
    plies: usize,
    /// Its contact did not change when the contradiction began.
    silent: bool,
}

/// What came of a look.
#[derive(Debug, Default)]
struct Outcome {
    changed: bool,
    tell: Vec<(&'static str, Square, &'static str)>,
    marks: Vec<String>,
}

/// The state of the sensors, as far as it is in doubt.
#[derive(Clone, Debug)]
pub(super) struct Health {
    contacts: Contacts,
    noted: Vec<Noted>,
    sick: Vec<Sick>,
    reports: [u8; 64],
    due: Option<MonoTime>,
    matrix: matrix::Matrix,
}

impl Health {
    pub(super) fn new() -> Health {
        Health {
            contacts: Contacts::new(),
            noted: Vec::new(),
            sick: Vec::new(),
            reports: [0; 64],
            due: None,
            matrix: matrix::Matrix::default(),
        }
    }

    pub(super) fn deadline(&self) -> Option<MonoTime> {
        self.due
    }

    fn squares(&self, masks: impl Fn(Fault) -> bool) -> Bitboard {
        self.sick.iter().filter(|sick| masks(sick.fault)).map(|sick| sick.square).collect()
    }

    fn masked(&self) -> Bitboard {
        self.squares(|fault| fault != Fault::Misread)
    }

    fn misread(&self) -> Bitboard {
        self.squares(|fault| fault == Fault::Misread)
    }

    fn fall_sick(&mut self, square: Square, fault: Fault, at: MonoTime, plies: usize, out: &mut Outcome) {
        self.sick.retain(|sick| sick.square != square);
        self.sick.push(Sick { square, fault, since: at, plies, told: false, sure: false, known: false });
        self.noted.retain(|noted| noted.square != square);
        out.changed = true;
        match fault {
            Fault::Stuck => out.marks.push(format!("faulty:{square}")),
            Fault::Dead => out.marks.push(format!("suspect:{square}")),
            Fault::Chatter => out.marks.push(format!("flicker:{square}")),
            Fault::Misread => out.marks.push(format!("identity_conflict:{square}")),
            Fault::Bleed => {}
        }
    }

    fn recover(&mut self, square: Square, out: &mut Outcome) {
        self.sick.retain(|sick| {
            if sick.square != square {
                return true;
            }
            out.changed = true;
            if sick.told {
                out.tell.push(("sensor-recovered", square, "the square behaves again and is read as before"));
            }
            false
        });
    }

    /// Another man stands on a square than in the game, and that was told.
    fn take_as_exchanged(&mut self, square: Square, at: MonoTime, plies: usize, out: &mut Outcome) {
        self.fall_sick(square, Fault::Misread, at, plies, out);
        for sick in self.sick.iter_mut().filter(|sick| sick.square == square) {
            sick.known = true;
        }
    }

    /// A square changed by itself. True when nobody should look at it.
    fn contact(
        &mut self,
        square: Square,
        occupied: bool,
        at: MonoTime,
        plies: impl FnOnce() -> usize,
        out: &mut Outcome,
    ) -> bool {
        let chatters = self.contacts.note(square, at);
        if self.sick.is_empty() && !chatters {
            return false;
        }
        let fault = self.sick.iter().find(|sick| sick.square == square).map(|sick| sick.fault);
        if fault == Some(Fault::Chatter) {
            return true;
        }
        if chatters {
            self.fall_sick(square, Fault::Chatter, at, plies(), out);
            self.tell(square, at, out);
            return true;
        }
        self.reading(square, occupied, out);
        false
    }

    /// What a square reads now may show that it works.
    fn reading(&mut self, square: Square, occupied: bool, out: &mut Outcome) {
        let works = self.sick.iter().any(|sick| {
            sick.square == square
                && match sick.fault {
                    Fault::Stuck | Fault::Bleed => !occupied,
                    Fault::Dead => occupied,
                    Fault::Chatter | Fault::Misread => false,
                }
        });
        if works {
            self.recover(square, out);
        }
    }

    fn tell(&mut self, square: Square, at: MonoTime, out: &mut Outcome) {
        let Some(sick) = self.sick.iter_mut().find(|sick| sick.square == square) else { return };
        let reports = &mut self.reports[usize::from(square)];
        if sick.told || sick.known || *reports >= REPORTS || at < sick.since {
            return;
        }
        sick.told = true;
        *reports += 1;
        out.tell.push(("sensor-faulty", square, sick.fault.words()));
    }

    /// Compares the board with the best reading. On the squares `awaited` a man has to come or to go yet.
    fn look(&mut self, tracker: &Tracker, awaited: Bitboard, at: MonoTime, out: &mut Outcome) {
        self.due = None;
        let Some(best) = tracker.best() else { return };
        let plies = tracker.len(best);
        self.watch_the_sick(tracker, best, at, plies, out);
        let differs = tracker.seen().differs(tracker.position(best).board()) & !awaited;
        self.noted.retain(|noted| differs.contains(noted.square));
        for square in differs {
            if !self.noted.iter().any(|noted| noted.square == square) {
                let silent = self.contacts.last(square).is_none_or(|last| last < at);
                self.noted.push(Noted { square, since: at, plies, silent });
            }
        }
        let in_hand = best.us & !tracker.seen().occupied;
        if (differs & !in_hand).count() > MOST {
            return;
        }
        let mut next = 0;
        while let Some(noted) = self.noted.get(next) {
            let square = noted.square;
            match verdict(noted, tracker, best, plies, &self.contacts) {
                Some((_, due)) if due > at => self.plan(due),
                // While other readings know nothing of it, it is theirs to say what is sick.
                Some((fault, _)) if agreed(tracker, best, square, fault) => {
                    // It is noted no longer: the next one takes its place.
                    self.fall_sick(square, fault, at, plies, out);
                    continue;
                }
                _ => {}
            }
            next += 1;
        }
        for index in 0..self.sick.len() {
            let due = self.sick.get(index).filter(|sick| !sick.told).and_then(tells_at);
            if let Some(due) = due.filter(|due| *due > at) {
                self.plan(due);
            }
        }
    }

    fn plan(&mut self, due: MonoTime) {
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    fn watch_the_sick(
        &mut self,
        tracker: &Tracker,
        best: &Reading,
        at: MonoTime,
        plies: usize,
        out: &mut Outcome,
    ) {
        if self.sick.is_empty() {
            return;
        }
        let seen = tracker.seen();
        for sick in self.sick.clone() {
            let square = sick.square;
            let (stands, reads) = (best.occupied.contains(square), seen.occupied.contains(square));
            match sick.fault {
                // Nobody stands there any more: whether it sees men is open.
                Fault::Dead if !stands && !sick.sure => self.recover(square, out),
                Fault::Chatter => {
                    let rested = self.contacts.last(square).map_or(at, |last| last.plus_ms(REST_MS));
                    if rested > at {
                        self.plan(rested);
                    } else if stands == reads {
                        self.contacts.forget(square);
                        self.recover(square, out);
                    }
                }
                Fault::Misread => {
                    let man = seen.men.as_ref().and_then(|men| men.piece_at(square));
                    let went = tracker.loose_ply(best).filter(|ply| ply.mv.from() == Some(square));
                    if let (false, Some(ply)) = (stands, went) {
                        // It is the man that is misread: the remark goes with it.
                        self.sick.retain(|other| other.square != ply.mv.to());
                        for other in self.sick.iter_mut().filter(|other| other.square == square) {
                            other.square = ply.mv.to();
                            out.changed = true;
                        }
                    } else if !stands {
                        self.sick.retain(|other| other.square != square);
                        out.changed = true;
                    } else if reads && man == tracker.position(best).board().piece_at(square) {
                        self.recover(square, out);
                    }
                }
                _ => {}
            }
            let sure = sick.fault != Fault::Dead
                || sick.sure
                || (plies >= sick.plies + PLIES && stands && !reads && !in_doubt(tracker, best, square));
            if let (true, Some(known)) = (sure, self.sick.iter_mut().find(|known| known.square == square)) {
                known.sure = true;
            }
            if sure && tells_at(&sick).is_some_and(|due| due <= at) {
                self.tell(square, at, out);
            }
        }
    }
}
