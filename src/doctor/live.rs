//! The live view: one board in a few lines for a terminal, or in one line for anything else.

use std::fmt::Write as _;

use shakmaty::{Bitboard, Board, Color, File, Piece, Rank, Square};

use super::{
    board::time,
    bounce::{CLASSES_US, Side},
    report::{Check, Verdict},
    squares::{self, Difference, names},
    watch::{Change, Watch},
};

/// A square that changed within this time is shown in reverse, in microseconds.
const FRESH_US: u64 = 1_500_000;

/// The view as lines of at most 80 columns; with `ansi`, squares that just changed are in reverse video.
pub fn screen(title: &str, watch: &Watch, start: &Board, ansi: bool) -> Vec<String> {
    let mut lines = vec![format!("{title}; {} s", watch.listened_us() / 1_000_000), String::new()];
    let difference = difference(watch, start);
    for (left, right) in board(watch, difference, ansi).into_iter().zip(facts(watch)) {
        lines.push(format!("{left}   {right}").trim_end().to_owned());
    }
    lines.push(String::new());
    lines.push(format!("  last edges  {}", edges(watch)));
    lines.push(format!("  look at     {}", doubts(watch, difference)));
    lines
}

/// The view in one line.
pub fn line(watch: &Watch, start: &Board) -> String {
    let scan = watch.scan();
    format!(
        "{} s: {} occupied, {} edges, {} in the last second, {}; look at {}; last {}",
        watch.listened_us() / 1_000_000,
        watch.occupied().map_or_else(|| "?".to_owned(), |occupied| occupied.count().to_string()),
        watch.edges(),
        watch.edges_per_s(),
        scan.per_10_s
            .map_or_else(|| "no scans told".to_owned(), |rate| format!("{} scans a second", rate / 10)),
        doubts(watch, difference(watch, start)),
        edges(watch),
    )
}

/// How the checks of the machine ended, a line a verdict, the worst first.
pub fn machine(checks: &[Check]) -> Vec<String> {
    let mut name = "machine";
    let mut lines = Vec::new();
    for verdict in [Verdict::Failed, Verdict::Warning, Verdict::Ok, Verdict::NotRun] {
        let mut topics: Vec<&str> = checks
            .iter()
            .filter(|check| check.verdict == verdict)
            .map(|check| check.check.as_str())
            .collect();
        topics.dedup();
        if !topics.is_empty() {
            lines.push(format!("  {name:<11} {}: {}", verdict.as_str(), topics.join(" ")));
            name = "";
        }
    }
    lines
}

/// What differs from the start position or the empty board on squares that have not changed yet: a square that
/// changes is neither dead nor stuck.
fn difference(watch: &Watch, start: &Board) -> Option<Difference> {
    let occupied = watch.occupied()?;
    let found = squares::compare(occupied, start.occupied());
    let still = !watch.touched();
    Some(Difference { missing: found.missing & still, extra: found.extra & still, ..found })
}

/// The squares that somebody should look at.
pub fn doubtful(watch: &Watch, start: &Board) -> Bitboard {
    let squares = difference(watch, start).map(|difference| difference.missing | difference.extra);
    squares.unwrap_or_default() | watch.chattering()
}

/// Nine lines of 20 columns.
fn board(watch: &Watch, difference: Option<Difference>, ansi: bool) -> [String; 9] {
    let fresh: Bitboard = watch
        .recent()
        .filter(|change| watch.now().since(change.at) < FRESH_US)
        .map(|change| change.square)
        .collect();
    let mut lines: [String; 9] = std::array::from_fn(|_| "     a b c d e f g h".to_owned());
    for (line, rank) in lines.iter_mut().zip(Rank::ALL.into_iter().rev()) {
        *line = format!("   {}", rank.char());
        for file in File::ALL {
            let square = Square::from_coords(file, rank);
            let sign = sign(watch, difference, square);
            let _ = if ansi && fresh.contains(square) {
                write!(line, " \x1b[7m{sign}\x1b[0m")
            } else {
                write!(line, " {sign}")
            };
        }
    }
    lines
}

