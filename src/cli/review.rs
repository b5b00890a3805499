//! `touchmoved review`

use std::{
    io::{self, Write},
    ops::RangeInclusive,
    path::PathBuf,
    process::ExitCode,
};

use serde_json::json;
use shakmaty::Square;

use crate::{
    game::Board,
    journal::{
        record::{RecordedFact, rfc3339},
        replay::{self, ItemKind, Log, LogError},
    },
    review::{Filter, Kind, MoveNumbers, Row, Timeline, page, words},
    session::{setup::SetupError, time::MonoTime},
};

const HELP: &str = "\
Did he touch the knight?
  touchmoved review FILE --square g1             every lift from g1, and how it ended
  touchmoved review FILE --last 60               the last minute of the record
  touchmoved review FILE --move 12b              all that happened during Black's 12th move
  touchmoved review FILE --move 12 --kind touch  only the lifts of move 12
  touchmoved review FILE --from 1:05:00 --to 1:06:30

FILE is a journal, also one that the daemon is writing now, or a sensor log; `-` is standard input. The \
chain of a journal is checked on the way, and the facts are those that were recorded. From a sensor log the \
facts are computed, and there is no UTC.

Columns: UTC, game time since the record began, the move that was under way (12w, 12b), what happened. A \
move that was `made` was still open until it was `completed` (Articles 4.7 and 6.2.1). `made within 0.25 s` \
is how long the man took to settle: the move was made at some moment of it. `in White's turn` is said of a \
man of the other side: White took it, or Black answered before White's move was settled.

`lifted` means that the square read empty. It is no ruling: whether a touch was deliberate (Article 4.3), or \
announced as an adjustment (Article 4.2.1), no sensor knows. What this board can see and what it cannot is \
said at the head of the page. Nothing here is meant for the players.

Kinds: touch, adjust (a lift that was put back), obligation (what a touch binds to, and whether it was \
kept), made, completed, withdrawn, revised, press, illegal, ambiguous, claim (claims, offers and how long \
they are open), advisory, clock, link, button, arbiter, result, note; left out unless they are named: published, \
square (every reading of a square), device (readings of the clock, device status).

Exit status: 0 the whole file was read, 1 a record of the journal does not fit (what stands before it is \
shown), 2 the file cannot be read or an option does not fit it.";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(super) struct Args {
    /// Journal or sensor log, `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only the last seconds of the record (`90`, `1:30`)
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with_all = ["from", "to"])]
    last: Option<u64>,
    /// Only from this game time on: seconds, or h:mm:ss as the page shows it
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    from: Option<u64>,
    /// Only up to this game time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    to: Option<u64>,
    /// Only this half-move, counted from 1 at the start of the record
    #[arg(long, value_name = "N", conflicts_with = "number")]
    ply: Option<usize>,
    /// Only this move of the score sheet: `12w`, `12b` or `12`
    #[arg(long = "move", id = "number", value_name = "MOVE")]
    number: Option<String>,
    /// Only what concerns these squares (`g1`, `g1,f3`)
    #[arg(long = "square", value_name = "SQUARE", value_delimiter = ',', value_parser = parse_square)]
    squares: Vec<Square>,
    /// Only these kinds (`touch`, `press,illegal`)
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',', value_parser = parse_kind)]
    kinds: Vec<Kind>,
    /// One JSON object a line: the head, then the rows
    #[arg(long)]
    json: bool,
}

fn parse_square(text: &str) -> Result<Square, String> {
    text.parse().map_err(|_| "expected a square from a1 to h8".to_owned())
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    let kinds = || Kind::ALL.map(Kind::as_str).join(", ");
    Kind::parse(text).ok_or_else(|| format!("expected one of {}", kinds()))
}

/// Seconds with decimals, `m:ss` or `h:mm:ss`, in microseconds.
fn parse_time(text: &str) -> Result<u64, String> {
    let wrong = || "expected seconds or h:mm:ss, such as 90, 1:30 or 0:12:44.5".to_owned();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let parts: Vec<&str> = whole.split(':').collect();
    if parts.len() > 3 || decimals.len() > 6 {
        return Err(wrong());
    }
    let number = |digits: &str| -> Result<u64, String> {
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        digits.parse().map_err(|_| wrong())
    };
    let mut seconds: u64 = 0;
    for part in parts {
        seconds = seconds.saturating_mul(60).saturating_add(number(part)?);
    }
    let micros = number(&format!("{decimals:0<6}"))?;
    Ok(seconds.saturating_mul(1_000_000).saturating_add(micros))
}

/// What was gathered of a log.
struct Gathered {
    log: Log,
    rows: Vec<Row>,
    start: MonoTime,
    last: MonoTime,
    /// Why reading ended before the end of the file.
    broken: Option<LogError>,
}

pub(super) fn run(args: &Args) -> ExitCode {
    match review(args) {
        Ok(code) => code,
        Err(text) => {
            eprintln!("touchmoved review: {text}");
            ExitCode::from(2)
        }
    }
}

