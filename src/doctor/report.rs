//! What a self-test found: one verdict a check, as lines for a person and as one object for a program.

use std::fmt::Write as _;

use serde::Serialize;

use super::figures::BoardFigures;

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
    /// Whether the user of the service may open the device.
    Permissions,
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
    pub const ALL: [Topic; 20] = [
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
        Topic::Permissions,
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
            Topic::Permissions => "permissions",
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

    /// A failure in the words of a driver: `PLACE: what is wrong; what to do`, the command in backticks.
    pub fn told(check: Topic, place: &str, text: &str) -> Check {
        let text = text.strip_prefix(place).and_then(|text| text.strip_prefix(": ")).unwrap_or(text);
        let (what, remedy) = text.split_once("; ").map_or((text, None), |(what, todo)| (what, Some(todo)));
        let command = remedy.and_then(|remedy| remedy.split('`').nth(1));
        let mut check = Check::failed(check, what).at(place);
        (check.remedy, check.command) = (remedy.map(str::to_owned), command.map(str::to_owned));
        check
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
        let command = self.command.as_ref().map(|command| format!("`{command}`"));
        if let Some(command) = command
            && !self.remedy.as_ref().is_some_and(|remedy| remedy.contains(&command))
        {
            let _ = write!(line, ": {command}");
        }
        // A message of the system may have several lines.
        line.replace(['\n', '\r'], " ")
    }
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
mod tests;