/// How a square is drawn: a man by his letter, or `o`; `.` nobody; `?` dead or without a man; `!` stuck or a man
/// too many; `~` chatter.
fn sign(watch: &Watch, difference: Option<Difference>, square: Square) -> char {
    let (Some(occupied), Some(difference)) = (watch.occupied(), difference) else { return ' ' };
    if watch.chattering().contains(square) {
        '~'
    } else if difference.extra.contains(square) {
        '!'
    } else if difference.missing.contains(square) {
        '?'
    } else if occupied.contains(square) {
        watch.pieces().and_then(|men| men.piece_at(square)).map_or('o', Piece::char)
    } else {
        '.'
    }
}

/// What stands beside the board, nine lines.
fn facts(watch: &Watch) -> [String; 9] {
    let scan = watch.scan();
    let fact = |name: &str, text: String| {
        if text.is_empty() { String::new() } else { format!("{name:<9} {text}") }
    };
    let link = match (watch.link(), watch.occupied()) {
        (Some(false), _) => "down",
        (_, None) => "no answer yet",
        _ => "up",
    };
    let rate = match scan.per_10_s {
        Some(rate) => format!("{}.{} a second", rate / 10, rate % 10),
        None if watch.is_raw() => "not told by this source".to_owned(),
        None => "by the board itself".to_owned(),
    };
    let late = match (scan.overruns, scan.worst_us) {
        (Some(late), Some(worst)) => format!(", {late} late, worst {} ms", worst.div_ceil(1000)),
        (Some(late), None) => format!(", {late} late"),
        _ => String::new(),
    };
    let occupied = watch.occupied().map_or_else(|| "?".to_owned(), |occupied| occupied.count().to_string());
    let [classes, closing, opening] = histogram(watch);
    [
        fact("link", link.to_owned()),
        fact("occupied", occupied),
        fact("edges", format!("{}, {} in the last second", watch.edges(), watch.edges_per_s())),
        fact("scans", format!("{rate}{late}")),
        fact("clock", clock(watch)),
        String::new(),
        fact("bounce", classes),
        fact(" closing", closing),
        fact(" opening", opening),
    ]
}

fn clock(watch: &Watch) -> String {
    let side = |ms: Option<u64>| ms.map_or_else(|| "?".to_owned(), time);
    match watch.clock() {
        Some(reading) => {
            let mark = |color| if reading.running == Some(color) { "*" } else { "" };
            format!(
                "White {}{}, Black {}{}",
                side(reading.white_ms),
                mark(Color::White),
                side(reading.black_ms),
                mark(Color::Black)
            )
        }
        None if watch.presses() > 0 => format!("{} presses", watch.presses()),
        None => "not heard".to_owned(),
    }
}

fn histogram(watch: &Watch) -> [String; 3] {
    if !watch.is_raw() {
        return ["debounced by the board".to_owned(), String::new(), String::new()];
    }
    let mut classes = format!("{:>6}", "none");
    for us in CLASSES_US {
        let _ = write!(classes, "{:>5}", format!("<{}", us / 1000));
    }
    classes.push_str(" ms");
    let counts = |side: &Side| {
        let mut counts = String::new();
        for (class, count) in side.histogram.iter().enumerate() {
            let width = if class == 0 { 6 } else { 5 };
            let _ = write!(counts, "{count:>width$}");
        }
        counts
    };
    let bounce = watch.bounce();
    [classes, counts(&bounce.closing), counts(&bounce.opening)]
}

/// The last edges, the newest first: `e4+` closed, `e2-` opened.
fn edges(watch: &Watch) -> String {
    let word = |change: &Change| format!("{}{}", change.square, if change.occupied { '+' } else { '-' });
    let words: Vec<String> = watch.recent().rev().map(word).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(" ") }
}

