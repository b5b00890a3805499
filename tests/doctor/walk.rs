//! The walk over the 64 squares on a recording.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Output, Stdio},
};

use shakmaty::{File, Square};

use super::{Bench, RAW, log, process::program, sensor_log};

/// One man on each of these contacts, one after the other.
fn walked(contacts: impl IntoIterator<Item = Square>) -> Vec<String> {
    let mut lines = vec![r#"{"us":0,"occupied":"0000000000000000"}"#.to_owned()];
    let mut at = 0;
    for contact in contacts {
        for occupied in [1, 0] {
            at += 1_000_000;
            lines.push(format!(r#"{{"us":{at},"sq":"{contact}","occ":{occupied}}}"#));
        }
    }
    lines
}

fn bench(dir: &Path, contacts: impl IntoIterator<Item = Square>) -> Bench {
    let lines = walked(contacts);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    Bench::quiet(&sensor_log(&log(dir, RAW, &lines)))
}

/// The columns of the c- and d-files are exchanged.
fn exchanged(square: Square) -> Square {
    let file = match square.file() {
        File::C => File::D,
        File::D => File::C,
        file => file,
    };
    Square::from_coords(file, square.rank())
}

fn walk(bench: &Bench, file: &Path) -> (Output, String) {
    let output = bench.doctor(&["--walk", "--write", file.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

#[test]
fn exchanged_columns_are_found_and_the_map_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("map.toml");
    let bench = bench(dir.path(), Square::ALL.into_iter().map(exchanged));
    let (output, text) = walk(&bench, &file);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("a1?   (64 squares left)") && text.contains("h8    good"), "{text}");
    assert!(text.contains("c1    it is the contact of d1"), "{text}");
    assert!(text.contains("\ncolumns 0 to 7 are a b d c e f g h; wires are exchanged: "), "{text}");
    let map: toml::Table = fs::read_to_string(&file).unwrap().parse().unwrap();
    assert_eq!(map.keys().collect::<Vec<_>>(), ["map"], "the configuration takes it as it is");
    assert_eq!(map["map"][1].as_str(), Some("a2 b2 d2 c2 e2 f2 g2 h2"));
}

#[test]
fn a_walk_that_was_interrupted_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("map.toml");
    let half = bench(dir.path(), Square::ALL.into_iter().take(30));
    let (output, text) = walk(&half, &file);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("34 squares were not walked"), "{text}");
    let rest = bench(dir.path(), Square::ALL.into_iter().skip(30));
    let (output, text) = walk(&rest, &file);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("g4?   (34 squares left)") && text.contains("no map is needed"), "{text}");
    let (output, text) = walk(&rest, &file);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("The file holds every square already"), "{text}");
}

#[test]
fn doubled_squares_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("map.toml");
    let contact = |square| if square == Square::B5 { Square::A5 } else { square };
    let (output, text) = walk(&bench(dir.path(), Square::ALL.into_iter().map(contact)), &file);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("the contact of a5 sees a5 b5: two squares are joined"), "{text}");
    fs::write(&file, "map = 1").unwrap();
    let (output, _) = walk(&bench(dir.path(), []), &file);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("this is no file of a walk"));
}

#[test]
fn a_dead_square_is_said_by_the_walker() {
    let dir = tempfile::tempdir().unwrap();
    let (pipe, header) = (dir.path().join("board"), format!("{RAW}\n"));
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let bench = Bench::quiet(&format!(
        "[board.sensor.sensor-log]\npath = {:?}\npace = \"as-fast-as-possible\"",
        pipe.display().to_string()
    ));
    let mut child = program()
        .args(["doctor", "--walk", "--config", &bench.config()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut board = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    board.write_all(header.as_bytes()).unwrap();
    board.write_all(b"{\"us\":0,\"occupied\":\"0000000000000000\"}\n").unwrap();
    let mut hand = child.stdin.take().unwrap();
    // Dead, later, back (a1 once more: dead), the end.
    hand.write_all(b"\ns\nb\nnonsense\n\nq\n").unwrap();
    let output = child.wait_with_output().unwrap();
    drop((board, hand));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    let asked: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("squares left") || line.ends_with("dead") || line.ends_with("later"))
        .collect();
    assert_eq!(
        asked,
        [
            "a1?   (64 squares left)",
            "a1    dead",
            "b1?   (63 squares left)",
            "b1    later",
            "c1?   (62 squares left)",
            "a1?   (63 squares left)",
            "a1    dead",
            "c1?   (62 squares left)",
        ]
    );
    assert!(text.contains("dead: a1; no contact sees a man there"), "{text}");
}
