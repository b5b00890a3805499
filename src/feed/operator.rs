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
    /// `journal`, `source` or `wiring`.
    pub what: &'static str,
    /// What is wrong, in words.
    pub detail: String,
}

/// The part of the daemon that knows how it is doing.
pub trait Operator: Debug + Send + Sync {
    /// Everything that is wrong now.
    fn troubles(&self) -> Vec<Trouble>;
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

    pub(super) fn metrics(&self) -> String {
        self.0.get().map(|operator| operator.metrics()).unwrap_or_default()
    }
}