/// Squares that somebody should look at.
fn doubts(watch: &Watch, difference: Option<Difference>) -> String {
    const MOST: usize = 5;
    let mut parts = Vec::new();
    let mut add = |word: &str, squares: Bitboard| {
        let names = names(squares);
        if names.is_empty() {
            return;
        }
        let more = if names.len() > MOST { ".." } else { "" };
        parts.push(format!("{word} {}{more}", names.get(..MOST).unwrap_or(&names).join(" ")));
    };
    if let Some(Difference { missing, extra, .. }) = difference {
        add("dead?", missing);
        add("stuck?", extra);
    }
    add("chatter", watch.chattering());
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::{super::report::Topic, *};
    use crate::session::{
        event::{ClockReading, Event},
        io::Input,
        setup::{BoardKind, GameSetup, Signal},
        time::MonoTime,
    };

    fn ms(ms: u64) -> MonoTime {
        MonoTime::ZERO.plus_ms(ms)
    }

    fn square(square: Square, occupied: bool) -> Input {
        Event::Square { square, occupied }.into()
    }

    #[test]
    fn the_screen_of_a_matrix() {
        let mut watch = Watch::new(&GameSetup { signal: Signal::Raw, ..GameSetup::default() }, true);
        let missing = Board::default().occupied() ^ Bitboard::from_square(Square::B8);
        watch.take(ms(0), &Event::Occupied(missing).into());
        for (at, closed) in [(9_000, false), (9_003, true), (9_004, false)] {
            watch.take(ms(at), &square(Square::G1, closed));
        }
        watch.advance(ms(10_000));
        let lines = screen("board 1, matrix", &watch, &Board::default(), false);
        assert_eq!(
            lines.join("\n"),
            "board 1, matrix; 10 s\n\
             \n\
             \x20  8 o ? o o o o o o   link      up\n\
             \x20  7 o o o o o o o o   occupied  30\n\
             \x20  6 . . . . . . . .   edges     3, 2 in the last second\n\
             \x20  5 . . . . . . . .   scans     not told by this source\n\
             \x20  4 . . . . . . . .   clock     not heard\n\
             \x20  3 . . . . . . . .\n\
             \x20  2 o o o o o o o o   bounce      none   <1   <2   <5  <10  <20  <50 ms\n\
             \x20  1 o o o o o o . o    closing       0    0    0    0    0    0    0\n\
             \x20    a b c d e f g h    opening       0    0    0    1    0    0    0\n\
             \n\
             \x20 last edges  g1- g1+ g1-\n\
             \x20 look at     dead? b8"
        );
        assert!(lines.iter().all(|line| line.len() <= 80));
        let ansi = screen("x", &watch, &Board::default(), true).join("\n");
        assert!(ansi.contains("o \x1b[7m.\x1b[0m o"), "{ansi}");
        assert_eq!(
            line(&watch, &Board::default()),
            "10 s: 30 occupied, 3 edges, 2 in the last second, no scans told; look at dead? b8; last g1- g1+ g1-"
        );
    }

    #[test]
    fn the_machine_is_told_by_verdict() {
        let checks = [
            Check::ok(Topic::Journals, ""),
            Check::failed(Topic::Disk, ""),
            Check::not_run(Topic::Time, ""),
            Check::ok(Topic::Http, ""),
        ];
        let lines =
            ["  machine     failed: disk", "              ok: journals http", "              not-run: time"];
        assert_eq!(machine(&checks), lines);
    }

    #[test]
    fn men_and_clocks_are_shown_where_they_are_known() {
        let mut watch = Watch::new(&GameSetup { board: BoardKind::Dgt, ..GameSetup::default() }, false);
        let empty = screen("x", &watch, &Board::default(), true);
        assert!(empty[2].ends_with("link      no answer yet"), "{empty:#?}");
        watch.take(ms(0), &Event::Pieces(Board::default()).into());
        let reading =
            ClockReading { white_ms: Some(5_400_000), black_ms: Some(60_000), running: Some(Color::Black) };
        watch.take(ms(0), &Event::Times(reading).into());
        let lines = screen("x", &watch, &Board::default(), true);
        assert!(lines[2].starts_with("   8 r n b q k b n r"), "{lines:#?}");
        assert!(lines[6].ends_with("clock     White 1:30:00, Black 0:01:00*"), "{lines:#?}");
    }
}
