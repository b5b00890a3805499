//! The files of LiveChess Cloud, over HTTP and on the disk.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};
use touchmoved::{
    feed::{CloudOptions, FeedConfig},
    publish::FeedEvent,
};

use super::table::{Server, Table, config, get, soon};

fn cloud(dir: Option<&Path>, host: Option<&str>) -> FeedConfig {
    let options = CloudOptions { dir: dir.map(Path::to_owned), host: host.map(str::to_owned) };
    FeedConfig { cloud: Some(options), ..config() }
}

async fn uuid(server: &Server) -> String {
    let list = get(server.livechess, "/api/v1.0/tournaments", &[]).await.json();
    list[0]["uuid"].as_str().unwrap().to_owned()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// From the identifier of a tournament to the moves, as the programs go that read these files.
#[tokio::test]
async fn a_round_is_read_as_its_readers_read_it() {
    let server = Server::with(cloud(None, None)).await;
    let mut one = Table::new(&server.hub, "1");
    let _two = Table::new(&server.hub, "2");
    one.play("e2e4");
    one.press(5395, 5400);
    let uuid = uuid(&server).await;
    let ask = async |path: &str| get(server.http, path, &[("Host", "board.example:8080")]).await;

    let meta = ask(&format!("/meta/{uuid}")).await.json();
    assert_eq!(meta["format"], "1", "a text");
    assert!(meta["host"].as_str().is_some_and(|host| !host.is_empty()));
    let tournament = ask(&format!("/get/{uuid}/tournament.json")).await.json();
    let wanted = json!({"id": "Test Open", "name": "Test Open", "location": null, "country": null, "website": null,
        "rules": "STANDARD", "chess960": "STANDARD", "timecontrol": null,
        "rounds": [{"count": 2, "live": 1}], "eboards": ["90001", "90002"]});
    assert_eq!((&tournament, keys(&tournament)), (&wanted, keys(&wanted)));

    let index = ask(&format!("/get/{uuid}/round-1/index.json")).await.json();
    assert_eq!((keys(&index), &index["date"]), (vec!["date", "pairings"], &Value::Null));
    let first = &index["pairings"][0];
    assert_eq!(keys(first), ["white", "black", "result", "live"]);
    assert_eq!(keys(&first["white"]), ["fname", "mname", "lname", "title", "federation", "gender", "fideid"]);
    assert_eq!((&first["result"], &first["live"]), (&json!("*"), &json!(true)));
    assert_eq!(index["pairings"][1]["live"], false, "nothing is played there yet");

    let address = format!("/get/{uuid}/round-1/game-1.json?poll");
    let answer = ask(&address).await;
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    let game = answer.json();
    let wanted = ["live", "serialNr", "firstMove", "chess960", "result", "comment", "clock", "moves"];
    assert_eq!(keys(&game), wanted);
    assert_eq!(
        (&game["chess960"], &game["moves"], &game["result"]),
        (&json!(518), &json!(["e4 5395"]), &Value::Null)
    );
    assert!(game["firstMove"].as_u64().is_some_and(|ms| ms > 1_600_000_000_000), "{game}");
    assert!(game["clock"]["time"].is_u64());
    let second = ask(&format!("/get/{uuid}/round-1/game-2.json")).await.json();
    assert_eq!(
        (&second["firstMove"], &second["clock"], &second["moves"]),
        (&json!(0), &Value::Null, &json!([]))
    );

    let index_address = format!("/get/{uuid}/round-1/index.json");
    let tag = ask(&index_address).await.header("etag").unwrap().to_owned();
    assert_eq!(get(server.http, &index_address, &[("If-None-Match", &tag)]).await.status, 304);
    for path in
        ["round-2/index.json", "round-1/game-3.json", "round-1/game-0.json", "round-x/index.json", "x.json"]
    {
        assert_eq!(ask(&format!("/get/{uuid}/{path}")).await.status, 404, "{path}");
    }
    assert_eq!(ask("/get/00000000-0000-4000-8000-000000000001/tournament.json").await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn without_the_table_nothing_is_served() {
    let server = Server::start().await;
    let _table = Table::new(&server.hub, "1");
    let uuid = uuid(&server).await;
    assert_eq!(get(server.http, &format!("/get/{uuid}/tournament.json"), &[]).await.status, 404);
    server.stop().await;
}

/// Every file below a directory, by its path.
fn tree(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

#[tokio::test]
async fn the_same_files_are_on_the_disk_and_earlier_rounds_stay() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::with(cloud(Some(dir.path()), Some("boards.example"))).await;
    let mut one = Table::new(&server.hub, "1");
    let _two = Table::new(&server.hub, "2");
    one.play("e2e4");
    one.press(5395, 5400);
    let uuid = uuid(&server).await;
    let game = dir.path().join(format!("get/{uuid}/round-1/game-1.json"));
    soon(async {
        while !fs::read_to_string(&game).is_ok_and(|text| text.contains("\"e4 5395\"")) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    // A result without a move on the second board.
    server.hub.publish("2", vec![FeedEvent::Result { result: "1-0", termination: Some("abandoned") }]);
    server.stop().await;
    let files = tree(dir.path());
    let names: Vec<&str> =
        files.keys().map(|name| name.rsplit(&format!("{uuid}/")).next().unwrap()).collect();
    let meta = format!("meta/{uuid}");
    let wanted =
        ["round-1/game-1.json", "round-1/game-2.json", "round-1/index.json", "tournament.json", &meta];
    assert_eq!(names, wanted);
    let json = |name: &str| -> Value { serde_json::from_str(&files[name]).unwrap() };
    assert_eq!(json(&meta), json!({"host": "boards.example", "format": "1"}));
    assert_eq!(json(&format!("get/{uuid}/round-1/index.json"))["pairings"][1]["result"], "1-0");
    assert_eq!(json(&format!("get/{uuid}/round-1/game-2.json"))["result"], "WHITEWIN");

    // The next round, in a daemon that knows nothing of the first one.
    let server = Server::with(cloud(Some(dir.path()), None)).await;
    let table = Table::new(&server.hub, "1");
    let mut state = table.state();
    state.tags.round = Some("2".to_owned());
    server.hub.set(state);
    server.stop().await;
    let files = tree(dir.path());
    let tournament: Value = serde_json::from_str(&files[&format!("get/{uuid}/tournament.json")]).unwrap();
    assert_eq!(tournament["rounds"], json!([{"count": 2, "live": 0}, {"count": 1, "live": 0}]));
    assert!(files.contains_key(&format!("get/{uuid}/round-1/game-1.json")));
    assert!(files.contains_key(&format!("get/{uuid}/round-2/game-1.json")));
}
