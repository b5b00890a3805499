//! What the daemon tells the operator through `/healthz` and `/metrics`, beside the counters of the
//! feeds. The feeds pass it on and look at nothing in it.

use std::{
    fmt::Debug,
    sync::{Arc, OnceLock},
};

use serde::Serialize;

use super::lichess::Status;

/// Something that a person should see to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The board; nothing where all boards are concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Which of its two boards, `A` or `B`, where one game is played on two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// `journal`, `source`, `wiring` or `lichess`.
    pub what: &'static str,
    /// What is wrong, in words.
    pub detail: String,
}

/// What a board tells of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// The board.
    pub board: String,
    /// Which of its two boards, `A` or `B`, where one game is played on two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// Serial numbers, versions, battery, ... by name.
    #[serde(flatten)]
    pub about: serde_json::Map<String, serde_json::Value>,
}

/// The part of the daemon that knows how it is doing.
pub trait Operator: Debug + Send + Sync {
    /// Everything that is wrong now.
    fn troubles(&self) -> Vec<Trouble>;
    /// The boards that have told something of themselves.
    fn devices(&self) -> Vec<Device>;
    /// Figures in the text form of Prometheus, one line each, with HELP and TYPE.
    fn metrics(&self) -> String;
}

/// The places for an [`Operator`], empty until the boards run, and for the state of the pushes to Lichess, empty
/// where there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk(Arc<Places>);

#[derive(Debug, Default)]
struct Places {
    operator: OnceLock<Arc<dyn Operator>>,
    lichess: OnceLock<Arc<Status>>,
}

impl Desk {
    /// Takes the operator; a second one is not taken.
    pub(super) fn take(&self, operator: Arc<dyn Operator>) {
        let _ = self.0.operator.set(operator);
    }

    /// Takes the state of the pushes; a second one is not taken.
    pub(super) fn take_lichess(&self, status: Arc<Status>) {
        let _ = self.0.lichess.set(status);
    }

    /// The state of the pushes to Lichess.
    pub(super) fn lichess(&self) -> Option<&Status> {
        self.0.lichess.get().map(AsRef::as_ref)
    }

    pub(super) fn troubles(&self) -> Vec<Trouble> {
        let mut troubles = self.0.operator.get().map(|operator| operator.troubles()).unwrap_or_default();
        troubles.extend(self.lichess().map(Status::troubles).unwrap_or_default());
        troubles
    }

    pub(super) fn devices(&self) -> Vec<Device> {
        self.0.operator.get().map(|operator| operator.devices()).unwrap_or_default()
    }

    pub(super) fn metrics(&self) -> String {
        let mut text = self.0.operator.get().map(|operator| operator.metrics()).unwrap_or_default();
        text.push_str(&self.lichess().map(Status::metrics).unwrap_or_default());
        text
    }
}
