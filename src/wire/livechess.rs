//! LiveChess messages.
