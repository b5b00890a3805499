//! The desk of the arbiter: his commands and the buttons go to the running boards, what the journal keeps for
//! him comes back. Over HTTP, with a token, beside the feeds and apart from them.
//!
//! ```text
//!  HTTP (token) ─► Line ─► board thread ─► journal, session, journal
//!       ▲                                        │
//!       └───── answer, once it is recorded ──────┘  ForArbiter, ArbiterView, ForAssistant
//! ```
//!
//! A [`Line`] leads to one board. The feeds know nothing of this room, and nothing in it reaches them.

mod http;
mod line;
mod problem;
mod records;
mod token;

pub use http::router;
pub use line::{Answer, Call, Line, Unheard, Wants};
pub use records::{Page, Records};
pub use token::{Keys, Role, Token, TokenError};
