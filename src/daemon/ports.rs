//! Serial ports that two boards of one configuration name, as far as their devices are there.

use std::collections::BTreeMap;

use crate::{
    config::{BoardConfig, SensorConfig},
    sensor::serial::place::Roots,
    session::event::Unit,
};

use super::source::port_of;

/// For each port that several boards name, whatever names they give it, what is wrong and what to do.
pub fn shared(boards: &[BoardConfig], roots: &Roots) -> Vec<String> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for board in boards {
        for unit in Unit::ALL {
            let Some(alone) = board.unit(unit) else { continue };
            let (SensorConfig::Dgt { port, .. } | SensorConfig::Peg { port, .. }) = &alone.sensor else {
                continue;
            };
            // A port that is not there is told when it is opened.
            let Some(device) = port_of(port).sight(roots).ok().and_then(|seen| seen.device()) else {
                continue;
            };
            let which = if board.second.is_some() { format!(":{}", unit.as_str()) } else { String::new() };
            found.entry(device).or_default().push(format!("{}{which} ({port})", board.id));
        }
    }
    let shared = found.into_values().filter(|boards| boards.len() > 1);
    shared
        .map(|boards| {
            format!(
                "the boards {} name one device; one port, one board: give each the name of its own port (`ls -l \
                 /dev/serial/by-id` shows what is on which port)",
                boards.join(" and ")
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn two_names_of_one_device_are_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let link = |name: &str, device: &str| {
            let path = dir.path().join(name);
            symlink(device, &path).unwrap();
            path.display().to_string()
        };
        let (by_id, udev, other) =
            (link("by-id", "/dev/null"), link("udev", "/dev/null"), link("x", "/dev/zero"));
        let text = format!(
            "[[board]]\nid = \"1\"\nsensor.dgt = {{ port = \"{by_id}\" }}\n\
             [[board]]\nid = \"2\"\nsensor.dgt = {{ port = \"{other}\" }}\n\
             second.sensor.peg = {{ port = \"{udev}\" }}\n\
             [[board]]\nid = \"3\"\nsensor.peg = {{ port = \"/dev/not-there\" }}\n"
        );
        let config = crate::config::parse("t.toml", &text).unwrap();
        let told = shared(&config.boards, &Roots::default());
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(
            told[0].starts_with(&format!("the boards 1 ({by_id}) and 2:B ({udev}) name one device; ")),
            "{told:#?}"
        );
        let apart = shared(&config.boards[1..], &Roots::default());
        assert!(apart.is_empty(), "{apart:#?}");
    }
}
