//! Runs the inputs of a journal again and compares the facts that it holds with those that come
//! out now.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

pub use super::log::{Item, ItemKind, Log, LogError, open, read};
use super::record::RecordedFact;
use crate::game::Board;
use crate::session::{LOGIC_VERSION, fact::Fact, setup::SetupError, time::MonoTime};

/// The first fact that came out differently.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Difference {
    /// The fact's number among the facts, counted from 1.
    pub number: u64,
    /// The fact before it, on which both agree.
    pub before: Option<String>,
    /// What the journal holds; `None` is impossible before the end and allowed there.
    pub recorded: RecordedFact,
    /// What the inputs lead to now.
    pub computed: Option<String>,
}

impl Difference {
    fn text(&self) -> String {
        let mut text = format!("fact {} (record {}) comes out differently", self.number, self.recorded.seq);
        if let Some(before) = &self.before {
            text += &format!("\n  after:    {before}");
        }
        text += &format!("\n  recorded: {}", self.recorded.text);
        text + &format!("\n  computed: {}", self.computed.as_deref().unwrap_or("nothing more"))
    }
}

/// Compares recorded facts with computed ones, byte for byte, whichever of the two come first.
#[derive(Clone, Debug, Default)]
pub struct FactCheck {
    recorded: VecDeque<RecordedFact>,
    computed: VecDeque<String>,
    before: Option<String>,
    equal: u64,
    recorded_to: MonoTime,
}

impl FactCheck {
    /// A check before the first fact.
    pub fn new() -> FactCheck {
        FactCheck::default()
    }

    /// Takes a fact that the journal holds.
    pub fn recorded(&mut self, fact: RecordedFact) -> Result<(), Box<Difference>> {
        self.recorded_to = self.recorded_to.max(fact.at);
        self.recorded.push_back(fact);
        self.compare()
    }

    /// The time of the last fact that the journal holds: so far somebody looked on.
    pub const fn recorded_to(&self) -> MonoTime {
        self.recorded_to
    }

    /// Takes a fact that came out now.
    pub fn computed(&mut self, fact: &Fact) -> Result<(), Box<Difference>> {
        self.computed.push_back(RecordedFact::of(fact).text);
        self.compare()
    }

    fn compare(&mut self) -> Result<(), Box<Difference>> {
        while let (Some(recorded), Some(computed)) = (self.recorded.front(), self.computed.front()) {
            if recorded.text != *computed {
                return Err(Box::new(Difference {
                    number: self.equal + 1,
                    before: self.before.take(),
                    recorded: recorded.clone(),
                    computed: Some(computed.clone()),
                }));
            }
            self.equal += 1;
            self.before = self.computed.pop_front();
            self.recorded.pop_front();
        }
        Ok(())
    }

    /// Ends the check, after every deadline was fired. Gives the number of equal facts and those
    /// that the journal does not hold: the daemon ended before it could write or conclude them.
    pub fn finish(mut self) -> Result<(u64, Vec<String>), Box<Difference>> {
        match self.recorded.pop_front() {
            Some(recorded) => Err(Box::new(Difference {
                number: self.equal + 1,
                before: self.before,
                recorded,
                computed: None,
            })),
            None => Ok((self.equal, self.computed.into())),
        }
    }
}

/// A journal whose facts came out the same.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOutcome {
    /// Number of inputs that were run.
    pub inputs: u64,
    /// Number of facts that are recorded and came out the same.
    pub facts: u64,
    /// Facts that follow from the inputs and are not recorded: they belong behind the last record.
    pub missing: Vec<String>,
    /// True when the last line is incomplete and was left out.
    pub torn: bool,
}

