//! The PGN files on the disk.

use std::{fs, path::Path, sync::atomic::Ordering::Relaxed, time::Duration};

use super::table::{Server, Table, get, soon};

async fn wait_for(path: &Path, part: &str) -> String {
    soon(async {
        loop {
            if let Ok(text) = fs::read_to_string(path)
                && text.contains(part)
            {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
}

#[tokio::test]
async fn files_follow_the_games_and_nothing_else_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let pgn = dir.path().join("pgn");
    let server = Server::with_pgn(pgn.clone()).await;
    let mut one = Table::new(&server.hub, "1");
    let mut two = Table::new(&server.hub, "2");
    one.play("e2e4");
    two.play("d2d4");
    wait_for(&pgn.join("1.pgn"), "1. e4 *").await;
    wait_for(&pgn.join("games.pgn"), "1. d4 *").await;
    one.play("e7e5");
    server.stop().await;
    assert!(fs::read_to_string(pgn.join("1.pgn")).unwrap().ends_with("1. e4 e5 *\n"));
    let mut names: Vec<String> =
        fs::read_dir(&pgn).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["1.pgn", "2.pgn", "games.pgn", "round-1"]);
    // A folder for the round, as programs that publish it take it: its games, and all of them in one file.
    let round = |name: &str| fs::read_to_string(pgn.join("round-1").join(name)).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(pgn.join("round-1")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["game-1.pgn", "game-2.pgn", "games.pgn"]);
    assert!(round("game-1.pgn").ends_with("1. e4 e5 *\n"));
    assert_eq!(round("games.pgn"), format!("{}\n{}", round("game-1.pgn"), round("game-2.pgn")));
}

/// A disk that cannot be written stops no feed; the files come when it can.
#[tokio::test]
async fn a_failed_write_is_made_up_for() {
    let dir = tempfile::tempdir().unwrap();
    let pgn = dir.path().join("pgn");
    fs::write(&pgn, "in the way").unwrap();
    let server = Server::with_pgn(pgn.clone()).await;
    let mut table = Table::new(&server.hub, "1");
    table.play("e2e4");
    soon(async {
        while server.hub.metrics().pgn_failed.load(Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(server.hub.board("1").unwrap().plies.len(), 1);
    fs::remove_file(&pgn).unwrap();
    table.play("e7e5");
    wait_for(&pgn.join("games.pgn"), "1. e4 e5 *").await;
    server.stop().await;
}

/// A round that has no number has a folder of its own: it does not write over the first one.
#[tokio::test]
async fn a_round_without_a_number_has_its_own_folder() {
    let dir = tempfile::tempdir().unwrap();
    let pgn = dir.path().join("pgn");
    let server = Server::with_pgn(pgn.clone()).await;
    let mut tables: Vec<Table> = ["1", "2", "3"].map(|id| Table::new(&server.hub, id)).into();
    for (id, round) in [("2", "Final"), ("3", "100")] {
        let mut state = (*server.hub.board(id).unwrap()).clone();
        state.tags.round = Some(round.to_owned());
        server.hub.set(state);
    }
    tables[0].play("e2e4");
    wait_for(&pgn.join("round-1/games.pgn"), "1. e4 *").await;
    let text = wait_for(&pgn.join("round-Final/games.pgn"), "[Round \"Final").await;
    assert_eq!(text.matches("[Event ").count(), 1);
    wait_for(&pgn.join("round-100/game-1.pgn"), "[Round \"100").await;
    let first = fs::read_to_string(pgn.join("round-1/games.pgn")).unwrap();
    assert_eq!(first.matches("[Event ").count(), 1, "{first}");
    let first = get(server.http, "/pgn/round-1.pgn", &[]).await;
    assert!(first.status == 200 && !first.body.contains("Final"), "{first:?}");
    let last = get(server.http, "/pgn/round-Final.pgn", &[]).await;
    assert!(last.status == 200 && last.body.contains("[Round \"Final"), "{last:?}");
    server.stop().await;
}

/// Programs that publish a folder take every game in it.
#[tokio::test]
async fn games_of_boards_that_are_gone_are_taken_away_and_others_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let pgn = dir.path().join("pgn");
    fs::create_dir_all(pgn.join("round-1")).unwrap();
    for name in ["round-1/game-2.pgn", "round-1/game-3.pgn", "round-1/notes.pgn"] {
        fs::write(pgn.join(name), "of before").unwrap();
    }
    let server = Server::with_pgn(pgn.clone()).await;
    let mut one = Table::new(&server.hub, "1");
    let _two = Table::new(&server.hub, "2");
    one.play("e2e4");
    wait_for(&pgn.join("round-1/games.pgn"), "1. e4 *").await;
    wait_for(&pgn.join("round-1/game-2.pgn"), "[Event").await;
    soon(async {
        while pgn.join("round-1/game-3.pgn").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(pgn.join("round-1/notes.pgn").exists(), "what is not of this program stays");
    fs::remove_dir_all(&pgn).unwrap();
    one.play("e7e5");
    wait_for(&pgn.join("round-1/game-2.pgn"), "[Event").await;
    wait_for(&pgn.join("2.pgn"), "[Event").await;
    wait_for(&pgn.join("round-1/game-1.pgn"), "1. e4 e5 *").await;
    server.stop().await;
}
