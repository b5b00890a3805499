//! The laws of the tests, for the fuzzer.
#[path = "../../tests/laws/mod.rs"]
pub mod laws;
