//! The settings whose value is a word.

/// A setting whose value is one of a few words.
pub trait Word: Copy + Eq + 'static {
    /// Every value.
    const ALL: &'static [Self];
    /// The words of all values, in the same order.
    const WORDS: &'static [&'static str];

    /// The word of the configuration and of the sensor log.
    fn as_str(self) -> &'static str;

    /// Reads the word of the configuration and of the sensor log.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.as_str() == text)
    }
}

/// Declares enums and gives each value its word.
macro_rules! words {
    ($(
        $(#[$outer:meta])*
        $name:ident { $( $(#[$inner:meta])* $value:ident = $word:literal, )+ }
    )+) => {$(
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$inner])* $value, )+ }

        impl $name {
            /// The word of the configuration and of the sensor log.
            pub const fn as_str(self) -> &'static str {
                match self { $( $name::$value => $word, )+ }
            }

            /// Reads the word of the configuration and of the sensor log.
            pub fn parse(text: &str) -> Option<$name> {
                <$name as Word>::parse(text)
            }
        }

        impl Word for $name {
            const ALL: &'static [$name] = &[$( $name::$value, )+];
            const WORDS: &'static [&'static str] = &[$( $word, )+];

            fn as_str(self) -> &'static str {
                $name::as_str(self)
            }
        }
    )+};
}

