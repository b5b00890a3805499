//! Every setting by its name, and the tables against what the editions say.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;

fn standard(rules: Rules) -> LawSettings {
    LawSettings::preset(rules, Discipline::Standard, Supervision::Basic)
}

/// A value other than the one that a setting has.
fn other(key: &LawKey, settings: &LawSettings) -> Value {
    let now = key.value(settings);
    match key.expected {
        Expected::Number { min, max, .. } => json!(if now == json!(min) { max } else { min }),
        Expected::Boolean => json!(now != json!(true)),
        Expected::Word(words) => json!(words.iter().find(|word| now != json!(word))),
    }
}

#[test]
fn every_name_is_known_once_and_its_last_part_too() {
    let names: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
    let places: BTreeSet<_> = KEYS.iter().map(|key| key.place).collect();
    assert_eq!((names.len(), places.len()), (KEYS.len(), KEYS.len()));
}

#[test]
fn every_setting_is_read_back_as_it_was_set() {
    for table in presets() {
        for key in KEYS {
            let mut settings = table;
            let value = other(key, &settings);
            key.set(&mut settings, &value).unwrap();
            assert_eq!(key.value(&settings), value, "{}", key.name);
            // Nothing else changed: set back, it is the table again.
            if !key.value(&table).is_null() {
                key.set(&mut settings, &key.value(&table)).unwrap();
                assert_eq!(settings, table, "{}", key.name);
            }
        }
    }
}

#[test]
fn every_value_of_a_table_is_one_that_could_be_set() {
    for table in presets() {
        for key in KEYS {
            let value = key.value(&table);
            assert!(value.is_null() || key.expected.fits(&value), "{} {value}", key.name);
        }
    }
}

#[test]
fn a_refusal_says_the_name_what_was_found_and_what_is_expected() {
    let refused = |name, value| standard(Rules::Ua).set(name, &value).unwrap_err().to_string();
    assert_eq!(
        refused("draw.claim_lost_on", json!("press")),
        "setting \"draw.claim_lost_on\": expected \"move\" or \"touch\", found \"press\""
    );
    assert_eq!(
        refused("illegal.loss_at", json!(0)),
        "setting \"illegal.loss_at\": expected a whole number from 1 to 100, found 0"
    );
    assert_eq!(
        refused("illegal.bonus_ms", json!(1.5)),
        "setting \"illegal.bonus_ms\": expected a whole number of milliseconds from 0 to 3600000, found 1.5"
    );
    assert_eq!(
        refused("draw.auto_75", json!("yes")),
        "setting \"draw.auto_75\": expected true or false, found \"yes\""
    );
    assert!(refused("draw.auto_76", json!(true)).starts_with("unknown setting \"draw.auto_76\""));
}

#[test]
fn the_editions_differ_where_they_should() {
    let (old, new, ua) = (standard(Rules::Fide2005), standard(Rules::Fide2023), standard(Rules::Ua));
    assert_eq!((old.illegal.loss_at, new.illegal.loss_at), (3, 2));
    assert_eq!((old.default_time_s, new.default_time_s), (3600, 0));
    assert_eq!((old.implied_by_next_move, new.implied_by_next_move), (false, true));
    let differing = KEYS.iter().filter(|key| key.value(&new) != key.value(&ua)).map(|key| key.name);
    assert_eq!(
        differing.collect::<Vec<_>>(),
        ["rules.adjournment", "adjournment.early", "adjournment.absent_both_clock"]
    );
}

#[test]
fn rapid_and_blitz_have_shorter_penalties_and_their_own_finality() {
    let preset = LawSettings::preset;
    for discipline in [Discipline::Rapid, Discipline::Blitz] {
        for supervision in [Supervision::Full, Supervision::Basic] {
            let settings = preset(Rules::Fide2023, discipline, supervision);
            assert_eq!((settings.illegal.bonus_ms, settings.draw.incorrect_claim_bonus_ms), (60_000, 60_000));
            assert_eq!(settings.discipline, discipline);
            let basic = supervision == Supervision::Basic;
            assert_eq!(settings.illegal.fast_finality == IllegalFinality::ObservedOrClaimed, basic);
            assert_eq!(settings.setup_claim_limit_moves, if basic { 10 } else { 0 });
        }
    }
    let blitz = preset(Rules::Fide2005, Discipline::Blitz, Supervision::Basic);
    assert_eq!((blitz.illegal.loss_at, blitz.quickplay), (1, Quickplay::Off));
    assert_eq!(blitz.flag_alert(), Alert::Journal);
}

#[test]
fn auto_follows_the_time_control_and_the_bounds_in_force() {
    let resolve = |rules, control: &str, changes: &[(&str, &Value)]| {
        LawSettings::resolve(rules, DisciplineSetting::Auto, Supervision::Basic, control, changes)
            .map(|settings| settings.discipline)
    };
    assert_eq!(resolve(Rules::Fide2023, "180+2", &[]), Ok(Discipline::Blitz));
    assert_eq!(resolve(Rules::Fide2023, "600", &[]), Ok(Discipline::Blitz));
    assert_eq!(resolve(Rules::Fide2005, "600", &[]), Ok(Discipline::Blitz));
    assert_eq!(resolve(Rules::Fide2005, "3600", &[]), Ok(Discipline::Rapid));
    assert_eq!(resolve(Rules::Fide2023, "3600", &[]), Ok(Discipline::Standard));
    assert_eq!(resolve(Rules::Fide2023, "40/5400+30:1800+30", &[]), Ok(Discipline::Standard));
    let longer = json!(3_600_000);
    assert_eq!(resolve(Rules::Fide2023, "3600", &[("class.rapid_max_ms", &longer)]), Ok(Discipline::Rapid));
    let error = resolve(Rules::Fide2023, "", &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("setting \"discipline\": \"auto\" is found from time_control, found \"\""),
        "{error}"
    );
}
