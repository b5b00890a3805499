//! Bytes and text lines to types and back: pure, no I/O, no panics, no allocation from a length
//! field.

pub mod dgt;
pub mod livechess;
pub mod peg;
pub mod sensor_log;
pub mod stream;
