//! daemon
pub mod board_thread;
pub mod engine;
pub mod health;
pub mod lock;
pub mod log;
pub mod notify;
pub mod outbox;
pub mod resume;
pub mod segments;
pub mod writer;
