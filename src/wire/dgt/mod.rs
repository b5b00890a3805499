//! The serial protocol of the DGT boards: bytes to frames, frames to messages, messages to events
//! of the session, and back.
//!
//! ```text
//!  bytes ─► frame::Framer ─► message::Message ─► decoder::DgtDecoder ─► session::event::Event
//! ```
//!
//! Everything here is pure: the times come in as arguments.

pub mod clock;
pub mod command;
pub mod decoder;
pub mod emulate;
pub mod frame;
pub mod memory;
pub mod message;
pub mod set_clock;
pub mod storage;
mod times;

pub use command::Command;
pub use decoder::{DgtDecoder, Orientation};
pub use frame::{Framed, Framer};
pub use message::Message;
