//! What the daemon says on standard error: levels that journald understands, or lines for people.
//!
//! No time stamps: journald has its own, and a person who watches a terminal needs none.

use std::{fmt, io};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields, format::Writer},
    registry::LookupSpan,
};

/// Starts the log. A second call does nothing.
pub fn init(level: LevelFilter) {
    let style = if journald_reads_stderr() {
        Style::Journald
    } else if rustix::termios::isatty(io::stderr()) && std::env::var_os("NO_COLOR").is_none() {
        Style::Terminal
    } else {
        Style::Plain
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(io::stderr)
        .with_ansi(false)
        .event_format(Lines { style })
        .finish();
    // An error means that a log runs already, which happens in tests only.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// True when standard error is the stream that `JOURNAL_STREAM` names (systemd.exec(5)).
fn journald_reads_stderr() -> bool {
    let Some(stream) = std::env::var("JOURNAL_STREAM").ok() else { return false };
    let Ok(stat) = rustix::fs::fstat(io::stderr()) else { return false };
    stream == format!("{}:{}", stat.st_dev, stat.st_ino)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Journald,
    Terminal,
    Plain,
}

struct Lines {
    style: Style,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        writer.write_str(prefix(self.style, *event.metadata().level()))?;
        let mut fields = Fields::default();
        event.record(&mut fields);
        if fields.board.is_none() {
            fields.board = context.lookup_current().and_then(|span| {
                let extensions = span.extensions();
                let formatted = extensions.get::<FormattedFields<N>>()?;
                formatted.fields.strip_prefix("board=").map(str::to_owned)
            });
        }
        if let Some(board) = &fields.board {
            write!(writer, "board {board}: ")?;
        }
        // A message of two lines would lose its level on the second one.
        writeln!(writer, "{}{}", fields.message.replace('\n', " "), fields.rest.replace('\n', " "))
    }
}

fn prefix(style: Style, level: Level) -> &'static str {
    match (style, level) {
        (Style::Journald, Level::ERROR) => "<3>",
        (Style::Journald, Level::WARN) => "<4>",
        (Style::Journald, Level::INFO) => "<6>",
        (Style::Journald, _) => "<7>",
        (Style::Terminal, Level::ERROR) => "\x1b[31merror\x1b[0m ",
        (Style::Terminal, Level::WARN) => "\x1b[33mwarn\x1b[0m  ",
        (Style::Terminal, Level::INFO) => "\x1b[32minfo\x1b[0m  ",
        (Style::Terminal, _) => "\x1b[2mdebug\x1b[0m ",
        (Style::Plain, Level::ERROR) => "error ",
        (Style::Plain, Level::WARN) => "warn  ",
        (Style::Plain, Level::INFO) => "info  ",
        (Style::Plain, _) => "debug ",
    }
}

#[derive(Default)]
struct Fields {
    board: Option<String>,
    message: String,
    rest: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "board" => self.board = Some(value.to_owned()),
            "message" => value.clone_into(&mut self.message),
            name => self.add(name, format_args!("{value}")),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "board" => self.board = Some(format!("{value:?}")),
            "message" => self.message = format!("{value:?}"),
            name => self.add(name, format_args!("{value:?}")),
        }
    }
}

impl Fields {
    fn add(&mut self, name: &str, value: fmt::Arguments<'_>) {
        use fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(self.rest, " {name}={value}");
    }
}

/// The span of a board's threads: what they log carries its name.
pub fn board_span(id: &str) -> tracing::Span {
    tracing::error_span!("board", board = %id)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Captured {
        type Writer = Captured;

        fn make_writer(&'a self) -> Captured {
            self.clone()
        }
    }

    fn lines(style: Style, say: impl FnOnce()) -> String {
        let captured = Captured::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(LevelFilter::DEBUG)
            .with_writer(captured.clone())
            .with_ansi(false)
            .event_format(Lines { style })
            .finish();
        tracing::subscriber::with_default(subscriber, say);
        let bytes = captured.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn journald_gets_a_level_and_one_line() {
        let text = lines(Style::Journald, || {
            tracing::error!(board = %"a7", port = 3, "cannot open\nthe port");
            tracing::debug!("fine");
        });
        assert_eq!(text, "<3>board a7: cannot open the port port=3\n<7>fine\n");
    }

    #[test]
    fn the_span_names_the_board() {
        let text = lines(Style::Plain, || {
            let _entered = board_span("7").entered();
            tracing::warn!("no report from the board");
        });
        assert_eq!(text, "warn  board 7: no report from the board\n");
    }
}