/// Why [`check`] does not confirm a journal.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The game in its header cannot be set up.
    #[error("{}: {source}", file.display())]
    Setup {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: SetupError,
    },
    /// It is a sensor log, which holds no facts.
    #[error("{}: a sensor log holds no facts to compare; give a journal", file.display())]
    NotAJournal {
        /// The file.
        file: PathBuf,
    },
    /// A fact came out differently.
    #[error(
        "{}: {difference}\n  written by {program}, logic version {logic}; this is logic version {LOGIC_VERSION}",
        file.display()
    )]
    Differs {
        /// The file.
        file: PathBuf,
        /// The program that wrote the journal.
        program: String,
        /// Its logic version.
        logic: u32,
        /// The first difference.
        difference: Box<Difference>,
    },
}

/// Runs the inputs of a journal again and compares the facts with those that are recorded.
pub fn check(path: &Path) -> Result<ReplayOutcome, ReplayError> {
    let mut log = open(path)?;
    let file = log.file().to_owned();
    let Some((header, ..)) = log.header() else { return Err(ReplayError::NotAJournal { file }) };
    let (program, logic) = (header.program.clone(), header.logic);
    let differs =
        |difference| ReplayError::Differs { file: file.clone(), program: program.clone(), logic, difference };
    let mut board =
        Board::new(log.setup()).map_err(|source| ReplayError::Setup { file: file.clone(), source })?;
    let mut facts = FactCheck::new();
    let mut inputs = 0;
    while let Some(item) = log.next_item()? {
        match item.kind {
            ItemKind::Input(input) => {
                inputs += 1;
                board.input(item.at, &input);
                while let Some(fact) = board.poll_fact() {
                    facts.computed(&fact).map_err(differs)?;
                }
            }
            ItemKind::Fact(fact) => facts.recorded(fact).map_err(differs)?,
            ItemKind::Resume(_) | ItemKind::Cut(_) | ItemKind::Note(_) | ItemKind::Release(_) => {}
        }
    }
    board.finish(facts.recorded_to());
    while let Some(fact) = board.poll_fact() {
        facts.computed(&fact).map_err(differs)?;
    }
    let (facts, missing) = facts.finish().map_err(differs)?;
    Ok(ReplayOutcome { inputs, facts, missing, torn: log.torn().is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fact::FactKind;

    fn fact(us: u64) -> Fact {
        Fact { ev: 0, at: MonoTime::from_micros(us), kind: FactKind::ResultWithdrawn }
    }

    fn recorded(us: u64) -> RecordedFact {
        RecordedFact { seq: us, ..RecordedFact::of(&fact(us)) }
    }

    #[test]
    fn equal_facts_pass_in_any_interleaving() {
        let mut check = FactCheck::new();
        check.recorded(recorded(1)).unwrap();
        check.recorded(recorded(2)).unwrap();
        check.computed(&fact(1)).unwrap();
        check.computed(&fact(2)).unwrap();
        check.computed(&fact(3)).unwrap();
        check.recorded(recorded(3)).unwrap();
        assert_eq!(check.finish().unwrap(), (3, Vec::new()));
    }

    #[test]
    fn facts_may_be_missing_at_the_end_only() {
        let mut check = FactCheck::new();
        check.recorded(recorded(1)).unwrap();
        check.computed(&fact(1)).unwrap();
        check.computed(&fact(2)).unwrap();
        let missing = vec![RecordedFact::of(&fact(2)).text];
        assert_eq!(check.clone().finish().unwrap(), (1, missing));
        let difference = check.recorded(recorded(3)).unwrap_err();
        assert_eq!((difference.number, difference.recorded.seq), (2, 3));
        let text = difference.to_string();
        for part in
            ["fact 2 (record 3)", "after:    {\"us\":1,", "recorded: {\"us\":3,", "computed: {\"us\":2,"]
        {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_recorded_fact_that_does_not_come_out_is_a_difference() {
        let mut check = FactCheck::new();
        check.recorded(recorded(1)).unwrap();
        let difference = check.finish().unwrap_err();
        assert!(difference.to_string().ends_with("computed: nothing more"));
    }
}
