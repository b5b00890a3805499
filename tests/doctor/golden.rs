//! The shape of the JSON object: every key with the type of its value, as docs/doctor.md promises it.

use serde_json::{Value, json};

use super::{Bench, RAW, log, sensor_log};

/// A value with every text, number and verdict replaced by its type; of a list the first element.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => json!("null"),
        Value::Bool(_) => json!("bool"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
        Value::Array(list) => list.first().map_or_else(|| json!([]), |first| json!([shape(first)])),
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
    }
}

#[test]
fn the_object_has_the_keys_that_are_promised() {
    let dir = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"us":0,"occupied":"ffff00000000ffff"}"#,
        r#"{"us":10,"device":{"version":"1.2"}}"#,
        r#"{"us":20,"device":{"source":"matrix","scans":1998,"span_us":10000000}}"#,
        r#"{"us":30,"times":{"white_ms":5400000,"black_ms":5399000,"running":"white"}}"#,
    ];
    let bench = Bench::quiet(&sensor_log(&log(dir.path(), RAW, &lines)));
    let report = bench.report(&[]);
    let board = &report["boards"][0];
    assert_eq!(
        shape(board),
        json!({
            "board": "text",
            "sensor": "text",
            "identity": {"version": "text"},
            "listened_ms": "number",
            "occupied": "text",
            "pieces": "null",
            "missing": [],
            "extra": [],
            "chattering": [],
            "edges": "number",
            "closing": {"changes": "number", "histogram": ["number"], "longest_us": "number", "worst": "null",
                "configured_ms": "number", "suggested_ms": "null"},
            "opening": {"changes": "number", "histogram": ["number"], "longest_us": "number", "worst": "null",
                "configured_ms": "number", "suggested_ms": "null"},
            "scans_per_10_s": "number",
            "overruns": "number",
            "worst_overrun_us": "null",
            "white_ms": "number",
            "black_ms": "number",
            "running": "text",
        })
    );
    assert_eq!(
        (&board["occupied"], &board["scans_per_10_s"], &board["running"]),
        (&json!("ffff00000000ffff"), &json!(1998), &json!("white"))
    );
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["doctor", "program", "host", "config", "verdict", "checks", "boards"]);
    assert_eq!(report["doctor"], 1);
    let mut topics = Vec::new();
    for check in report["checks"].as_array().unwrap() {
        let keys: Vec<&String> = check.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check", "board", "verdict", "where", "what", "remedy", "command"]);
        let verdict = check["verdict"].as_str().unwrap();
        assert!(["ok", "not-run", "warning", "failed"].contains(&verdict), "{check:#}");
        topics.push(check["check"].as_str().unwrap());
    }
    assert_eq!(
        topics,
        [
            "configuration",
            "daemon",
            "journals",
            "pgn",
            "disk",
            "tokens",
            "http",
            "livechess",
            "time",
            "temperature",
            "power",
            "device",
            "squares",
            "chatter",
            "bounce",
            "scan",
            "clock",
        ]
    );
}

/// The manual names every key and every check.
#[test]
fn the_manual_names_every_key_and_every_check() {
    let manual = include_str!("../../docs/doctor.md");
    let figures = serde_json::to_value(touchmoved::doctor::BoardFigures::default()).unwrap();
    let bounce = serde_json::to_value(touchmoved::doctor::figures::BounceFigures::default()).unwrap();
    let keys = [figures, bounce]
        .map(|value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>())
        .concat();
    for key in keys {
        assert!(manual.contains(&format!("`{key}`")), "{key}");
    }
    for topic in touchmoved::doctor::Topic::ALL {
        assert!(manual.contains(&format!("| `{}` |", topic.as_str())), "{}", topic.as_str());
    }
}
