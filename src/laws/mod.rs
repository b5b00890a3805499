//! The Laws of Chess. Pure: nothing here knows journals or feeds, and settings and arithmetic know no
//! boards.
//!
//! * [`arithmetic`]: penalties, clocks, periods, duties.
//! * [`dead`]: who can still mate, and positions in which nobody can.
//! * [`settings`]: what the editions say differently, one table for each edition and discipline.
//! * [`time_control`]: the notation of time controls.

pub mod arithmetic;
pub mod articles;
pub mod dead;
pub mod settings;
pub mod time_control;
pub mod touch;
