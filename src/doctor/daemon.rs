//! What a running daemon tells of its boards, in place of what the doctor would find: the daemon holds the
//! devices, and nobody else can read them.

use serde_json::Value;
use shakmaty::Board;

use super::{
    report::{Check, Topic},
    squares,
};

/// The answers of a daemon, as far as it gave them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Of `/healthz`.
    pub health: Value,
    /// Of `/api/boards`.
    pub boards: Value,
    /// Of `/metrics`.
    pub metrics: String,
}

impl Answers {
    /// What is wrong with a part (`journal`, `source` or `wiring`) of a board.
    fn trouble(&self, board: &str, part: &str) -> Option<&str> {
        let troubles = self.health.get("troubles")?.as_array()?;
        let found = troubles.iter().find(|trouble| {
            trouble.get("board").and_then(Value::as_str) == Some(board)
                && trouble.get("what").and_then(Value::as_str) == Some(part)
        })?;
        found.get("detail").and_then(Value::as_str)
    }

    fn board(&self, id: &str) -> Option<&Value> {
        self.boards.as_array()?.iter().find(|board| board.get("id").and_then(Value::as_str) == Some(id))
    }

    /// A figure of a board in `/metrics`.
    fn figure(&self, name: &str, board: &str) -> Option<u64> {
        let start = format!("touchmoved_{name}{{board=\"{board}\"}} ");
        self.metrics.lines().find_map(|line| line.strip_prefix(&start))?.trim().parse().ok()
    }
}

/// The check of the daemon that holds the data directory; `answers` is what it said over HTTP, or why it said
/// nothing.
pub fn check(pid: Option<u32>, answers: Result<&Answers, &str>) -> Check {
    let process = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
    let stop = "to test the devices themselves, stop it";
    match answers {
        Err(reason) => Check::warning(
            Topic::Daemon,
            format!("a daemon runs{process} and holds the boards, and it tells nothing: {reason}"),
        )
        .remedy(stop)
        .command("sudo systemctl stop touchmoved"),
        Ok(answers) => {
            let count = |key: &str| answers.health.get(key).and_then(Value::as_u64).unwrap_or(0);
            let said = format!(
                "a daemon runs{process} and holds the boards; it says that {} of {} answer, journal {}",
                count("connected"),
                count("boards"),
                answers.health.get("journal").and_then(Value::as_str).unwrap_or("unknown"),
            );
            if answers.health.get("status").and_then(Value::as_str) == Some("ok") {
                return Check::ok(Topic::Daemon, format!("{said}; {stop}"));
            }
            Check::failed(Topic::Daemon, format!("{said}: degraded"))
                .remedy("its messages say more")
                .command("journalctl -u touchmoved -n 20")
        }
    }
}

/// The checks of one board, called `name`, from what the daemon tells of the game with this id. `start` are the men
/// at the start of the game.
pub fn board(name: &str, id: &str, place: &str, start: &Board, answers: &Answers) -> Vec<Check> {
    let mut checks = Vec::new();
    let state = answers.board(id);
    let connected = state.and_then(|state| state.get("connected")).and_then(Value::as_bool);
    let device = match (answers.trouble(id, "source"), connected) {
        (Some(trouble), _) => {
            let told = Check::told(Topic::Device, place, trouble);
            if told.remedy.is_none() { told.remedy("the daemon tries it again for ever") } else { told }
        }
        (None, Some(true)) => Check::ok(Topic::Device, read_by_daemon(id, answers)),
        (None, Some(false)) => Check::failed(Topic::Device, "the daemon waits for it to answer")
            .remedy("see to the cable, its plugs and the power of the board")
            .command("journalctl -u touchmoved -n 20"),
        (None, None) => Check::failed(Topic::Device, "the daemon does not know this board")
            .remedy("it was started with another configuration: start it again")
            .command("sudo systemctl restart touchmoved"),
    };
    let reads = connected == Some(true);
    checks.push(device.at(place));
    if let Some(trouble) = answers.trouble(id, "journal") {
        checks.push(
            Check::failed(Topic::Journals, trouble).remedy("make room, or see to the disk").command("df -h"),
        );
    }
    if let Some(found) = answers.trouble(id, "wiring") {
        checks.push(super::board::wiring(found));
    }
    checks.push(match state.filter(|_| reads) {
        Some(state) => squares_of(state, start),
        None => Check::not_run(Topic::Squares, "the daemon does not read the board"),
    });
    checks.extend([Topic::Chatter, Topic::Bounce].map(untold));
    checks.push(scan_of(id, answers));
    checks.push(clock_of(state));
    checks.into_iter().map(|check| check.of_one(name)).collect()
}

fn untold(topic: Topic) -> Check {
    Check::not_run(topic, "the daemon holds the board and does not tell this")
}

fn scan_of(id: &str, answers: &Answers) -> Check {
    match answers.figure("scan_overruns_total", id) {
        None => untold(Topic::Scan),
        Some(0) => Check::ok(Topic::Scan, "the daemon scans it, and no scan was late"),
        Some(overruns) => super::board::late(overruns, answers.figure("scan_late_worst_microseconds", id)),
    }
}

