//! One port, one board: which devices this program reads, whatever names they have.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, PoisonError},
};

use super::{WHICH_PORT, place::Sighting};

/// The devices that are read, by their numbers, with the name under which each was found.
static HELD: Mutex<BTreeMap<u64, String>> = Mutex::new(BTreeMap::new());

/// A device that is read under a name, until this is dropped.
#[derive(Debug)]
pub(super) struct Held(u64);

/// Another board of this program reads the device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name}: is the same device ({device}) as {other}, which another board reads already; one port, one board: give each \
     board in the configuration the name of its own port ({WHICH_PORT}), then `sudo systemctl restart touchmoved`"
)]
pub(super) struct Shared {
    name: String,
    device: String,
    other: String,
}

impl Held {
    /// Takes the device for the board that finds it under `name`. What is no device is nobody's.
    pub(super) fn take(seen: &Sighting, name: &str) -> Result<Option<Held>, Shared> {
        let Some(number) = seen.device() else { return Ok(None) };
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = held.get(&number) {
            let path: &Path = &seen.path;
            let device = path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
            return Err(Shared { name: name.to_owned(), device, other: other.clone() });
        }
        held.insert(number, name.to_owned());
        Ok(Some(Held(number)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}
