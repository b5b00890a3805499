//! Whether the system's clock is synchronised, and how wrong it may be.
//!
//! The kernel knows, but to ask it needs a system call that the service is kept from (`ProtectClock=`) and that no
//! safe library offers for reading. So those are asked who discipline it: systemd-timesyncd by its file and
//! `timedatectl`, which also tells what the kernel says whoever disciplines it, and chrony by `chronyc`.

mod answers;

use std::{
    io::Read as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use crate::sysclock;

/// Time for the answer of another program.
const ANSWER: Duration = Duration::from_secs(3);

/// What is known of the system's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeSource {
    /// It is synchronised, as this says.
    Synchronised(&'static str),
    /// It is not, as this says.
    Free(&'static str),
    /// Nobody could say; why.
    Unknown(String),
}

/// The same with an estimate of the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeState {
    /// Whether it is synchronised, and who says so.
    pub source: TimeSource,
    /// By how much UTC may be wrong at most, in microseconds, where somebody estimates it.
    pub error_us: Option<u64>,
}

/// Who says whether the time is synchronised. Takes up to some seconds where programs do not answer.
pub fn look() -> TimeSource {
    if Path::new("/run/systemd/timesync/synchronized").exists() {
        return TimeSource::Synchronised("systemd-timesyncd");
    }
    let timedatectl = answer("timedatectl", &["show", "--property=NTPSynchronized", "--value"]);
    match timedatectl.as_deref().map(str::trim) {
        Ok("yes") => return TimeSource::Synchronised("timedatectl"),
        Ok("no") => return TimeSource::Free("timedatectl"),
        _ => {}
    }
    match answer("chronyc", &["-n", "tracking"]) {
        Ok(text) if text.contains("Not synchronised") => TimeSource::Free("chrony"),
        Ok(text) if text.contains("Leap status") => TimeSource::Synchronised("chrony"),
        _ => TimeSource::Unknown(match timedatectl {
            Ok(_) => "timedatectl does not say".to_owned(),
            Err(reason) => reason,
        }),
    }
}

/// The same, with the error that is estimated.
pub fn estimate() -> TimeState {
    let source = look();
    let error_us = matches!(source, TimeSource::Synchronised(_)).then(error_us).flatten();
    TimeState { source, error_us }
}

fn error_us() -> Option<u64> {
    let chrony = answer("chronyc", &["-c", "-n", "tracking"]).ok();
    chrony.as_deref().and_then(answers::of_chrony).or_else(|| {
        let text = answer("timedatectl", &["show-timesync", "--property=NTPMessage", "--value"]).ok()?;
        answers::of_timesyncd(&text)
    })
}

/// What another program prints, or why it prints nothing.
fn answer(program: &str, args: &[&str]) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    let end = sysclock::monotonic().plus_micros(u64::try_from(ANSWER.as_micros()).unwrap_or(u64::MAX));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if sysclock::monotonic() < end => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} does not answer"));
            }
        }
    };
    let mut text = String::new();
    if let Some(mut out) = child.stdout.take() {
        let _ = out.read_to_string(&mut text);
    }
    if status.success() { Ok(text) } else { Err(format!("{program} fails ({status})")) }
}
