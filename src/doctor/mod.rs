//! The self-test of a board's machine: what is checked, what a finding means, and what to do about it.
//!
//! Pure: the facts come in as arguments (what a board told, what the system said), the verdicts go out. The
//! reading is in `cli/doctor`.

pub mod board;
pub mod bounce;
pub mod daemon;
pub mod figures;
pub mod folders;
pub mod host;
pub mod live;
pub mod map;
pub mod report;
pub mod shape;
pub mod squares;
pub mod walk;
pub mod watch;

pub use figures::BoardFigures;
pub use report::{Check, Report, Topic, Verdict};
