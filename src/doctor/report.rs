//! What a self-test found: one verdict a check, as lines for a person and as one object for a program.

use std::fmt::Write as _;

use serde::Serialize;

/// Version of the JSON object; raised when a key changes its meaning or goes.
pub const FORMAT: u32 = 1;

/// How a check ended, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is as it should be.
    Ok,
    /// It could not be looked at, or there is nothing to look at; `what` says why. Nothing is claimed.
    NotRun,
    /// A game can be played, and a person should know of it.
    Warning,
    /// Something would be lost or wrong in a game.
    Failed,
}

impl Verdict {
    /// The word of the lines and of the JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::NotRun => "not-run",
            Verdict::Warning => "warning",
            Verdict::Failed => "failed",
        }
    }
}

/// What is looked at. The names are those of the JSON and stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// The configuration file.
    Configuration,
    /// A daemon that runs on this data directory.
    Daemon,
    /// The folder of the journals.
    Journals,
    /// The folder of the PGN files.
    Pgn,
    /// Free space and the time that a write takes.
    Disk,
    /// The files with the tokens.
    Tokens,
    /// The address of the web page.
    Http,
    /// The address of the LiveChess API.
    Livechess,
    /// Whether the time of the system is right.
    Time,
    /// Temperature of the processor.
    Temperature,
    /// Under-voltage and throttling.
    Power,
    /// The device of the board: there, ours, free, answering.
    Device,
    /// What the self-test of a matrix found.
    Wiring,
    /// Battery of the board and of the clock.
    Battery,
    /// Which squares are occupied.
    Squares,
    /// Contacts that change faster than a hand.
    Chatter,
    /// Bounce of the contacts, and the debounce times that it asks for.
    Bounce,
    /// How often the contacts are read.
    Scan,
    /// The chess clock.
    Clock,
}

impl Topic {
    /// Every topic, in the order of the report.
    pub const ALL: [Topic; 19] = [
        Topic::Configuration,
        Topic::Daemon,
        Topic::Journals,
        Topic::Pgn,
        Topic::Disk,
        Topic::Tokens,
        Topic::Http,
        Topic::Livechess,
        Topic::Time,
        Topic::Temperature,
        Topic::Power,
        Topic::Device,
        Topic::Wiring,
        Topic::Battery,
        Topic::Squares,
        Topic::Chatter,
        Topic::Bounce,
        Topic::Scan,
        Topic::Clock,
    ];

    /// The word of the lines and of the JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Topic::Configuration => "configuration",
            Topic::Daemon => "daemon",
            Topic::Journals => "journals",
            Topic::Pgn => "pgn",
            Topic::Disk => "disk",
            Topic::Tokens => "tokens",
            Topic::Http => "http",
            Topic::Livechess => "livechess",
            Topic::Time => "time",
            Topic::Temperature => "temperature",
            Topic::Power => "power",
            Topic::Device => "device",
            Topic::Wiring => "wiring",
            Topic::Battery => "battery",
            Topic::Squares => "squares",
            Topic::Chatter => "chatter",
            Topic::Bounce => "bounce",
            Topic::Scan => "scan",
            Topic::Clock => "clock",
        }
    }
}

/// One check and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub check: Topic,
    /// The board that it belongs to; `None` for the machine.
    pub board: Option<String>,
    /// How it ended.
    pub verdict: Verdict,
    /// Where: a file, a device, an address; `None` where the check says it all.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// What was found.
    pub what: String,
    /// What to do; `None` where there is nothing to do.
    pub remedy: Option<String>,
    /// The command that does it, or that shows more.
    pub command: Option<String>,
}

impl Check {
    /// A check that ended like this.
    pub fn new(check: Topic, verdict: Verdict, what: impl Into<String>) -> Check {
        Check { check, board: None, verdict, place: None, what: what.into(), remedy: None, command: None }
    }

    /// It is as it should be.
    pub fn ok(check: Topic, what: impl Into<String>) -> Check {
        Check::new(check, Verdict::Ok, what)
    }

    /// It could not be looked at; `why` says why.
    pub fn not_run(check: Topic, why: impl Into<String>) -> Check {
        Check::new(check, Verdict::NotRun, why)
    }

    /// A person should know.
    pub fn warning(check: Topic, what: impl Into<String>) -> Check {
        Check::new(check, Verdict::Warning, what)
    }

    /// Something would be lost or wrong in a game.
    pub fn failed(check: Topic, what: impl Into<String>) -> Check {
        Check::new(check, Verdict::Failed, what)
    }

