//! What may leave the daemon: the facts of the session on one side, the audience on the other.
//!
//! Pure. A feed encodes [`FeedEvent`]s and [`BoardState`]s and never sees a fact, so that nothing
//! that is meant for the arbiter can reach it. Each board has one [`Publisher`]. What persons in charge
//! may know has types of its own, [`ForArbiter`], [`ArbiterView`] and [`ForAssistant`].
//!
//! A [`BoardState`] is the sum of the [`FeedEvent`]s since the start: [`BoardState::apply`] is the
//! only code that changes one, here and in the hub, and a viewer can do the same.

pub mod arbiter;
mod embargo;
mod part;
mod publisher;
pub mod release;
mod state;
pub mod tournament;

pub use crate::session::face::ClockFace;
pub use arbiter::{ArbiterView, ForArbiter, ForAssistant};
pub use publisher::Publisher;
pub(crate) use publisher::play;
pub(crate) use state::completed_plies;
pub use state::{
    BoardState, EarlierPart, FeedEvent, PlayerTags, PlyTimes, PublicClock, PublicPly, STATUS_ENDED,
    STATUS_IRREGULAR, STATUS_PAUSED, STATUS_PLAYING, STATUS_WAITING, Tags, completed_san,
};
