//! The Laws of Chess as data and arithmetic. Pure, and a leaf: nothing here knows boards, journals
//! or feeds.
//!
//! * [`settings`]: what the editions say differently, one table for each edition and discipline.
//! * [`time_control`]: the notation of time controls.

pub mod settings;
pub mod time_control;
