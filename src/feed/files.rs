//! Keeps files up to date on the disk.
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
    serve::ended,
};

/// Wait before a failed write is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// A file as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// Its path below the directory, with `/` between the names.
    pub(super) path: String,
    pub(super) text: String,
}

/// A folder of a round: its games are `game-1` to `game-<games>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Folder {
    /// Its path below the directory.
    pub(super) path: String,
    pub(super) games: usize,
}

/// What files are kept.
pub(super) trait Shelf: Send + 'static {
    /// The files in words, for the log.
    const WHAT: &'static str;
    /// True for what changes a file.
    fn concerns(batch: &Batch) -> bool;
    /// The files that may have changed with these boards.
    fn documents(&self, hub: &Hub, dir: &Path, boards: &BTreeSet<String>) -> Vec<Document>;
    /// What the name of a game's file ends in.
    const GAME: &'static str;
    /// The folders of the rounds that are played now. A game beyond the last one there is one of a board that is no
    /// longer in the configuration: programs that publish the folder would take it.
    fn folders(&self, hub: &Hub) -> Vec<Folder>;
    /// A file was written, or could not be.
    fn count(&self, _hub: &Hub, _written: bool) {}
}

/// Writes the files at every change until the daemon ends, and once more then.
pub(super) async fn write_until<S: Shelf>(
    shelf: S,
    dir: PathBuf,
    hub: Hub,
    mut ending: watch::Receiver<bool>,
) {
    let (mut live, mut past) = (hub.watch(), hub.watch_past());
    let (dirty, written, tidy) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
    let mut writer = Writer { shelf, dir, hub, dirty, written, tidy, failing: false };
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
        if past.has_changed().unwrap_or(false) {
            past.mark_unchanged();
            writer.all_dirty();
        }
        writer = match tokio::task::spawn_blocking(move || writer.write()).await {
            Ok(writer) => writer,
            Err(error) => {
                tracing::error!(%error, "no {} are written any more", S::WHAT);
                return;
            }
        };
        if last {
            return;
        }
        tokio::select! {
            batch = changed::<S>(&mut live) => writer.take(batch),
            Ok(()) = past.changed() => writer.all_dirty(),
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

async fn changed<S: Shelf>(live: &mut broadcast::Receiver<Arc<Batch>>) -> News {
    loop {
        match live.recv().await {
            Ok(batch) if S::concerns(&batch) => return News::Batch(batch),
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return News::Everything,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

struct Writer<S> {
    shelf: S,
    dir: PathBuf,
    hub: Hub,
    /// Boards whose files are out of date.
    dirty: BTreeSet<String>,
    /// What stands in the files, by path.
    written: BTreeMap<String, String>,
    /// The folders that were tidied up.
    tidy: BTreeSet<Folder>,
    /// True after a failure was logged.
    failing: bool,
}

impl<S: Shelf> Writer<S> {
    fn all_dirty(&mut self) {
        self.dirty.extend(self.hub.boards().iter().map(|state| state.id.clone()));
        self.dirty.extend(self.hub.games().iter().map(|state| state.id.clone()));
    }

    fn take(&mut self, news: News) {
        match news {
            News::Batch(batch) => self.note(&batch),
            News::Everything => self.all_dirty(),
        }
    }

    fn note(&mut self, batch: &Batch) {
        if S::concerns(batch) {
            self.dirty.insert(batch.board.to_string());
        }
    }

    /// Writes what is out of date; what fails stays so.
    fn write(mut self) -> Writer<S> {
        if self.dirty.is_empty() {
            return self;
        }
        match self.try_write() {
            Ok(()) => {
                if self.failing {
                    tracing::info!(dir = %self.dir.display(), "{} are written again", S::WHAT);
                }
                self.failing = false;
                self.dirty.clear();
            }
            Err(error) => {
                self.shelf.count(&self.hub, false);
                if !self.failing {
                    tracing::error!(
                        dir = %self.dir.display(), %error,
                        "{} cannot be written; trying again every {} s", S::WHAT, RETRY.as_secs()
                    );
                }
                self.failing = true;
            }
        }
        self
    }

    fn try_write(&mut self) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        // Somebody may have taken files away: then all of them are written again.
        let known = self.written.len();
        self.written.retain(|path, _| self.dir.join(path).exists());
        if self.written.len() < known {
            self.all_dirty();
        }
        let mut result = Ok(());
        let mut folders = BTreeSet::new();
        for document in self.shelf.documents(&self.hub, &self.dir, &self.dirty) {
            if self.written.get(&document.path) == Some(&document.text) {
                continue;
            }
            match replace(&self.dir, &document) {
                Ok(folder) => {
                    folders.insert(folder);
                    self.shelf.count(&self.hub, true);
                    self.written.insert(document.path, document.text);
                }
                Err(error) => result = result.and(Err(error)),
            }
        }
        for folder in self.shelf.folders(&self.hub) {
            if !self.tidy.contains(&folder) {
                folders.extend(tidy_up(&self.dir.join(&folder.path), S::GAME, folder.games)?);
                self.tidy.insert(folder);
            }
        }
        for folder in folders {
            File::open(folder)?.sync_all()?;
        }
        result
    }
}

/// Takes away the games beyond the last one; the folder, where there was one.
fn tidy_up(folder: &Path, ending: &str, games: usize) -> io::Result<Option<PathBuf>> {
    let mut found = None;
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let number = entry.file_name().to_str().and_then(|name| game_number(name, ending));
        if number.is_some_and(|number| number > games) {
            fs::remove_file(entry.path())?;
            tracing::info!(file = %entry.path().display(), "no board plays this game any more: taken away");
            found = Some(folder.to_owned());
        }
    }
    Ok(found)
}

/// The number of `game-<M>.<ending>`.
pub(super) fn game_number(name: &str, ending: &str) -> Option<usize> {
    name.strip_prefix("game-")?.strip_suffix(ending)?.strip_suffix('.')?.parse().ok()
}

/// Writes a file in one step; the directory that it is in.
fn replace(dir: &Path, document: &Document) -> io::Result<PathBuf> {
    let Document { path, text } = document;
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let fits = |name: &str| !name.is_empty() && !name.starts_with('.') && name.chars().all(plain);
    if !path.split('/').all(fits) {
        let message = format!("{path:?} cannot be the name of a file; use letters, digits, - and _");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let (below, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = if below.is_empty() { dir.to_owned() } else { dir.join(below) };
    fs::create_dir_all(&folder)?;
    let part = folder.join(format!(".{name}.part"));
    let mut file = File::create(&part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    drop(file);
    fs::rename(&part, folder.join(name))?;
    Ok(folder)
}
