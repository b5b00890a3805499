//! Debouncing of contact edges (filled in with the tracker).
