//! The time line of a game for an arbiter: recorded facts and inputs turned into rows. Pure.
//!
//! ```text
//!  Board (decoded events) ─┐
//!                          ├─► Timeline ─► Vec<Row> ─► Filter ─► page (80 columns) or JSON
//!  recorded facts ─────────┘
//! ```
//!
//! The words are those of an observer: a man was *lifted* and *put back*. Whether that was a touch
//! with the intention of moving is for the arbiter to say (Article 4).

mod advisory;
mod events;
mod facts;
pub mod filter;
mod law;
pub mod page;
pub mod row;
pub mod timeline;
pub mod words;

pub use facts::say;
pub use filter::Filter;
pub use row::{Kind, MoveNumbers, Row};
pub use timeline::Timeline;
