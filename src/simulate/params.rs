//! What the handling simulator can be told. `docs/simulation.md` explains every number;
//! [`Params::level`] gives those of the three levels.

pub use super::quantity::{Rate, Span};

/// How carefully the players handle the men.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Deliberate: no faults, every press delivered, at least 0.2 s between contacts.
    Clean,
    /// A tournament game with its usual share of mishaps.
    #[default]
    Tournament,
    /// A blitz scramble.
    Chaos,
}

impl Level {
    /// Every level.
    pub const ALL: [Level; 3] = [Level::Clean, Level::Tournament, Level::Chaos];

    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::Clean => "clean",
            Level::Tournament => "tournament",
            Level::Chaos => "chaos",
        }
    }

    /// Reads the word of the configuration.
    pub fn parse(text: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// A group of parameters of one kind: its fields, and each one by its name.
macro_rules! group {
    ($(#[$doc:meta])* $name:ident of $kind:ty { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $kind,)*
        }

        impl $name {
            /// The fields by their names.
            pub(super) fn fields(&mut self) -> Vec<(&'static str, &mut $kind)> {
                vec![$((stringify!($field), &mut self.$field)),*]
            }
        }
    };
}

group! {
    /// How long things take.
    Timing of Span {
        /// Before a move, where the game does not say how long the player thought.
        think,
        /// The same when it takes longer.
        long_think,
        /// Carrying a man to a neighbouring square.
        travel,
        /// More for every further square of the way.
        travel_per_square,
        /// Putting a captured man aside, going to another man.
        reach,
        /// Fetching a new man from the box.
        fetch,
        /// From the last contact of a move to the press.
        press,
        /// From a press to the same player's next one.
        press_again,
        /// A man that is lifted and put back on its square.
        adjust,
        /// The man that moved, put on the middle of its new square.
        recentre,
        /// A stop on a square that is not the target.
        hover,
        /// From the moment when the opponent's move can be recognised to a first touch before the press.
        early,
        /// From the opponent's press to the placing of a man that was touched early.
        held,
        /// From the victim's leaving to the attacker's arrival when a man is swept off its square.
        swap_gap,
        /// A contact that a passing man closes.
        passing,
        /// A contact that opens because its man is nudged.
        nudge,
        /// A contact that opens by itself.
        dropout,
        /// A contact that opens late.
        sticky,
        /// A contact that closes late: until the man is put on the middle of its square.
        off_centre,
        /// From a mistake on the board to the first step of putting it right.
        notice,
        /// From a press that came too early to the rest of the move.
        late_rest,
        /// Setting up one man that was knocked over.
        set_up_again,
    }
}

group! {
    /// How often something goes another way than planned. Rates are for every ply where nothing else
    /// is said.
    Mishaps of Rate {
        /// A man is slid and closes the contacts on its way (of movements over free squares of a line).
        slide,
        /// A man is set down on another free square on or beside its way for a while (of movements).
        hover,
        /// A carried man closes the contact of a free square beside its way (of movements).
        brush,
        /// A carried man nudges one beside its way, whose contact opens for a moment (of movements).
        nudge,
        /// An attacker sweeps its victim off the square (of captures).
        swept,
        /// The victim's leaving is not seen at all (of captures).
        unseen_victim,
        /// The player adjusts an own man before the move.
        adjust_own,
        /// The player adjusts a man of the opponent before the move.
        adjust_opponent,
        /// The player who is not on the move adjusts an own man.
        adjust_idle,
        /// One more man is adjusted (of adjustments before the move).
        adjust_more,
        /// The man that moved is adjusted on its new square.
        recentre,
        /// A contact opens for a moment by itself (while a player thinks, and again while one moves).
        dropout,
        /// A man is placed so far off the centre that its contact stays open until it is put right,
        /// perhaps plies later, or moved on (of placements).
        off_centre,
        /// A contact stays closed for a while after its man has left (of lifts).
        sticky,
        /// The player touches a man before the opponent has pressed.
        early_touch,
        /// The player also places the man before that press; otherwise he holds it until then (of early
        /// touches).
        early_reply,
        /// The player thinks for long.
        long_think,
        /// The player does not press.
        press_forgotten,
        /// The press is not reported, though the clock ran on.
        press_lost,
        /// The player presses a second time.
        press_stray,
        /// The player presses before the move is finished: the rook in castling, the pawn taken en
        /// passant, the exchange of a promoted pawn is still to come (of such moves).
        premature_press,
        /// There is no press after the move that ends the game.
        press_after_end_missing,
        /// A move is placed and taken back before the press.
        take_back,
        /// An illegal move is placed and corrected.
        illegal,
        /// The clock is pressed over such an illegal move (of illegal moves).
        illegal_pressed,
        /// The opponent presses the clock back; otherwise the arbiter stops it and starts it again
        /// (of pressed illegal moves).
        illegal_pressed_back,
        /// Men around the target are knocked over and set up again.
        knock,
        /// In Chess960 the man of a castling that stays where it is is lifted and put back all the
        /// same (of such castlings).
        castle_tap,
    }
}

group! {
    /// In which order the contacts of one move change: weights among each other.
    Orders of [u32; 3] {
        /// Captures: attacker first, victim first, both hands at once.
        capture,
        /// Castling: king first, rook first, both in the air.
        castling,
        /// En passant: pawn first, victim first, victim after the pawn is placed.
        en_passant,
        /// Promotion: pawn placed and exchanged, new man placed straight away, new man placed before
        /// the pawn leaves.
        promotion,
    }
}

/// What the contacts do when they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reed {
    /// Most extra pairs of edges after a change.
    pub bounces: u32,
    /// Shortest distance of two edges in microseconds, at least 1.
    pub bounce_low_us: u32,
    /// Longest distance of two edges in microseconds.
    pub bounce_high_us: u32,
}

