//! Counters of the daemon in the text form of Prometheus. They belong to the operator.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::publish::{BoardState, FeedEvent};

/// Counters of the feeds. All grow only, but the numbers of clients.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Events that went out to the feeds.
    pub events: AtomicU64,
    /// Moves that went out to the feeds.
    pub moves: AtomicU64,
    /// Published plies that were taken back.
    pub undone: AtomicU64,
    /// Published plies that were corrected.
    pub corrected: AtomicU64,
    /// Clients of `/events` now.
    pub sse_clients: AtomicU64,
    /// Clients of `/events` since the start.
    pub sse_total: AtomicU64,
    /// Clients of `/api/stream` now.
    pub socket_clients: AtomicU64,
    /// Clients of `/api/stream` since the start.
    pub socket_total: AtomicU64,
    /// Clients of the lines over TCP now.
    pub line_clients: AtomicU64,
    /// Clients of the lines over TCP since the start.
    pub line_total: AtomicU64,
    /// LiveChess clients now.
    pub livechess_clients: AtomicU64,
    /// LiveChess clients since the start.
    pub livechess_total: AtomicU64,
    /// Programs that read a board as a DGT board now.
    pub dgt_clients: AtomicU64,
    /// Programs that have read a board as a DGT board since the start.
    pub dgt_total: AtomicU64,
    /// Clients that were let go because they read too slowly.
    pub lagged: AtomicU64,
    /// Connections that were closed because there were too many.
    pub refused: AtomicU64,
    /// PGN files written.
    pub pgn_written: AtomicU64,
    /// PGN files that could not be written; tried again later.
    pub pgn_failed: AtomicU64,
}

/// Picks a counter.
type Counter = fn(&Metrics) -> &AtomicU64;

/// Counts a client for as long as it lives.
#[derive(Debug)]
pub(crate) struct ClientGuard {
    metrics: Arc<Metrics>,
    now: Counter,
}

impl ClientGuard {
    pub(crate) fn new(metrics: &Arc<Metrics>, now: Counter, total: Counter) -> ClientGuard {
        metrics.count(now);
        metrics.count(total);
        ClientGuard { metrics: Arc::clone(metrics), now }
    }
}

impl Drop for ClientGuard {
    fn drop(&mut self) {
        (self.now)(&self.metrics).fetch_sub(1, Relaxed);
    }
}

impl Metrics {
    /// Adds one.
    pub fn count(&self, counter: impl Fn(&Metrics) -> &AtomicU64) {
        counter(self).fetch_add(1, Relaxed);
    }

    pub(crate) fn event(&self, event: &FeedEvent) {
        self.events.fetch_add(1, Relaxed);
        match event {
            FeedEvent::Move { .. } => self.count(|metrics| &metrics.moves),
            FeedEvent::Undo { n, .. } => {
                self.undone.fetch_add(u64::try_from(*n).unwrap_or(u64::MAX), Relaxed);
            }
            FeedEvent::Correct { .. } => self.count(|metrics| &metrics.corrected),
            _ => {}
        }
    }

    /// The text that `/metrics` answers.
    pub fn render<'a>(&self, boards: impl IntoIterator<Item = &'a BoardState>) -> String {
        let mut text = String::new();
        let counters: [(&str, &str, &str, &AtomicU64); 18] = [
            ("feed_events_total", "counter", "Events that went out", &self.events),
            ("moves_published_total", "counter", "Moves that went out", &self.moves),
            ("moves_undone_total", "counter", "Published plies taken back", &self.undone),
            ("moves_corrected_total", "counter", "Published plies corrected", &self.corrected),
            ("sse_clients", "gauge", "Clients of /events", &self.sse_clients),
            ("sse_clients_total", "counter", "Clients of /events since the start", &self.sse_total),
            ("stream_clients", "gauge", "Clients of /api/stream", &self.socket_clients),
            ("stream_clients_total", "counter", "Clients of /api/stream since the start", &self.socket_total),
            ("line_clients", "gauge", "Clients of the lines over TCP", &self.line_clients),
            (
                "line_clients_total",
                "counter",
                "Clients of the lines over TCP since the start",
                &self.line_total,
            ),
            ("livechess_clients", "gauge", "LiveChess clients", &self.livechess_clients),
            (
                "livechess_clients_total",
                "counter",
                "LiveChess clients since the start",
                &self.livechess_total,
            ),
            ("dgt_clients", "gauge", "Programs that read a DGT board here", &self.dgt_clients),
            (
                "dgt_clients_total",
                "counter",
                "Programs that read a DGT board here since the start",
                &self.dgt_total,
            ),
            ("clients_lagged_total", "counter", "Clients let go because they read too slowly", &self.lagged),
            ("connections_refused_total", "counter", "Connections over the limit", &self.refused),
            ("pgn_written_total", "counter", "PGN files written", &self.pgn_written),
            ("pgn_failed_total", "counter", "PGN files that could not be written", &self.pgn_failed),
        ];
        for (name, kind, help, value) in counters {
            header(&mut text, name, kind, help);
            let _ = writeln!(text, "touchmoved_{name} {}", value.load(Relaxed));
        }
        let boards: Vec<&BoardState> = boards.into_iter().collect();
        header(&mut text, "board_connected", "gauge", "1 while the link to the board is up");
        for board in &boards {
            let up = u8::from(board.connected);
            let _ = writeln!(text, "touchmoved_board_connected{{board=\"{}\"}} {up}", label(&board.id));
        }
        header(&mut text, "board_plies", "gauge", "Published plies of the game on the board");
        for board in &boards {
            let plies = board.plies.len();
            let _ = writeln!(text, "touchmoved_board_plies{{board=\"{}\"}} {plies}", label(&board.id));
        }
        text
    }
}

pub(super) fn header(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP touchmoved_{name} {help}.");
    let _ = writeln!(text, "# TYPE touchmoved_{name} {kind}");
}

pub(super) fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
