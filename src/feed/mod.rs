//! From what may be public to the world: PGN files, HTTP, server-sent events, the LiveChess API, Lichess, DGT
//! boards.
//!
//! A feed sees `publish` types only. [`Hub`] is the one seam between the board threads and
//! everything here: they put events in, the feeds take states and events out, and no feed can hold
//! a board up.

mod assets;
mod clock_page;
pub mod clocks;
mod cloud;
mod conditional;
mod dgt;
mod files;
mod http;
pub mod hub;
pub mod lichess;
pub mod livechess;
pub mod metrics;
mod net;
pub mod operator;
pub mod outputs;
pub mod pgn;
mod pgn_files;
mod serve;
pub mod stream;
mod surface;
mod tls;

pub(crate) use assets::POLICY as PAGE_POLICY;
pub use cloud::CloudOptions;
pub use dgt::{DgtPort, Place};
pub use hub::Hub;
pub use outputs::{Output, Outputs};
pub use pgn::AfterSetUp;
pub use serve::{FeedConfig, FeedError, Feeds, GRACE, bind, serve};
pub use tls::{TlsError, TlsFiles};
