//! The journal of a board: a row of segments, one a game, each holding the head of the one before.

use std::path::{Path, PathBuf};

use super::writer::Store;
use crate::{
    journal::{Body, Entry, Journal, JournalError, JournalHeader, next_segment},
    session::time::MonoTime,
};

/// The segment that is written, and the directory for the next one.
#[derive(Debug)]
pub struct Segments {
    dir: PathBuf,
    journal: Journal,
}

impl Segments {
    /// Goes on with a segment that was recovered.
    pub fn resume(dir: &Path, journal: Journal) -> Segments {
        Segments { dir: dir.to_owned(), journal }
    }

    /// Begins a segment.
    pub fn begin(
        dir: &Path,
        header: JournalHeader,
        at: MonoTime,
        wall_us: u64,
    ) -> Result<Segments, JournalError> {
        let journal = Journal::create(&next_segment(dir, wall_us)?, header, at, wall_us)?;
        Ok(Segments { dir: dir.to_owned(), journal })
    }

    /// The file that is written.
    pub fn path(&self) -> &Path {
        self.journal.path()
    }
}

impl Store for Segments {
    type Error = JournalError;

    /// A header begins the next segment, whose `prev` becomes the head of this one.
    fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let Body::Header(header) = &entry.body else { return self.journal.append(entry) };
        self.journal.sync()?;
        let mut header = (**header).clone();
        header.prev = Some(self.journal.head().to_owned());
        self.journal = Segments::begin(&self.dir, header, entry.at, entry.wall_us)?.journal;
        tracing::info!("the next game is recorded in {}", self.path().display());
        Ok(())
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.journal.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        journal::{Journal, latest_segment},
        publish::Tags,
        session::{event::Event, io::Input, setup::GameSetup},
    };

    #[test]
    fn the_next_segment_holds_the_head_of_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let header = JournalHeader::new("1", GameSetup::default(), Tags::default());
        let mut segments = Segments::begin(dir.path(), header.clone(), MonoTime::ZERO, 0).unwrap();
        let entry = |body| Entry { at: MonoTime::from_micros(7), wall_us: 7, body };
        segments.append(&entry(Body::Input(Input::from(Event::Tick)))).unwrap();
        let (first, head) = (segments.path().to_owned(), segments.journal.head().to_owned());
        segments.append(&entry(Body::Header(Box::new(header)))).unwrap();
        segments.sync().unwrap();
        assert_ne!(segments.path(), first);
        assert_eq!(latest_segment(dir.path()).unwrap().as_deref(), Some(segments.path()));
        drop(segments);
        let latest = latest_segment(dir.path()).unwrap().unwrap();
        assert_eq!(Journal::recover(&latest).unwrap().header.prev, Some(head));
        assert_eq!(Journal::recover(&first).unwrap().inputs.len(), 1);
    }
}