fn review(args: &Args) -> Result<ExitCode, String> {
    let log = replay::open(&args.file).map_err(|e| e.to_string())?;
    let file = log.file().display().to_string();
    let timeline = Timeline::new(log.setup()).map_err(|e| format!("{file}: {e}"))?;
    let numbers = timeline.numbers();
    let plies = plies(args, |text| numbers.plies(text))?;
    let found = gather(log, timeline).map_err(|e| format!("{file}: {e}"))?;
    if let (Some(error @ (LogError::Io { .. } | LogError::Line { .. })), true) =
        (&found.broken, found.rows.is_empty())
    {
        return Err(error.to_string());
    }
    let after = |us: u64| found.start.plus_micros(us);
    let from = match args.last {
        Some(us) => Some(MonoTime::from_micros(found.last.as_micros().saturating_sub(us))),
        None => args.from.map(after),
    };
    let filter = Filter {
        from,
        to: args.to.map(after),
        plies,
        squares: args.squares.clone(),
        kinds: args.kinds.clone(),
    };
    let text =
        if args.json { json_lines(&found, &filter, numbers) } else { plain(&found, &filter, numbers, &file) };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            return Err(format!("cannot write to standard output: {error}"));
        }
        _ => {}
    }
    Ok(match &found.broken {
        None => ExitCode::SUCCESS,
        Some(error) => {
            eprintln!("touchmoved review: {error}; only what stands before it is shown");
            ExitCode::from(if matches!(error, LogError::Bad(_)) { 1 } else { 2 })
        }
    })
}

fn plies(
    args: &Args,
    of_move: impl Fn(&str) -> Result<RangeInclusive<usize>, String>,
) -> Result<Option<RangeInclusive<usize>>, String> {
    match (args.ply, &args.number) {
        (Some(0), _) => Err("--ply counts from 1".to_owned()),
        (Some(ply), _) => Ok(Some(ply..=ply)),
        (None, Some(text)) => of_move(text).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads the log to its end. A journal gives its recorded facts; those of a sensor log are computed.
fn gather(mut log: Log, mut timeline: Timeline) -> Result<Gathered, SetupError> {
    let mut board = Board::new(log.setup())?;
    board.keep_events();
    let journal = log.is_journal();
    // The header of a recording that brings its own time stands at zero, wherever that time begins.
    let mut start = log.header().map(|(_, at, _)| at).filter(|at| *at != MonoTime::ZERO);
    let mut last = start.unwrap_or_default();
    let broken = loop {
        let item = match log.next_item() {
            Ok(Some(item)) => item,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        start.get_or_insert(if journal { item.at } else { MonoTime::ZERO });
        last = last.max(item.at);
        match item.kind {
            ItemKind::Input(input) => {
                board.input(item.at, &input);
                while let Some(event) = board.poll_event() {
                    timeline.event(&event, item.wall_us);
                }
            }
            ItemKind::Fact(fact) => timeline.fact(&fact, item.wall_us),
            ItemKind::Resume(resume) => timeline.resume(item.at, item.wall_us, &resume),
            ItemKind::Cut(cut) => timeline.cut(item.at, item.wall_us, &cut),
            ItemKind::Note(text) => timeline.note(item.at, item.wall_us, &text),
            // What left when is no part of the game: `touchmoved export --releases`.
            ItemKind::Release(_) => {}
        }
        computed(&mut board, &mut timeline, journal);
    };
    if !journal {
        board.finish(MonoTime::ZERO);
        computed(&mut board, &mut timeline, journal);
    }
    let (rows, latest) = timeline.finish();
    Ok(Gathered { log, rows, start: start.unwrap_or_default(), last: last.max(latest), broken })
}

fn computed(board: &mut Board, timeline: &mut Timeline, journal: bool) {
    while let Some(fact) = board.poll_fact() {
        if !journal {
            timeline.fact(&RecordedFact::of(&fact), None);
        }
    }
}

fn chain(found: &Gathered) -> String {
    let Some((records, head)) = found.log.head() else {
        return "a sensor log: the facts were computed now, there is no chain to check".to_owned();
    };
    let mut text = format!("{records} records");
    if let Some(LogError::Bad(bad)) = &found.broken {
        return text + &format!(" up to one that does not fit: seq {}, {}", bad.seq, bad.reason);
    }
    text += &format!(", chain intact, head {head}");
    if found.log.torn().is_some() {
        text += "; the last line is incomplete (being written, or a power failure) and left out";
    }
    text
}

fn plain(found: &Gathered, filter: &Filter, numbers: MoveNumbers, file: &str) -> String {
    let setup = found.log.setup();
    let header = found.log.header();
    let mut out = page::head(file, setup, header.map(|(header, ..)| header), &chain(found));
    out.push('\n');
    for square in &filter.squares {
        out += &page::answer(filter, &found.rows, *square, setup, found.start);
    }
    if !filter.squares.is_empty() {
        out.push('\n');
    }
    let rows: Vec<&Row> = found.rows.iter().filter(|row| filter.shows(row)).collect();
    if rows.is_empty() {
        return out + "Nothing of what was asked for is recorded.\n";
    }
    out + &page::rows(&rows, numbers, found.start)
}

fn json_lines(found: &Gathered, filter: &Filter, numbers: MoveNumbers) -> String {
    let setup = found.log.setup();
    let mut head = json!({
        "kind": "head",
        "file": found.log.file().display().to_string(),
        "sensor": setup.board.as_str(),
        "rules": setup.rules.as_str(),
        "record": chain(found),
        "limits": words::sensor(setup),
    });
    if let (Some((header, at, wall_us)), Some(map)) = (found.log.header(), head.as_object_mut()) {
        map.insert("board".to_owned(), json!(header.board));
        map.insert("tags".to_owned(), json!(header.tags));
        map.insert("us".to_owned(), json!(at.as_micros()));
        map.insert("at".to_owned(), json!(rfc3339(wall_us)));
    }
    let rows = found.rows.iter().filter(|row| filter.shows(row));
    let mut out = format!("{head}\n");
    for row in rows {
        out += &format!("{}\n", row.to_value(numbers, found.start));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_the_page_writes_them() {
        assert_eq!(parse_time("90"), Ok(90_000_000));
        assert_eq!(parse_time("1:30.5"), Ok(90_500_000));
        assert_eq!(parse_time("1:02:03.45"), Ok(3_723_450_000));
        for bad in ["", "-1", "1:", "a", "1.2.3", "1:2:3:4", "+5"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