    /// The same check of a board.
    #[must_use]
    pub fn of(mut self, board: &str) -> Check {
        self.board = Some(board.to_owned());
        self
    }

    /// The same check of one board of several: what the doctor is asked for next is about this board.
    #[must_use]
    pub fn of_one(self, board: &str) -> Check {
        let mut check = self.of(board);
        if let Some(command) =
            check.command.as_mut().filter(|command| command.starts_with("touchmoved doctor"))
        {
            let _ = write!(command, " --board {board}");
        }
        check
    }

    /// The same check with its place.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Check {
        self.place = Some(place.into());
        self
    }

    /// The same check with what to do.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Check {
        self.remedy = Some(remedy.into());
        self
    }

    /// The same check with the command that does it.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Check {
        self.command = Some(command.into());
        self
    }

    /// The one line of the check.
    pub fn line(&self) -> String {
        self.line_of(self.check.as_str())
    }

    /// The line with this name of the check.
    fn line_of(&self, name: &str) -> String {
        let mut line = format!("{:<8} ", self.verdict.as_str());
        if let Some(board) = &self.board {
            let _ = write!(line, "board {board}, ");
        }
        let _ = write!(line, "{name}: ");
        if let Some(place) = &self.place {
            let _ = write!(line, "{place}: ");
        }
        line.push_str(&self.what);
        if let Some(remedy) = &self.remedy {
            let _ = write!(line, "; {remedy}");
        }
        if let Some(command) = &self.command {
            let _ = write!(line, ": `{command}`");
        }
        // A message of the system may have several lines.
        line.replace(['\n', '\r'], " ")
    }
}

/// What is known of one board, in figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BoardFigures {
    /// Identifier of the board.
    pub board: String,
    /// Name of its sensor's table in the configuration.
    pub sensor: String,
    /// What the device told of itself: version, serial number, trademark, battery.
    pub identity: serde_json::Map<String, serde_json::Value>,
    /// Milliseconds that the board was listened to, on the time line of its source.
    pub listened_ms: u64,
    /// What the squares read, as 16 hex digits (a1 = bit 0); `None` when nothing was read.
    pub occupied: Option<String>,
    /// The men of an identity board, as the first field of a FEN.
    pub pieces: Option<String>,
    /// Squares that read empty and should not.
    pub missing: Vec<String>,
    /// Squares that read occupied and should not.
    pub extra: Vec<String>,
    /// Squares that change faster than a hand.
    pub chattering: Vec<String>,
    /// Edges of contacts, or changes of squares where the board debounces.
    pub edges: u64,
    /// Bounce of the closing contacts; `None` where the board debounces by itself.
    pub closing: Option<BounceFigures>,
    /// Bounce of the opening contacts.
    pub opening: Option<BounceFigures>,
    /// Scans a second, times ten; `None` where the source does not tell.
    pub scans_per_10_s: Option<u64>,
    /// Scans that began late.
    pub overruns: Option<u64>,
    /// The latest of them, in microseconds.
    pub worst_overrun_us: Option<u64>,
    /// Time left for White in milliseconds, where a clock was heard.
    pub white_ms: Option<u64>,
    /// Time left for Black in milliseconds.
    pub black_ms: Option<u64>,
    /// `white`, `black`, or `None` while both stand.
    pub running: Option<&'static str>,
}

/// Bounce in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BounceFigures {
    /// Changes that were seen.
    pub changes: u64,
    /// Changes without a bounce, and then by the longest false stretch of the change: shorter than 1, 2,
    /// 5, 10, 20 and 50 ms.
    pub histogram: Vec<u64>,
    /// The longest false stretch, in microseconds.
    pub longest_us: u64,
    /// The square that had it.
    pub worst: Option<String>,
    /// Milliseconds that are configured.
    pub configured_ms: u64,
    /// Milliseconds that the changes ask for; `None` while they are too few.
    pub suggested_ms: Option<u64>,
}

/// A whole self-test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub doctor: u32,
    /// Version of the program.
    pub program: String,
    /// Name of the machine.
    pub host: String,
    /// The configuration that was tested.
    pub config: String,
    /// The worst verdict; what was not run does not count.
    pub verdict: Verdict,
    /// The checks, those of the machine first.
    pub checks: Vec<Check>,
    /// Figures of the boards.
    pub boards: Vec<BoardFigures>,
}

impl Report {
    /// A report of these checks.
    pub fn new(
        program: &str,
        host: &str,
        config: &str,
        checks: Vec<Check>,
        boards: Vec<BoardFigures>,
    ) -> Report {
        let verdict = checks
            .iter()
            .map(|check| check.verdict)
            .filter(|verdict| *verdict != Verdict::NotRun)
            .max()
            .unwrap_or(Verdict::Ok);
        Report {
            doctor: FORMAT,
            program: program.to_owned(),
            host: host.to_owned(),
            config: config.to_owned(),
            verdict,
            checks,
            boards,
        }
    }

