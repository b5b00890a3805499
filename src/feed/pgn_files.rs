//! Keeps `<dir>/<board>.pgn` and `<dir>/games.pgn` up to date on the disk.
//!
//! A file is written under another name, synced and renamed, so that a reader never sees half of
//! it. An error is logged once and the write is tried again; the daemon goes on.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{
        broadcast::{
            self,
            error::{RecvError, TryRecvError},
        },
        watch,
    },
    time::sleep,
};

use super::{
    hub::{Batch, Hub},
    pgn::{pgn_of, pgn_of_all},
    serve::ended,
};

/// Wait before a failed write is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// The name of the file with all games. A board of this name has no file of its own.
const ALL: &str = "games";

/// Writes the files at every change of a score until the daemon ends, and once more then.
pub(super) async fn write_until(dir: PathBuf, hub: Hub, mut ending: watch::Receiver<bool>) {
    let mut live = hub.watch();
    let mut writer = Writer { dir, hub, dirty: BTreeSet::new(), written: BTreeMap::new(), failing: false };
    writer.all_dirty();
    loop {
        // In this order: what was published before the end began is seen below.
        let last = *ending.borrow();
        loop {
            match live.try_recv() {
                Ok(batch) => writer.note(&batch),
                Err(TryRecvError::Lagged(_)) => writer.all_dirty(),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        writer = match tokio::task::spawn_blocking(move || writer.write()).await {
            Ok(writer) => writer,
            Err(error) => {
                tracing::error!(%error, "no PGN files are written any more");
                return;
            }
        };
        if last {
            return;
        }
        tokio::select! {
            batch = changed(&mut live) => writer.take(batch),
            () = sleep(RETRY), if !writer.dirty.is_empty() => {}
            () = ended(&mut ending) => {}
        }
    }
}

/// What came after the last look.
enum News {
    Batch(Arc<Batch>),
    /// Some batches were missed.
    Everything,
}

async fn changed(live: &mut broadcast::Receiver<Arc<Batch>>) -> News {
    loop {
        match live.recv().await {
            Ok(batch) if concerns(&batch) => return News::Batch(batch),
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return News::Everything,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn concerns(batch: &Batch) -> bool {
    batch.reset || batch.events().any(crate::publish::FeedEvent::changes_score)
}

struct Writer {
    dir: PathBuf,
    hub: Hub,
    /// Boards whose file is out of date.
    dirty: BTreeSet<String>,
    /// What stands in the files, by name.
    written: BTreeMap<String, String>,
    /// True after a failure was logged.
    failing: bool,
}

impl Writer {
    fn all_dirty(&mut self) {
        self.dirty.extend(self.hub.boards().iter().map(|state| state.id.clone()));
    }

    fn take(&mut self, news: News) {
        match news {
            News::Batch(batch) => self.note(&batch),
            News::Everything => self.all_dirty(),
        }
    }

    fn note(&mut self, batch: &Batch) {
        if concerns(batch) {
            self.dirty.insert(batch.board.to_string());
        }
    }

    /// Writes what is out of date; what fails stays so.
    fn write(mut self) -> Writer {
        if self.dirty.is_empty() {
            return self;
        }
        match self.try_write() {
            Ok(()) => {
                if self.failing {
                    tracing::info!(dir = %self.dir.display(), "PGN files are written again");
                }
                self.failing = false;
                self.dirty.clear();
            }
            Err(error) => {
                self.hub.metrics().count(|metrics| &metrics.pgn_failed);
                if !self.failing {
                    tracing::error!(
                        dir = %self.dir.display(), %error,
                        "PGN files cannot be written; trying again every {} s", RETRY.as_secs()
                    );
                }
                self.failing = true;
            }
        }
        self
    }

    fn try_write(&mut self) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let states = self.hub.boards();
        let mut result = Ok(());
        for id in self.dirty.clone() {
            let state = states.iter().find(|state| state.id == id && id != ALL);
            if let Some(state) = state {
                result = result.and(self.file(&id, pgn_of(state)));
            }
        }
        result = result.and(self.file(ALL, pgn_of_all(states.iter().map(AsRef::as_ref))));
        File::open(&self.dir)?.sync_all()?;
        result
    }

    fn file(&mut self, name: &str, text: String) -> io::Result<()> {
        if self.written.get(name) == Some(&text) {
            return Ok(());
        }
        replace(&self.dir, name, &text)?;
        self.hub.metrics().count(|metrics| &metrics.pgn_written);
        self.written.insert(name.to_owned(), text);
        Ok(())
    }
}

/// Writes `<dir>/<name>.pgn` in one step.
fn replace(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        let message =
            format!("board {name:?}: this name cannot be a file name; use letters, digits, - and _");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let part = dir.join(format!(".{name}.part"));
    let mut file = File::create(&part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    drop(file);
    fs::rename(&part, dir.join(format!("{name}.pgn")))
}
