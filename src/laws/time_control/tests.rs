use super::*;

fn read(text: &str) -> GameControl {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    text.parse::<GameControl>().unwrap_err().to_string()
}

#[test]
fn what_people_write_is_what_the_notation_says() {
    assert_eq!(read("5min + 3s fischer"), read("5min + 3s cumulative"));
    for (friendly, notation) in [
        ("90min/40 + 30min + 30s", "40/5400+30:1800+30"),
        ("90 min for 40 moves + 30 min + 30 sec a move", "40/5400+30:1800+30"),
        ("2h/40 + 1h/20 + 30min", "40/7200:20/3600:1800"),
        ("1h30min + 10s", "5400+10"),
        ("1 hour 30 minutes", "5400"),
        ("3min + 2s", "180+2"),
        ("25min + 10s delay", "1500d10"),
        ("5min + 3s bronstein", "300b3"),
        ("10min", "600"),
        (" 300 ", "300"),
    ] {
        assert_eq!(read(friendly).to_string(), notation, "{friendly}");
        assert_eq!(read(notation), read(friendly));
    }
}

#[test]
fn words_say_whether_it_is_minutes_or_seconds() {
    for (text, words) in [
        ("5400+30", Some("1h30min + 30s")),
        ("90+30", Some("1min30s + 30s")),
        ("3+2", Some("3s + 2s")),
        ("40/5400+30:1800+30", Some("1h30min/40 + 30min + 30s")),
        ("40/300:45", Some("5min/40 + 45s + 0s")),
        ("300d3", Some("5min + 3s delay")),
        ("300b3|240b3", Some("5min + 3s bronstein | 4min + 3s bronstein")),
        ("40/0d5:600d5", Some("0s/40 + 10min + 5s delay")),
        ("40/5400:1800+30", None),
    ] {
        let control = read(text);
        assert_eq!(control.in_words().as_deref(), words, "{text}");
        if let Some(words) = control.common().and_then(|control| control.in_words()) {
            assert_eq!(read(&words).to_string(), text);
        }
    }
}

#[test]
fn each_side_may_have_its_own() {
    let odds = read("300|240+2");
    assert_eq!(odds.to_string(), "300|240+2");
    assert_eq!((odds.pgn(), odds.lichess()), (None, None));
    assert_eq!(odds.class_ms(), 360_000);
    assert_eq!(read("300|300").to_string(), "300");
    assert!(refused("1|2|3").contains("one |"));
}

#[test]
fn pgn_says_what_it_can() {
    let pgn = |text: &str| read(text).pgn();
    assert_eq!(pgn("40/5400+30:1800+30").as_deref(), Some("40/5400+30:1800+30"));
    assert_eq!(pgn("300d0").as_deref(), Some("300"));
    assert_eq!((pgn("300d3"), pgn("300b3"), pgn("40/5400+30:1800d5")), (None, None, None));
}

#[test]
fn lichess_reads_minutes_up_to_180_and_seconds_above() {
    for (text, told) in [
        ("5400+30", Some("90+30")),
        ("180+2", Some("3+2")),
        ("10800", Some("180+0")),
        ("14400+5", Some("14400+5")),
        ("200", Some("200+0")),
        // Ninety seconds would be read as an hour and a half.
        ("90+1", None),
        ("40/5400+30:1800+30", Some("90+30")),
        ("300d5", None),
        ("300b5", None),
        ("0+10", Some("0+10")),
    ] {
        assert_eq!(read(text).lichess().as_deref(), told, "{text}");
    }
}

#[test]
fn what_is_refused_says_what_would_be_right() {
    for text in ["*180", "hourglass 3min", "Hourglass"] {
        assert!(refused(text).contains("no time control of the Laws"), "{text}");
    }
    assert!(refused("5400+30:1800").contains("needs a number of moves"));
    assert!(refused("90min + 30min + 30s").contains("needs a number of moves"));
    assert!(refused("90min + thirty").contains("\"90min/40 + 30min + 30s\""));
    assert!(refused("").contains("40/5400+30:1800+30"));
    assert!(refused("0/300").contains("from 1 to 500"));
    assert!(refused("0").contains("from 1 to 86400"));
    assert!(refused("40h").contains("from 0 to 86400"));
    assert!(refused("99999999999999999999h").contains("from 0 to 86400"));
}

proptest::proptest! {
    /// Any text is a control that is written and read back, or refused.
    #[test]
    fn any_text_is_read_or_refused(text in "[0-9+/:|dbhmins a-c*-]{0,24}", any in "\\PC{0,16}") {
        for text in [text, any] {
            if let Ok(control) = text.parse::<GameControl>() {
                proptest::prop_assert_eq!(control.to_string().parse::<GameControl>(), Ok(control));
            }
        }
    }
}

#[test]
fn whatever_was_read_is_written_back_and_read_again() {
    for text in ["1/0+1:2/3d4:5b6", "500/86400+3600", "90min/40+30s", "40/5400|1800b5"] {
        let control = read(text);
        assert_eq!(read(&control.to_string()), control);
    }
}