fn read_by_daemon(id: &str, answers: &Answers) -> String {
    let mut words = "the daemon reads it".to_owned();
    for (name, text) in [("board_inputs_total", "inputs"), ("journal_records_total", "records written")] {
        if let Some(figure) = answers.figure(name, id) {
            words.push_str(&format!(", {figure} {text}"));
        }
    }
    words
}

fn squares_of(state: &Value, start: &Board) -> Check {
    let plies = state.get("plies").and_then(Value::as_array).map_or(0, Vec::len);
    if plies > 0 {
        return Check::not_run(Topic::Squares, format!("a game is on, {plies} plies were published"));
    }
    let placement = state.get("board").and_then(Value::as_str).and_then(|text| text.parse::<Board>().ok());
    match placement {
        Some(board) => squares::check(board.occupied(), None, start),
        None => Check::not_run(Topic::Squares, "the daemon told no position"),
    }
}

fn clock_of(state: Option<&Value>) -> Check {
    let clock = state.and_then(|state| state.get("clock")).filter(|clock| !clock.is_null());
    let Some(clock) = clock else {
        return Check::not_run(Topic::Clock, "the daemon has heard no clock");
    };
    let side = |key: &str| match clock.get(key).and_then(Value::as_u64) {
        Some(ms) => super::board::time(ms),
        None => "unknown".to_owned(),
    };
    let running = match clock.get("running").and_then(Value::as_str) {
        Some("white") => "White's side runs",
        Some("black") => "Black's side runs",
        _ => "both stand",
    };
    Check::ok(Topic::Clock, format!("White {}, Black {}, {running}", side("white_ms"), side("black_ms")))
}

#[cfg(test)]
mod tests {
    use super::super::report::Verdict;
    use super::*;
    use serde_json::json;

    fn answers(connected: bool, plies: Value, troubles: Value) -> Answers {
        Answers {
            health: json!({"status": if connected { "ok" } else { "degraded" }, "boards": 1,
                "connected": u8::from(connected), "journal": "ok", "troubles": troubles}),
            boards: json!([{"id": "1", "connected": connected, "plies": plies,
                "board": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
                "clock": {"white_ms": 5_400_000, "black_ms": null, "running": "black"}}]),
            metrics: "# HELP x\ntouchmoved_board_inputs_total{board=\"1\"} 17\n".to_owned(),
        }
    }

    fn lines(id: &str, answers: &Answers) -> Vec<String> {
        board(id, id, "/dev/x", &Board::default(), answers).iter().map(Check::line).collect()
    }

    #[test]
    fn a_healthy_daemon_vouches_for_its_board() {
        let answers = answers(true, json!([]), json!([]));
        assert_eq!(check(Some(7), Ok(&answers)).verdict, Verdict::Ok);
        let lines = lines("1", &answers);
        assert_eq!(lines[0], "ok       board 1, device: /dev/x: the daemon reads it, 17 inputs");
        assert_eq!(lines[1], "ok       board 1, squares: 32 squares occupied, as at the start of the game");
        assert_eq!(lines[5], "ok       board 1, clock: White 1:30:00, Black unknown, Black's side runs");
    }

    #[test]
    fn what_the_daemon_finds_wrong_is_told_and_nothing_is_passed_unseen() {
        let trouble = json!([{"board": "1", "what": "source", "detail": "/dev/x: permission denied"},
            {"board": "1", "what": "journal", "detail": "no space left"}]);
        let answers = answers(false, json!([]), trouble);
        assert_eq!(check(None, Ok(&answers)).verdict, Verdict::Failed);
        let lines = lines("1", &answers);
        assert!(
            lines[0].starts_with("failed   board 1, device: /dev/x: permission denied; the daemon tries"),
            "{lines:#?}"
        );
        assert!(lines[1].starts_with("failed   board 1, journals: no space left"), "{lines:#?}");
        assert!(lines[2].starts_with("not-run  board 1, squares: "), "{lines:#?}");
        assert!(self::lines("2", &answers)[0].contains("does not know this board"));
        assert_eq!(check(None, Err("no answer")).verdict, Verdict::Warning);
    }

    #[test]
    fn scans_that_the_daemon_counts_are_judged() {
        let mut answers = answers(true, json!([]), json!([]));
        assert!(lines("1", &answers)[4].starts_with("not-run  board 1, scan: "));
        answers.metrics = "touchmoved_scan_overruns_total{board=\"1\"} 0\n".to_owned();
        assert!(lines("1", &answers)[4].starts_with("ok       board 1, scan: "));
        answers.metrics = "touchmoved_scan_overruns_total{board=\"1\"} 2\n\
            touchmoved_scan_late_worst_microseconds{board=\"1\"} 41500\n"
            .to_owned();
        let line = &lines("1", &answers)[4];
        assert!(line.starts_with("warning  board 1, scan: 2 late scans, the worst by 42 ms"), "{line}");
    }

    #[test]
    fn squares_of_a_game_that_is_on_are_not_judged() {
        let lines = lines("1", &answers(true, json!([{}]), json!([])));
        assert!(lines[1].starts_with("not-run  board 1, squares: a game is on, 1 plies"), "{lines:#?}");
    }
}
