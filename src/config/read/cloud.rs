//! Reads `[cloud]`.

use std::path::Path;

use super::{path, release, section::Section};
use crate::{
    config::CloudConfig,
    publish::release::{Delay, Policy, Threshold},
};

/// The files of the Cloud, and what leaves when. They are served where the web page is, so they stay behind as it
/// does unless they say something else; a move without its time is taken for a wrong one there, so that they wait
/// for completed moves.
pub(super) fn cloud(
    root: &Section<'_>,
    base: &Path,
    http: bool,
    otherwise: Delay,
) -> (Option<CloudConfig>, Policy) {
    let section = root.section("cloud");
    let enabled = section.boolean("enabled").unwrap_or(false);
    let dir = path(&section, "dir", base);
    if dir.as_ref().is_some_and(|dir| dir.as_os_str() == "-") {
        section.problem("dir", "expected a directory, found \"-\"");
    }
    let host = section.text("host").filter(|text| {
        let fits = text.bytes().all(|c| c.is_ascii_alphanumeric() || b".-:[]".contains(&c));
        if !fits {
            let form = "a host such as \"boards.example\" or \"192.0.2.7:8080\"";
            section.problem("host", format!("expected {form}, found {text:?}"));
        }
        fits
    });
    let policy = release::policy(&section, Policy { threshold: Threshold::Completed, delay: otherwise });
    if enabled && !http && dir.is_none() {
        section.problem("enabled", "[http] is switched off, which would serve the files; set cloud.dir, too");
    }
    section.finish();
    (enabled.then(|| CloudConfig { dir, host: host.map(str::to_owned) }), policy)
}
