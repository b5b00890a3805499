//! DGT serial protocol.
