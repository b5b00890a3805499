//! The numbers of the Laws: pure functions, times in milliseconds.
//!
//! What the editions say differently comes in with the settings. Nothing here decides a game: the
//! results are what the arbiter is told, and a clock is set by the arbiter alone. A remaining time
//! never goes below zero.

pub mod adjournment;
pub mod claim;
pub mod clock;
pub mod default_time;
pub mod flags;
pub mod illegal;
pub mod periods;
pub mod quickplay;
pub mod recording;

#[cfg(test)]
mod tests;
