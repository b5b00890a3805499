//! Reads `[defaults]` and the `[[board]]` tables.

use std::path::Path;

use shakmaty::CastlingMode;
use time::{Date, Month};
use toml::de::DeValue;

use super::{ControlStyle, Uses, emulation, laws::laws, second::second, section::Section, sensor};
use crate::{
    config::{
        board::{
            BoardConfig, BoardId, ClockOptions, ControlOptions, GameOptions, LiveChessBoard, ORIENTATIONS,
            base_setup,
        },
        second::{on_two_boards, play_together},
        sensor::SensorConfig,
    },
    publish::{PlayerTags, Tags},
    session::{
        clock::{Model, Rounding},
        setup::{DisciplineSetting, GameSetup, Rules, SetupError, Supervision},
    },
    wire::livechess::serial_of,
};

/// What `[defaults]` says.
struct Defaults {
    game: GameOptions,
    /// A game can start from the position of `game`; otherwise that was reported.
    playable: bool,
    tags: Tags,
}

fn defaults(section: Section<'_>) -> Defaults {
    let game = game(&section);
    let playable = check_position(&section, &game);
    let tag_section = section.section("tags");
    let tags = common_tags(&tag_section);
    tag_section.finish();
    section.finish();
    Defaults { game, playable, tags }
}

/// All boards of the file.
pub(super) fn boards(root: &Section<'_>, base: &Path, style: ControlStyle) -> Vec<BoardConfig> {
    let defaults = defaults(root.section("defaults"));
    let mut uses = Uses::default();
    let sections = root.sections("board");
    if sections.is_empty() {
        root.missing("board", "a [[board]] table says which board is read; add at least one");
    }
    sections
        .into_iter()
        .zip(1..)
        .filter_map(|(section, number)| {
            let read = board(&section, number, base, &defaults, style, &mut uses);
            section.finish();
            read
        })
        .collect()
}

fn board(
    section: &Section<'_>,
    number: u64,
    base: &Path,
    defaults: &Defaults,
    style: ControlStyle,
    uses: &mut Uses,
) -> Option<BoardConfig> {
    let id = id(section, uses);
    let serial = section.label("serial");
    check_serial(section, id.as_ref(), serial.as_deref(), uses);
    let livechess = livechess(section.section("livechess"));
    let own = game(section);
    let name = id.as_ref().map_or("without id", BoardId::as_str);
    let sensor = sensor::sensor(section, name, number, base, &sensor::KINDS, uses);
    let second = second(section, sensor.as_ref(), name, number, base, uses);
    let emulation = emulation::board(section, name, uses);
    let from_log = matches!(sensor, Some((SensorConfig::SensorLog { .. }, _)));
    let game = if from_log { own.clone() } else { own.clone().or(&defaults.game) };
    if own.start_fen.is_some() || (own.variant.is_some() && defaults.playable && !from_log) {
        check_position(section, &game);
    }
    if game.discipline == Some(DisciplineSetting::Auto) && game.time_control.game().is_none() && !from_log {
        section.problem("discipline", "\"auto\" is found from time-control; give that, too");
    }
    let own_clock = game.laws.get("clock.kind").is_some_and(|kind| kind == "own");
    if own_clock && game.time_control.game().is_none() && !from_log && !section.has("time-control") {
        section.missing("time-control", "the own clock keeps the time of a time control");
    }
    if game.time_control.lacks_a_side() {
        let key = if section.has("time-control-black") { "time-control-black" } else { "time-control-white" };
        section.problem(key, "the other side has no time control; give time-control for both, too");
    }
    let mut tags = tags(section.section("tags"), &defaults.tags);
    let id = id?;
    let (mut sensor, debounce) = sensor?;
    let mut second = second.ok()?;
    if let Some(second) = &mut second {
        play_together(&mut sensor, &mut second.sensor);
    }
    tags.board.get_or_insert_with(|| id.to_string());
    tags.time_control = game.time_control.game().and_then(|control| style.tag(&control));
    let mut setup = game.apply(base_setup(&sensor, debounce));
    if let Some(second) = &second {
        setup = on_two_boards(setup, second);
    }
    let log_game = if from_log { own } else { GameOptions::default() };
    let second = second.map(|second| second.sensor);
    Some(BoardConfig { id, serial, livechess, setup, tags, sensor, second, emulation, log_game })
}

