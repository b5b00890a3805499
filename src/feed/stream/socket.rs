//! `/api/stream`: the objects over WebSocket, one a message. The query of the address watches at once; requests
//! are those of the lines over TCP, one a message. And how any WebSocket of the daemon ends.

use std::time::Duration;

use axum::{
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket, close_code},
    },
    response::Response,
};
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval},
};
use tungstenite::error::ProtocolError;

use super::{Talk, error, version, why};
use crate::{
    feed::{
        hub::{Ended, Hub},
        metrics::{ClientGuard, Metrics},
        serve::ended,
    },
    wire::stream::{MAX_REQUEST, Watch},
};

/// A ping at this interval keeps a quiet connection open and finds a dead one.
const PING: Duration = Duration::from_secs(20);
/// What the library reads at a time. Its default would cost 128 KiB a client.
const READ_BUFFER: usize = 1024;

/// What a client sent that no connection can go on after: the code of the close frame, and the reason in words.
/// Nothing where the client is gone.
pub(in crate::feed) fn fault(error: axum::Error, longest: usize) -> Option<(u16, String)> {
    let told = match error.into_inner().downcast_ref::<tungstenite::Error>()? {
        tungstenite::Error::Capacity(_) => {
            (close_code::SIZE, format!("a message has {longest} bytes at most"))
        }
        tungstenite::Error::Utf8(_) => (close_code::INVALID, "a text message is text in UTF-8".to_owned()),
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => return None,
        tungstenite::Error::Protocol(error) => (close_code::PROTOCOL, error.to_string()),
        _ => return None,
    };
    Some(told)
}

/// Ends a connection with a close frame.
pub(in crate::feed) async fn part(mut socket: WebSocket, code: u16, mut reason: String) {
    // A control frame has 125 bytes at most, two of them for the code.
    reason.truncate(reason.floor_char_boundary(123));
    let _ = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
}

/// Serves a client of the stream.
pub(in crate::feed) fn serve(
    upgrade: WebSocketUpgrade,
    hub: Hub,
    ending: watch::Receiver<bool>,
    watch: Option<Watch>,
) -> Response {
    small(upgrade, MAX_REQUEST).on_upgrade(move |socket| talk(socket, hub, ending, watch))
}

/// Small buffers, for many clients that say little.
pub(in crate::feed) fn small(upgrade: WebSocketUpgrade, longest: usize) -> WebSocketUpgrade {
    upgrade
        .max_message_size(longest)
        .max_frame_size(longest)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
}

async fn talk(mut socket: WebSocket, hub: Hub, mut ending: watch::Receiver<bool>, watch: Option<Watch>) {
    let metrics = hub.metrics().clone();
    let _guard =
        ClientGuard::new(&metrics, |metrics| &metrics.socket_clients, |metrics| &metrics.socket_total);
    let mut talk = Talk::new(hub);
    let mut next = vec![version()];
    if let Some(watch) = watch {
        next.push(talk.watch(&watch).unwrap_or_else(|missing| error(&missing.to_string())));
    }
    let mut ping = interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ping.reset();
    let (code, reason) = loop {
        for text in next.drain(..) {
            if socket.send(Message::Text(text.into())).await.is_err() {
                return;
            }
        }
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => next.push(talk.ask(text.as_str())),
                Some(Ok(Message::Binary(_))) => next.push(error("expected a text message with one request")),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => return,
                Some(Err(error)) => match fault(error, MAX_REQUEST) {
                    Some((code, reason)) => break (code, reason),
                    None => return,
                },
            },
            object = talk.next() => match object {
                Ok(object) => next.push(object),
                Err(ended) => break parting(ended, &metrics),
            },
            () = ended(&mut ending) => break parting(Ended::Closed, &metrics),
            _ = ping.tick() => {
                if socket.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return;
                }
            }
        }
    };
    let _ = socket.send(Message::Text(talk.goodbye(&reason).into())).await;
    part(socket, code, reason).await;
}

/// How a connection ends that the daemon ends.
fn parting(ended: Ended, metrics: &Metrics) -> (u16, String) {
    let code = match ended {
        Ended::Lagged(_) => {
            metrics.count(|metrics| &metrics.lagged);
            close_code::POLICY
        }
        Ended::Closed => close_code::AWAY,
    };
    (code, why(ended).to_owned())
}
