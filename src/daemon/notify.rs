//! The service manager: ready, status, watchdog (sd_notify(3)). Without one every call does nothing.

use std::time::Duration;

use sd_notify::NotifyState;

/// Tells that the daemon is ready: sockets bound, journals open, boards served.
pub fn ready(status: &str) {
    send(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Tells in one line how things stand.
pub fn status(status: &str) {
    send(&[NotifyState::Status(status)]);
}

/// Tells that the daemon is ending.
pub fn stopping() {
    send(&[NotifyState::Stopping, NotifyState::Status("ending: writing the journals out")]);
}

/// Tells that every board thread still advances.
pub fn watchdog() {
    send(&[NotifyState::Watchdog]);
}

/// How often the service manager wants to hear [`watchdog`]: half of what it grants.
pub fn watchdog_period() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|limit| limit / 2).filter(|period| !period.is_zero())
}

fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager cannot be told");
    }
}
