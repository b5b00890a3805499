//! The boards as the API lists them: what the hub knows, what the operator says of them, and where they hang.

use std::sync::Arc;

use super::follow::{Now, serial};
use crate::{
    feed::hub::Hub,
    publish::{BoardState, STATUS_PLAYING},
    wire::livechess::{Eboard, resources::Source},
};

/// What is known of a board besides its game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardNote {
    /// The board.
    pub board: String,
    /// The devices that it hangs on, each with its kind: one, or two where the game is played on two boards.
    pub devices: Vec<(String, String)>,
    /// Remark of the operator.
    pub comment: Option<String>,
    /// False where the operator switched the board off for this API.
    pub active: bool,
}

impl BoardNote {
    /// Nothing is known: the device has the name of the board.
    pub fn of(board: &str) -> BoardNote {
        let devices = vec![("board".to_owned(), board.to_owned())];
        BoardNote { board: board.to_owned(), devices, comment: None, active: true }
    }
}

/// The boards of the API. Clones share them.
#[derive(Clone, Debug)]
pub struct Boards {
    hub: Hub,
    notes: Arc<[BoardNote]>,
}

impl From<Hub> for Boards {
    /// The boards of a hub, of which nothing more is known.
    fn from(hub: Hub) -> Boards {
        Boards::new(hub, Vec::new())
    }
}

impl Boards {
    /// The boards of a hub, with notes.
    pub fn new(hub: Hub, notes: Vec<BoardNote>) -> Boards {
        Boards { hub, notes: notes.into() }
    }

    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    fn note(&self, state: &BoardState) -> BoardNote {
        let known = self.notes.iter().find(|note| note.board == state.id);
        known.cloned().unwrap_or_else(|| BoardNote::of(&state.id))
    }

    /// False where the operator switched the board off.
    pub(super) fn is_active(&self, state: &BoardState) -> bool {
        self.note(state).active
    }

    /// The list: those on which a game is played first, because clients take the first one.
    pub(super) fn list(&self, now: Now) -> Vec<Eboard> {
        let states = self.hub.boards();
        let mut noted: Vec<_> = states.iter().map(|state| (state, self.note(state))).collect();
        noted.sort_by_key(|(state, note)| (!note.active, !state.connected, state.status != STATUS_PLAYING));
        noted.into_iter().map(|(state, note)| self.eboard(state, note, now)).collect()
    }

    fn eboard(&self, state: &BoardState, note: BoardNote, now: Now) -> Eboard {
        let word = match (note.active, state.connected) {
            (false, _) => "INACTIVE",
            (true, true) => "ACTIVE",
            (true, false) => "NOTRESPONDING",
        };
        Eboard {
            serialnr: serial(state),
            source: note.devices.into_iter().next().map(|(_, device)| device).filter(|_| state.connected),
            state: Some(word),
            battery: self.battery(&state.id),
            comment: note.comment,
            board: note.active.then(|| state.board.clone()),
            flipped: false,
            clock: now.clock(state.clock).filter(|_| note.active),
        }
    }

    /// The charge, where the board has told one.
    fn battery(&self, board: &str) -> Option<String> {
        let devices = self.hub.operator().devices();
        let percent = |about: &serde_json::Map<String, serde_json::Value>| {
            about.get("battery").and_then(|battery| battery.get("percent")?.as_u64())
        };
        let own = devices.iter().filter(|device| device.board == board);
        own.filter_map(|device| percent(&device.about)).next().map(|percent| format!("{percent}%"))
    }

    /// The devices that boards hang on.
    pub(super) fn sources(&self) -> Vec<Source> {
        let of = |state: &BoardState| -> Vec<Source> {
            let note = self.note(state);
            let source = |(kind, device)| Source {
                kind,
                device,
                name: note.comment.clone(),
                present: state.connected,
                active: note.active,
                status: None,
            };
            note.devices.into_iter().map(source).collect()
        };
        self.hub.boards().iter().flat_map(|state| of(state)).collect()
    }

    /// The board with this serial number, as its identifier; the error says what to do.
    pub(super) fn find(&self, wanted: &str) -> Result<String, String> {
        let unknown = || format!("unknown eboard {wanted:?}; call eboards for the list");
        let found =
            self.hub.boards().into_iter().find(|state| serial(state) == wanted).ok_or_else(unknown)?;
        if self.note(&found).active {
            Ok(found.id.clone())
        } else {
            Err(format!("eboard {wanted:?} is switched off by the operator ([board.livechess] active)"))
        }
    }
}