words! {
    /// The edition of the Laws.
    Rules {
        /// Laws of Chess, edition in force from July 2005.
        Fide2005 = "fide-2005",
        /// Laws of Chess, edition in force from January 2023.
        Fide2023 = "fide-2023",
        /// Edition of 2023 with the Ukrainian adjournment and quickplay rules.
        Ua = "ua",
    }

    /// What a time control makes of a game (Appendices A and B; 2005: Annexes B and C).
    Discipline {
        /// Standard play.
        Standard = "standard",
        /// Rapid chess.
        Rapid = "rapid",
        /// Blitz.
        Blitz = "blitz",
    }

    /// The regime of a rapid or blitz game (Articles A.4, A.5, B.2, B.3). Standard games have one
    /// regime only; the edition of 2005 knows no difference.
    Supervision {
        /// One arbiter for at most three rapid games or one blitz game, and every game is recorded:
        /// the Laws of standard play hold (A.4, B.2).
        Full = "full",
        /// Anything less (A.5, B.3).
        Basic = "basic",
    }

    /// Which violations can no longer be claimed once the claimant touched a piece (Article 4.8;
    /// 2005: 4.7).
    ForfeitScope {
        /// Touched pieces and castling.
        TouchedPieces = "4.3-4.4",
        /// The whole act of moving.
        ActOfMoving = "4.1-4.7",
    }

    /// What a touch is taken for (Article 4.2.2; 2005: 4.3).
    IntentDefault {
        /// Deliberate, as a presumption of the program.
        PresumedDeliberate = "presumed-deliberate",
        /// Made with intent, by the Laws, unless it is clearly accidental.
        UnlessAccidental = "unless-accidental",
    }

    /// Who learns of something at once. No word of this program goes to a player.
    Alert {
        /// The arbiter.
        Arbiter = "arbiter",
        /// Nobody: the arbiter may act on a claim only.
        Journal = "journal",
    }

    /// What touching a rook before the king forbids (Article 4.4.2; 2005: 4.4b).
    RookFirstBan {
        /// Castling with that rook on that move.
        ThatSide = "that-side",
        /// Castling on that move.
        All = "all",
    }

    /// What ends the right to claim a draw for the position on the board (Article 9.4).
    ClaimLostOn {
        /// A move.
        Move = "move",
        /// Touching a piece.
        Touch = "touch",
    }

    /// What an incorrect draw claim costs the claimant (Article 9.5.3; 2005: 9.5b).
    ClaimantPenalty {
        /// Nothing.
        None = "none",
        /// Half of the remaining time, at most three minutes and not to less than one minute.
        Halving = "halving",
    }

    /// A press without a move (Article 7.5.3; 2005: 6.8c).
    PressWithoutMove {
        /// Improper handling of the clock (2005: Article 13.4).
        ClockMisuse = "clock-misuse",
        /// Penalised like an illegal move.
        Counts = "counts",
    }

    /// A move made with two hands (Article 7.5.4; 2005: 4.1).
    TwoHands {
        /// The arbiter's discretion (2005: Article 13.4).
        Discretion = "discretion",
        /// Penalised like an illegal move when the clock was pressed.
        Counts = "counts",
    }

    /// A pawn left on the last rank by a press (Article 7.5.2; 2005: 7.4a).
    Unpromoted {
        /// The position is restored; the pawn is the touched piece.
        Restore = "restore",
        /// The pawn becomes a queen, with the penalty of an illegal move.
        Queen = "queen",
    }

    /// When an illegal move can no longer be corrected (Article A.5.2; 2005: B.6, C.3).
    IllegalFinality {
        /// At any time before the end of the game (Article 7.5).
        Never = "never",
        /// The opponent must claim before he moves himself; the arbiter does not act on his own.
        ClaimBeforeOwnMove = "claim-before-own-move",
        /// The arbiter observes it, or the opponent claims it, before the opponent's next move.
        ObservedOrClaimed = "observed-or-claimed",
    }

    /// Both kings in check, or a pawn on the last rank, after a move that stands (Article A.5.4;
    /// 2005: B.6).
    IllegalPosition {
        /// An illegal move is corrected at any time; no rule of its own.
        Correct = "correct",
        /// The arbiter intervenes.
        Intervene = "intervene",
        /// The arbiter waits for the next completed move; still illegal, the game is drawn.
        DrawAfterNextMove = "draw-after-next-move",
    }

    /// Both flags of a rapid or blitz game have fallen (2005: Article B.9).
    BothFlags {
        /// The game is drawn.
        Draw = "draw",
        /// The flag that fell first decides.
        ByOrder = "by-order",
    }

    /// Both flags have fallen in the last period and nobody knows which was first (2005: Article
    /// 6.12; Guideline III.3.1).
    BothUnknown {
        /// The game is drawn.
        Draw = "draw",
        /// The game continues.
        Continue = "continue",
        /// The Laws do not say: the arbiter decides.
        Arbiter = "arbiter",
    }

    /// The game began with the colours reversed (Article 7.3; 2005: 7.2).
    ColoursReversed {
        /// It goes on unless the arbiter rules otherwise.
        Continue = "continue",
        /// A new game with fewer than ten moves by both, otherwise it goes on.
        RestartBefore10 = "restart-before-10",
    }

    /// How it is found out that no sequence of legal moves gives mate (Article 5.2.2; 2005: 5.2b).
    DeadCheck {
        /// From the material alone.
        Material = "material",
        /// From the material, then by a search.
        Search = "search",
    }

    /// The language of the calls at a blind player's board (Appendix D.2.1; 2005: Annex F).
    PegSpeech {
        /// The words of the Laws.
        German = "de",
        /// Plain English.
        English = "en",
        /// Romanian.
        Romanian = "ro",
        /// Ukrainian.
        Ukrainian = "uk",
    }

    /// How an announcement is known (Article D.2.3; 2005: F.2.3).
    PegAnnounce {
        /// A button.
        Button = "button",
        /// The assistant enters it.
        Assistant = "assistant",
        /// It is assumed when the clock is pressed.
        AssumeOnPress = "assume-on-press",
    }

    /// Which half of a clock at a DGT board is White's while the connector is at his left hand (Article 6.5;
    /// 2005: 6.4).
    WhiteSide {
        /// The left one, as the board has it.
        Left = "left",
        /// The right one: the clock stands the other way round.
        Right = "right",
    }

    /// Where the time comes from.
    ClockKind {
        /// The clock at the board, as far as it is heard.
        External = "external",
        /// This program is the clock; presses drive it.
        Own = "own",
        /// There is none: presses at most, and think times.
        None = "none",
    }

    /// The kind of additional time for each move.
    ClockMode {
        /// As the time control is written: `+` an increment, `d` a delay.
        Auto = "auto",
        /// No additional time.
        None = "none",
        /// Added for each move (increment, cumulative).
        Fischer = "fischer",
        /// The main time waits.
        Delay = "delay",
        /// Added after the move, at most what the move took.
        Bronstein = "bronstein",
    }

    /// The quickplay finish (Guideline III; 2005: Article 10 and Annex D).
    Quickplay {
        /// Not announced: no claim.
        Off = "off",
        /// Draw claims with less than two minutes left.
        On = "on",
        /// The player may ask for five seconds a move instead, as an increment (III.4).
        FiveSecond = "five-second",
        /// As before, as a delay (Ukrainian text).
        FiveSecondDelay = "five-second-delay",
        /// No arbiter is present: the claim ends the game (III.6; 2005: Annex D).
        NoArbiter = "no-arbiter",
    }

    /// The rules for adjourned games.
    AdjournmentRules {
        /// Games are not adjourned.
        None = "none",
        /// Annex A of 2005.
        AnnexA = "annex-a",
        /// Guideline I of 2023.
        GuidelineI = "guideline-1",
        /// The Ukrainian rules.
        Ukrainian = "ua",
    }

    /// Who may adjourn before the end of the session (Guideline I.1.2; 2005: A.1b).
    EarlyAdjournment {
        /// The player having the move.
        PlayerToMove = "player-to-move",
        /// The player having the move, once both have made the moves of the control (Ukrainian text).
        AfterControl = "after-control",
    }

    /// Whose time runs when both players are absent at the resumption (Guideline I.11).
    AbsentBoth {
        /// That of the player who must reply to the sealed move.
        Replier = "replier",
        /// That of the player who sealed (Ukrainian text).
        Sealer = "sealer",
        /// The Laws do not say (2005): the arbiter decides.
        Arbiter = "arbiter",
    }

    /// The language of the piece letters (Appendix C; 2005: Annex E).
    Language {
        /// English.
        English = "en",
        /// Romanian.
        Romanian = "ro",
        /// Russian.
        Russian = "ru",
        /// Ukrainian.
        Ukrainian = "uk",
        /// German.
        German = "de",
        /// French.
        French = "fr",
        /// Dutch.
        Dutch = "nl",
        /// Dutch, with the letters of a table that repeats the Hungarian ones.
        DutchSeed = "nl-seed",
        /// Spanish.
        Spanish = "es",
        /// Hungarian.
        Hungarian = "hu",
        /// Figurines.
        Figurine = "fig",
    }
}

