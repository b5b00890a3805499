//! What an output may show, and when: its threshold, its delay, and the record of what has left.
//!
//! Pure: the times come in. Each output has a [`Policy`]; a [`Lane`] holds one board back for it.

mod delay;
mod lane;
mod origin;
mod score;
mod threshold;

pub use delay::{Moment, ROOM, Step, Waiting};
pub use lane::{Lane, Left, Past, begins};
pub use origin::{Origin, Shown};
pub use score::Score;
pub use threshold::Completed;

/// From when on a move counts for an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Threshold {
    /// As soon as it is published: made, and sure.
    #[default]
    Made,
    /// When it is completed (Article 6.2.1). Where nothing tells presses, published moves count.
    Completed,
}

impl Threshold {
    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Threshold::Made => "made",
            Threshold::Completed => "completed",
        }
    }
}

/// How far an output stays behind. Both have to have passed; neither is a delay of 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delay {
    /// Microseconds.
    pub us: u64,
    /// Half-moves that are played after what is shown. When the game is over no more are waited for.
    pub plies: u64,
}

impl Delay {
    /// True where nothing is held back.
    pub const fn is_none(self) -> bool {
        self.us == 0 && self.plies == 0
    }
}

/// What holds for one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Policy {
    /// From when on a move counts.
    pub threshold: Threshold,
    /// How far it stays behind.
    pub delay: Delay,
}
