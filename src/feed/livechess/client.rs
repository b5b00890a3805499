//! The protocol of one LiveChess client: text frames in, text frames out. No socket in here.

use std::{collections::VecDeque, sync::Arc};

use serde_json::Value;

use super::{
    boards::Boards,
    follow::{Change, Follow, Now},
};
use crate::{
    feed::hub::Batch,
    publish::{BoardState, FeedEvent, release::Threshold},
    wire::livechess::{Call, EboardEvent, Id, Request, answer, error, feed},
};

/// Feeds that one client may hold.
const MAX_FEEDS: usize = 64;

/// A client and its feeds.
#[derive(Debug)]
pub struct Client {
    boards: Boards,
    /// From when on a move is in `san`.
    moves: Threshold,
    feeds: Vec<Feed>,
    out: VecDeque<String>,
}

#[derive(Debug)]
struct Feed {
    /// The identifier that the client chose.
    id: Id,
    /// The state up to which the client was told, and the version of the hub that it is of.
    state: Arc<BoardState>,
    version: u64,
    follow: Follow,
}

impl Client {
    /// A client before its first message.
    pub fn new(boards: impl Into<Boards>, moves: Threshold) -> Client {
        Client { boards: boards.into(), moves, feeds: Vec::new(), out: VecDeque::new() }
    }

    /// The next frame to send.
    pub fn poll_out(&mut self) -> Option<String> {
        self.out.pop_front()
    }

    /// Takes a text frame of the client. The answer comes before anything that follows from it.
    pub fn text(&mut self, text: &str, now: Now) {
        match Request::parse(text) {
            Ok(request) => {
                if let Err(reason) = self.call(&request.id, request.call, now) {
                    self.out.push_back(error(&request.id, &reason, now.millis()));
                }
            }
            Err(bad) => self.refuse(&bad.id, &bad.reason, now),
        }
    }

    /// Answers something that is no request.
    pub(super) fn refuse(&mut self, id: &Id, reason: &str, now: Now) {
        self.out.push_back(error(id, reason, now.millis()));
    }

    fn call(&mut self, id: &Id, call: Call, now: Now) -> Result<(), String> {
        match call {
            Call::Eboards => self.out.push_back(answer(id, self.boards.list(now), now.millis())),
            Call::Sources => self.out.push_back(answer(id, self.boards.sources(), now.millis())),
            Call::Subscribe { feed, serial } => {
                let event = self.subscribe(&feed, &serial, now)?;
                self.acknowledge(id, now);
                self.send(&feed, &event, now);
            }
            Call::Unsubscribe { feed } => {
                self.find(&feed)?;
                self.feeds.retain(|known| known.id != feed);
                self.acknowledge(id, now);
            }
            Call::Setup { feed, fen } => {
                let Feed { state, follow, .. } = self.find(&feed)?;
                let events = follow.setup(&fen, state)?;
                self.acknowledge(id, now);
                events.iter().for_each(|event| self.send(&feed, event, now));
            }
            Call::Flip { feed, flip } => {
                self.find(&feed)?.follow.flip(flip);
                self.acknowledge(id, now);
            }
        }
        Ok(())
    }

    /// A feed starts; one with the same identifier starts again.
    fn subscribe(&mut self, id: &Id, wanted: &str, now: Now) -> Result<EboardEvent, String> {
        let board = self.boards.find(wanted)?;
        let current = self.boards.hub().current(&board);
        let (state, version) = current.ok_or_else(|| format!("eboard {wanted:?} is gone"))?;
        self.feeds.retain(|known| known.id != *id);
        if self.feeds.len() >= MAX_FEEDS {
            return Err(format!("too many feeds on one connection; the limit is {MAX_FEEDS}"));
        }
        let (follow, event) = Follow::new(&state, self.moves, now);
        self.feeds.push(Feed { id: id.clone(), state, version, follow });
        Ok(event)
    }

    fn find(&mut self, id: &Id) -> Result<&mut Feed, String> {
        self.feeds.iter_mut().find(|feed| feed.id == *id).ok_or_else(|| format!("unknown feed {id}"))
    }

    fn acknowledge(&mut self, id: &Id, now: Now) {
        self.out.push_back(answer(id, Value::Null, now.millis()));
    }

    fn send(&mut self, id: &Id, event: &EboardEvent, now: Now) {
        self.out.push_back(feed(id, event, now.millis()));
    }

    /// Takes what happened on a board.
    pub(super) fn batch(&mut self, batch: &Batch, now: Now) {
        for known in &mut self.feeds {
            if *known.state.id != *batch.board || batch.version <= known.version {
                continue;
            }
            let event = if batch.reset {
                Some(known.follow.restart(&batch.state, now))
            } else {
                known.follow.update(&batch.state, change(&known.state, batch), now)
            };
            known.state = Arc::clone(&batch.state);
            known.version = batch.version;
            if let Some(event) = event {
                self.out.push_back(feed(&known.id, &event, now.millis()));
            }
        }
    }
}

/// What a batch changes. A player takes back no more than the last ply, and only before it is
/// completed; when more goes, the arbiter restored an earlier position.
fn change(before: &BoardState, batch: &Batch) -> Change {
    let restored = batch.events().any(|event| match event {
        FeedEvent::Undo { n, .. } => *n > 1 || before.plies.iter().rev().take(*n).any(|ply| ply.completed),
        _ => false,
    });
    if batch.events().any(|event| matches!(event, FeedEvent::Setup { .. })) {
        Change::SetUp
    } else if restored {
        Change::Restored
    } else if batch.events().any(FeedEvent::changes_score) {
        Change::Score
    } else {
        Change::Physical
    }
}