#[expect(clippy::derivable_impls, reason = "the enums are declared by a macro")]
impl Default for Rules {
    fn default() -> Rules {
        Rules::Fide2023
    }
}

impl Default for Supervision {
    /// The Laws make the full regime depend on conditions (Articles A.4, B.2).
    fn default() -> Supervision {
        Supervision::Basic
    }
}

/// The discipline as it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisciplineSetting {
    /// Follows from the time control.
    Auto,
    /// As the event was announced.
    Fixed(Discipline),
}

impl DisciplineSetting {
    /// Every value.
    pub const ALL: [DisciplineSetting; 4] = [
        DisciplineSetting::Fixed(Discipline::Standard),
        DisciplineSetting::Fixed(Discipline::Rapid),
        DisciplineSetting::Fixed(Discipline::Blitz),
        DisciplineSetting::Auto,
    ];

    /// The word of the configuration and of the sensor log.
    pub const fn as_str(self) -> &'static str {
        match self {
            DisciplineSetting::Auto => "auto",
            DisciplineSetting::Fixed(discipline) => discipline.as_str(),
        }
    }

    /// Reads the word of the configuration and of the sensor log.
    pub fn parse(text: &str) -> Option<DisciplineSetting> {
        DisciplineSetting::ALL.into_iter().find(|setting| setting.as_str() == text)
    }
}

impl Default for DisciplineSetting {
    fn default() -> DisciplineSetting {
        DisciplineSetting::Fixed(Discipline::Standard)
    }
}