/// `[board.livechess]`.
fn livechess(section: Section<'_>) -> LiveChessBoard {
    let comment = section.text("comment").map(str::to_owned);
    let active = section.boolean("active").unwrap_or(true);
    section.finish();
    LiveChessBoard { comment, active }
}

fn id(section: &Section<'_>, uses: &mut Uses) -> Option<BoardId> {
    let Some(text) = section.label("id") else {
        section.missing("id", "name the board, such as id = \"1\"");
        return None;
    };
    let Some(id) = BoardId::new(&text) else {
        let message = if BoardId::names_round(&text) {
            format!(
                "{text:?} is the name of a round in web addresses and of its folder; name the board otherwise"
            )
        } else {
            format!(
                "expected 1 to 32 of the characters a-z A-Z 0-9 _ -, but not games or pgn, found {text:?}"
            )
        };
        section.problem("id", message);
        return None;
    };
    let earlier = uses.claim(format!("id {}", text.to_ascii_lowercase()), &text, section.line());
    if let Some((other, line)) = earlier {
        let message = format!("board {other} is on line {line} already; give each board its own id");
        section.problem("id", message);
    }
    Some(id)
}

/// Notes a serial number, configured or made of the identifier, that another board has already.
fn check_serial(section: &Section<'_>, id: Option<&BoardId>, serial: Option<&str>, uses: &mut Uses) {
    let own = serial.map(str::to_owned).or_else(|| id.map(|id| serial_of(id.as_str())));
    let Some(own) = own else { return };
    let name = id.map_or("", BoardId::as_str);
    let Some((other, line)) = uses.claim(format!("serial {own}"), name, section.line()) else { return };
    if serial.is_none() && other == name {
        // Two boards have one identifier, which was told.
        return;
    }
    if serial.is_some() {
        section.problem("serial", format!("{own:?} is the serial number of the board on line {line}, too"));
    } else {
        let message = format!(
            "{own:?}, which is made of it, is the serial number of the board on line {line}; set serial"
        );
        section.problem("id", message);
    }
}

fn game(section: &Section<'_>) -> GameOptions {
    let rules = [Rules::Fide2005, Rules::Fide2023, Rules::Ua].map(|rules| (rules.as_str(), rules));
    let disciplines = DisciplineSetting::ALL.map(|discipline| (discipline.as_str(), discipline));
    let supervisions = [Supervision::Full, Supervision::Basic].map(|word| (word.as_str(), word));
    let variants = [("standard", CastlingMode::Standard), ("chess960", CastlingMode::Chess960)];
    let mut release_dwell_ms = None;
    let mut clock = ClockOptions::default();
    let roundings = [("auto", None), ("down", Some(Rounding::Down)), ("up", Some(Rounding::Up))];
    let laws = laws(section, |path, table| match path {
        "touch." => release_dwell_ms = table.integer("release-dwell-ms", "of milliseconds", 0, 10_000),
        "clock." => {
            clock = ClockOptions {
                lag_ms: table.integer("reading-lag-ms", "of milliseconds", 0, u64::from(Model::MAX_LAG_MS)),
                rate_ppm: table.integer(
                    "rate-ppm",
                    "of parts per million",
                    0,
                    u64::from(Model::MAX_RATE_PPM),
                ),
                rounding: table.word("rounding", &roundings),
            };
        }
        _ => {}
    });
    let publish = section.section("publish");
    let extend_ms = publish.integer("extend-ms", "of milliseconds", 0, 60_000);
    let await_press_ms = publish.integer("await-press-ms", "of milliseconds", 0, 60_000);
    publish.finish();
    GameOptions {
        rules: section.word("rules", &rules),
        discipline: section.word("discipline", &disciplines),
        supervision: section.word("supervision", &supervisions),
        variant: section.word("variant", &variants),
        start_fen: section.text("start-fen").map(str::to_owned),
        time_control: ControlOptions {
            both: section.parsed("time-control"),
            white: section.parsed("time-control-white"),
            black: section.parsed("time-control-black"),
        },
        orientation: section.word("orientation", &ORIENTATIONS),
        release_dwell_ms,
        extend_ms,
        await_press_ms,
        clock,
        laws,
    }
}

