//! What a device tells of itself.

use serde_json::Value;

use super::Watch;

/// The fault of a port that cannot be opened, with its error.
const PORT: &str = "port";
/// Most complaints that are kept.
const COMPLAINTS: usize = 5;
/// Words of a device that say which one it is and how it is.
const IDENTITY: [&str; 14] = [
    "version",
    "serial",
    "long_serial",
    "trademark",
    "hardware_version",
    "bus_address",
    "battery",
    "clock_battery",
    "clock_version",
    "orientation",
    "firmware",
    "protocol",
    "name",
    "model",
];

impl Watch {
    pub(super) fn device(&mut self, value: &Value) {
        let Some(object) = value.as_object() else { return };
        let number = |key: &str| object.get(key).and_then(Value::as_u64);
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        if let Some(error) = text("error") {
            self.complain(error);
            if text("fault") == Some(PORT) {
                self.port = Some(error.to_owned());
            }
        }
        if let Some(findings) = object.get("self_test").and_then(Value::as_array) {
            self.wiring = findings.iter().filter_map(finding).collect();
        }
        match text("what") {
            Some("garbled-bytes" | "invalid-message") => {
                self.garbled += number("n").unwrap_or(1);
                return;
            }
            Some(_) => return,
            None => {}
        }
        match text("clock") {
            Some("absent") => self.clock_absent = Some(true),
            Some(_) => self.clock_absent = Some(false),
            None => {}
        }
        if let Some(total) = number("overruns_total") {
            self.scan.overruns = Some(total);
            self.scan.worst_us = self.scan.worst_us.max(number("worst_us"));
        }
        if let (Some(scans), Some(span)) = (number("scans"), number("span_us").filter(|span| *span > 0)) {
            self.scan.per_10_s = Some(scans.saturating_mul(10_000_000) / span);
            self.scan.overruns.get_or_insert(0);
        }
        for key in IDENTITY {
            if let Some(value) = object.get(key) {
                self.identity.insert(key.to_owned(), value.clone());
            }
        }
    }

    fn complain(&mut self, text: &str) {
        if self.complaints.len() < COMPLAINTS && !self.complaints.iter().any(|known| known == text) {
            self.complaints.push(text.to_owned());
        }
    }
}

/// A finding of the self-test of a matrix in words.
fn finding(value: &Value) -> Option<String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    Some(format!("{} at {}", text("finding")?, text("place")?))
}
