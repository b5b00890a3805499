//! `/api/stream`: the objects over WebSocket, one a message. The query of the address watches at once; requests
//! are those of the lines over TCP, one a message.

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

use super::{Talk, error, version, why};
use crate::{
    feed::{
        hub::{Ended, Hub},
        metrics::ClientGuard,
        serve::ended,
    },
    wire::stream::{MAX_REQUEST, Watch},
};

/// A ping at this interval keeps a quiet connection open and finds a dead one.
const PING: Duration = Duration::from_secs(20);
/// What the library reads at a time. Its default would cost 128 KiB a client.
const READ_BUFFER: usize = 1024;

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
    let reason = loop {
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
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            object = talk.next() => match object {
                Ok(object) => next.push(object),
                Err(reason) => break reason,
            },
            () = ended(&mut ending) => break Ended::Closed,
            _ = ping.tick() => {
                if socket.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return;
                }
            }
        }
    };
    let code = match reason {
        Ended::Lagged(_) => {
            metrics.count(|metrics| &metrics.lagged);
            close_code::POLICY
        }
        Ended::Closed => close_code::AWAY,
    };
    let _ = socket.send(Message::Text(talk.goodbye(why(reason)).into())).await;
    let _ = socket.send(Message::Close(Some(CloseFrame { code, reason: why(reason).into() }))).await;
}