/// True where a game can start from the position; reports the problem otherwise.
fn check_position(section: &Section<'_>, game: &GameOptions) -> bool {
    let setup = game.apply(GameSetup::default());
    let message = match setup.position() {
        Ok(_) | Err(SetupError::History { .. } | SetupError::Setting(_)) => return true,
        Err(SetupError::Fen { fen, reason }) => {
            format!("{fen:?} is not a FEN ({reason}); write all six fields")
        }
        Err(SetupError::Position { fen, reason }) => {
            let variant = if setup.is_chess960() { "chess960" } else { "standard" };
            format!(
                "no game of variant {variant:?} can start from {fen:?} ({reason}); correct one of the two"
            )
        }
    };
    section.problem(if section.has("start-fen") { "start-fen" } else { "variant" }, message);
    false
}

/// The tags that boards share; the caller ends the section.
fn common_tags(section: &Section<'_>) -> Tags {
    Tags {
        event: section.text("event").map(str::to_owned),
        site: section.text("site").map(str::to_owned),
        date: date(section),
        round: section.label("round"),
        ..Tags::default()
    }
}

fn tags(section: Section<'_>, defaults: &Tags) -> Tags {
    let own = common_tags(&section);
    let tags = Tags {
        event: own.event.or_else(|| defaults.event.clone()),
        site: own.site.or_else(|| defaults.site.clone()),
        date: own.date.or_else(|| defaults.date.clone()),
        round: own.round.or_else(|| defaults.round.clone()),
        board: section.label("board"),
        white: section.text("white").map(str::to_owned),
        black: section.text("black").map(str::to_owned),
        time_control: None,
        white_player: player(&section, &WHITE),
        black_player: player(&section, &BLACK),
    };
    section.finish();
    tags
}

/// The keys of a player: title, rating, number and federation.
type PlayerKeys = [&'static str; 4];

const WHITE: PlayerKeys = ["white-title", "white-elo", "white-fide-id", "white-federation"];
const BLACK: PlayerKeys = ["black-title", "black-elo", "black-fide-id", "black-federation"];

fn player(section: &Section<'_>, [title, elo, fide_id, federation]: &PlayerKeys) -> PlayerTags {
    let federation_of = |key: &'static str| {
        let text = section.text(key)?;
        let fits = text.len() == 3 && text.bytes().all(|c| c.is_ascii_uppercase());
        if !fits {
            section.problem(key, format!("expected three capital letters such as \"NED\", found {text:?}"));
        }
        fits.then(|| text.to_owned())
    };
    PlayerTags {
        title: section.text(title).map(str::to_owned),
        elo: section.integer(elo, "", 1, 4000),
        fide_id: section.integer(fide_id, "", 1, 999_999_999),
        federation: federation_of(federation),
    }
}

/// The date in the form of PGN, `YYYY.MM.DD`; what is not known is `??`.
fn date(section: &Section<'_>) -> Option<String> {
    let value = section.any("date")?;
    let read = match value.get_ref() {
        DeValue::String(text) => pgn_date(&text.replace('-', ".")),
        DeValue::Datetime(datetime) => datetime
            .date
            .filter(|_| datetime.time.is_none())
            .and_then(|date| pgn_date(&format!("{:04}.{:02}.{:02}", date.year, date.month, date.day))),
        _ => None,
    };
    if read.is_none() {
        let form = "a day of the calendar such as \"2026.11.30\", with ?? for what is not known";
        section.wrong("date", value, form);
    }
    read
}

fn pgn_date(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    let [year, month, day] = parts.as_slice() else { return None };
    // What is not known is judged as a leap year and a long month.
    let year = date_part(year, 4, 2000)?;
    let month = Month::try_from(u8::try_from(date_part(month, 2, 1)?).ok()?).ok()?;
    let day = u8::try_from(date_part(day, 2, 1)?).ok()?;
    Date::from_calendar_date(year, month, day).ok().map(|_| text.to_owned())
}

/// A part of a date: `length` digits, or as many question marks for `unknown`.
fn date_part(part: &str, length: usize, unknown: i32) -> Option<i32> {
    match part {
        _ if part.len() != length => None,
        _ if part.bytes().all(|b| b == b'?') => Some(unknown),
        _ => part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten(),
    }
}
