//! The feeds over real sockets on the loopback interface.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod feeds {
    pub mod cloud;
    pub mod http;
    pub mod livechess;
    pub mod livechess_sessions;
    #[cfg(feature = "tls")]
    pub mod livechess_tls;
    pub mod pgn_files;
    pub mod stream;
    pub mod table;
}