/// The mistakes of a board that tells the men.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A man is read as another one when it comes to a square (of arrivals).
    pub misread: Rate,
    /// For how long.
    pub misread_time: Span,
    /// A man that is slid to a neighbouring square is read on both (of such steps).
    pub doubled: Rate,
    /// For how long after it has come.
    pub doubled_time: Span,
}

/// What the simulation puts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Contact edges with their bounce.
    Raw,
    /// Settled changes: a state that lasted for `settle_ms`, stamped when it had.
    Debounced,
    /// The men, as an identity board finds them in its scans.
    Identity,
}

impl Output {
    /// Every output.
    pub const ALL: [Output; 3] = [Output::Raw, Output::Debounced, Output::Identity];

    /// The word of the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Output::Raw => "raw",
            Output::Debounced => "debounced",
            Output::Identity => "identity",
        }
    }
}

/// What happens after the last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing: the clock goes on.
    Open,
    /// The clock is stopped.
    Stopped,
    /// The kings signal the result on the centre squares, then the clock is stopped.
    KingsToCentre,
    /// The clock is stopped and the result is entered.
    Entered,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Ending; 4] = [Ending::Open, Ending::Stopped, Ending::KingsToCentre, Ending::Entered];

    /// The word of the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Ending::Open => "open",
            Ending::Stopped => "stopped",
            Ending::KingsToCentre => "kings",
            Ending::Entered => "entered",
        }
    }
}

/// The clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReports {
    /// Milliseconds between two readings of the running clock, 0 for none.
    pub every_ms: u32,
    /// A reading at every press and stop.
    pub at_press: bool,
    /// The clock's start is reported (`run-white`).
    pub start: bool,
    /// How the clock is heard.
    pub kind: ClockKind,
    /// A clock that is heard through the board.
    pub polled: PolledClock,
}

impl ClockReports {
    /// A clock that reports nothing by itself.
    pub const SILENT: ClockReports = ClockReports {
        every_ms: 0,
        at_press: false,
        start: false,
        kind: ClockKind::Exact,
        polled: PolledClock::DGT,
    };
}

/// How a clock is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// It tells its times to the millisecond, at once.
    Exact,
    /// A DGT board asks it a few times a second for the seconds that it shows.
    Dgt,
}

impl ClockKind {
    /// Every kind.
    pub const ALL: [ClockKind; 2] = [ClockKind::Exact, ClockKind::Dgt];

    /// The word of the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            ClockKind::Exact => "exact",
            ClockKind::Dgt => "dgt",
        }
    }
}

/// A clock that a board asks for what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolledClock {
    /// From one question to the next.
    pub gap: Span,
    /// From the answer of the clock to its arrival; a message never overtakes another.
    pub lag: Span,
    /// Messages that do not arrive.
    pub lost: Rate,
    /// Messages that say something else.
    pub wrong: Rate,
    /// By how much the clock is too fast, in parts per million.
    pub rate_ppm: i32,
    /// It shows a second until it is used up; else the whole seconds that are left.
    pub rounds_up: bool,
    /// The lever has a wire of its own: presses are told at once, not with the message that shows them.
    pub wired: bool,
}

impl PolledClock {
    /// What is known of DGT clocks behind a board.
    pub const DGT: PolledClock = PolledClock {
        gap: Span::ms(333, 500),
        lag: Span::ms(0, 1000),
        lost: Rate::new(2_000),
        wrong: Rate::new(100),
        rate_ppm: 0,
        rounds_up: false,
        wired: false,
    };
}

/// Everything that the simulator can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// How long things take.
    pub timing: Timing,
    /// How often something goes wrong.
    pub mishaps: Mishaps,
    /// In which order contacts change.
    pub orders: Orders,
    /// What contacts do.
    pub reed: Reed,
    /// What a board that tells the men gets wrong.
    pub identity: Identity,
    /// What is put out.
    pub output: Output,
    /// Milliseconds that a state has to last to be put out.
    pub settle_ms: u32,
    /// Milliseconds between two scans of an identity board; 0 puts out every settled change.
    pub scan_ms: u32,
    /// True to begin with a full report of the board.
    pub initial_report: bool,
    /// The clock's readings.
    pub clock: ClockReports,
    /// What happens after the last move.
    pub ending: Ending,
}

impl Params {
    /// The same with settled changes in place of edges.
    pub const fn debounced(mut self) -> Params {
        self.output = Output::Debounced;
        self
    }

    /// The same with the men of the squares in place of edges.
    pub const fn identity(mut self) -> Params {
        self.output = Output::Identity;
        self
    }
}
