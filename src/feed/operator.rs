//! What the daemon tells the operator through `/healthz` and `/metrics`, beside the counters of the
//! feeds. The feeds pass it on and look at nothing in it.

use std::{
    fmt::Debug,
    sync::{Arc, OnceLock},
};

use serde::Serialize;

/// Something that a person should see to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The board.
    pub board: String,
    /// Which of its two boards, `A` or `B`, where one game is played on two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// `journal`, `source` or `wiring`.
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

/// The place for an [`Operator`]: empty until the boards run.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk(Arc<OnceLock<Arc<dyn Operator>>>);

impl Desk {
    /// Takes the operator; a second one is not taken.
    pub(super) fn take(&self, operator: Arc<dyn Operator>) {
        let _ = self.0.set(operator);
    }

    pub(super) fn troubles(&self) -> Vec<Trouble> {
        self.0.get().map(|operator| operator.troubles()).unwrap_or_default()
    }

    pub(super) fn devices(&self) -> Vec<Device> {
        self.0.get().map(|operator| operator.devices()).unwrap_or_default()
    }

    pub(super) fn metrics(&self) -> String {
        self.0.get().map(|operator| operator.metrics()).unwrap_or_default()
    }
}