    /// The exit status: 0 all is well, 1 with a warning, 2 when something failed.
    pub const fn exit_code(&self) -> u8 {
        match self.verdict {
            Verdict::Ok | Verdict::NotRun => 0,
            Verdict::Warning => 1,
            Verdict::Failed => 2,
        }
    }

    /// The report in lines, one a check, and a last one that sums them up. Checks of a board that were not run
    /// for one and the same reason share a line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let same = |one: &Check, next: &Check| {
            one.verdict == Verdict::NotRun
                && next.verdict == Verdict::NotRun
                && (&one.board, &one.place, &one.what) == (&next.board, &next.place, &next.what)
        };
        for checks in self.checks.chunk_by(same) {
            let topics: Vec<&str> = checks.iter().map(|check| check.check.as_str()).collect();
            if let Some(first) = checks.first() {
                text.push_str(&first.line_of(&topics.join(", ")));
                text.push('\n');
            }
        }
        text.push_str(&self.summary());
        text.push('\n');
        text
    }

    fn summary(&self) -> String {
        let count = |verdict: Verdict| self.checks.iter().filter(|check| check.verdict == verdict).count();
        let mut parts = Vec::new();
        for verdict in [Verdict::Failed, Verdict::Warning, Verdict::NotRun, Verdict::Ok] {
            let number = count(verdict);
            if number > 0 || verdict == Verdict::Ok {
                let plural = if verdict == Verdict::Warning && number != 1 { "s" } else { "" };
                parts.push(format!("{number} {}{plural}", verdict.as_str()));
            }
        }
        let word = match self.verdict {
            Verdict::Ok | Verdict::NotRun => "ready",
            Verdict::Warning => "ready, with warnings",
            Verdict::Failed => "not ready",
        };
        format!("{word}: {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(verdicts: &[Verdict]) -> Report {
        let checks = verdicts.iter().map(|verdict| Check::new(Topic::Disk, *verdict, "x")).collect();
        Report::new("0.1.0", "hall-7", "a.toml", checks, Vec::new())
    }

    #[test]
    fn the_worst_verdict_counts_and_what_was_not_run_does_not() {
        use Verdict::{Failed, NotRun, Ok, Warning};
        for (verdicts, code, last) in [
            (&[Ok, NotRun][..], 0, "ready: 1 not-run, 1 ok"),
            (&[Ok, Warning, NotRun], 1, "ready, with warnings: 1 warning, 1 not-run, 1 ok"),
            (&[Failed, Warning, Ok, Ok], 2, "not ready: 1 failed, 1 warning, 2 ok"),
            (&[NotRun], 0, "ready: 1 not-run, 0 ok"),
        ] {
            let report = report(verdicts);
            assert_eq!(report.exit_code(), code);
            assert_eq!(report.text().lines().last(), Some(last));
        }
    }

    #[test]
    fn a_check_is_one_line() {
        let check = Check::failed(Topic::Device, "no such device\nat all")
            .of("7")
            .at("/dev/ttyUSB0")
            .remedy("plug it in")
            .command("ls -l /dev/serial/by-id");
        assert_eq!(
            check.line(),
            "failed   board 7, device: /dev/ttyUSB0: no such device at all; plug it in: `ls -l /dev/serial/by-id`"
        );
    }

    #[test]
    fn what_was_not_run_for_one_reason_shares_a_line() {
        let not_run = |topic, board| Check::not_run(topic, "see device").of(board);
        let checks = vec![
            not_run(Topic::Squares, "1"),
            not_run(Topic::Bounce, "1"),
            not_run(Topic::Squares, "2"),
            Check::ok(Topic::Clock, "see device").of("2"),
        ];
        let text = Report::new("0.1.0", "hall-7", "a.toml", checks, Vec::new()).text();
        assert_eq!(
            text,
            "not-run  board 1, squares, bounce: see device\nnot-run  board 2, squares: see device\n\
             ok       board 2, clock: see device\nready: 3 not-run, 1 ok\n"
        );
    }

    #[test]
    fn topics_and_verdicts_have_one_name() {
        for topic in Topic::ALL {
            assert_eq!(serde_json::to_value(topic).unwrap(), topic.as_str());
        }
        for verdict in [Verdict::Ok, Verdict::NotRun, Verdict::Warning, Verdict::Failed] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.as_str());
        }
    }
}
