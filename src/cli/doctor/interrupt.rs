//! Ctrl-C and the signals that end a view, so that it can put the terminal right.

use tokio::signal::unix::{SignalKind, signal};

use crate::sensor::Stop;

/// Set at the first SIGINT, SIGTERM or SIGHUP from now on.
///
/// # Errors
/// The system gives no handler or no thread.
pub(super) fn stop_at_signals() -> std::io::Result<Stop> {
    let stop = Stop::default();
    let ending = stop.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _guard = runtime.enter();
        [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
            .into_iter()
            .map(signal)
            .collect::<std::io::Result<Vec<_>>>()?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            let waits = signals.into_iter().map(|mut signal| Box::pin(async move { signal.recv().await }));
            futures_util::future::select_all(waits).await;
        });
        ending.set();
    })?;
    Ok(stop)
}
