//! `/events`: server-sent events.

use std::{convert::Infallible, time::Duration};

use axum::response::{
    IntoResponse, Response, Sse,
    sse::{Event, KeepAlive},
};
use futures_util::stream;
use tokio::sync::watch;

use super::{KEEP_ALIVE, NoBoard, Reader, encode, goodbye, why};
use crate::{
    feed::{
        hub::{Ended, Hub},
        metrics::ClientGuard,
        serve::ended,
    },
    wire::stream::Watch,
};

/// How long a client of the stream waits before it comes back.
const RETRY: Duration = Duration::from_secs(2);

/// Tells a client what it asked for until it goes, falls behind or the daemon ends.
pub(in crate::feed) fn events(
    hub: Hub,
    ending: watch::Receiver<bool>,
    watch: &Watch,
) -> Result<Response, NoBoard> {
    let reader = Reader::new(&hub, watch)?;
    let metrics = hub.metrics();
    let guard = ClientGuard::new(metrics, |metrics| &metrics.sse_clients, |metrics| &metrics.sse_total);
    let stream = Stream { reader, hub, ending, first: true, over: false, _guard: guard };
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE).text("keep-alive");
    let buffering = [("x-accel-buffering", "no")];
    Ok((buffering, Sse::new(events).keep_alive(keep_alive)).into_response())
}

struct Stream {
    reader: Reader,
    hub: Hub,
    ending: watch::Receiver<bool>,
    first: bool,
    /// Goodbye was said.
    over: bool,
    _guard: ClientGuard,
}

impl Stream {
    /// The next event. A client that fell behind is let go rather than given a gap: it comes back with its last
    /// identifier, and so `goodbye` has none of its own.
    async fn next(&mut self) -> Option<Event> {
        if self.over {
            return None;
        }
        let item = tokio::select! {
            item = self.reader.next() => item,
            () = ended(&mut self.ending) => Err(Ended::Closed),
        };
        match item {
            Ok(item) => {
                let (name, data) = encode(&item);
                let event = Event::default().id(item.id).event(name).data(data);
                Some(if std::mem::take(&mut self.first) { event.retry(RETRY) } else { event })
            }
            Err(reason) => {
                if matches!(reason, Ended::Lagged(_)) {
                    self.hub.metrics().count(|metrics| &metrics.lagged);
                }
                self.over = true;
                Some(Event::default().event("goodbye").data(goodbye(why(reason), self.reader.last())))
            }
        }
    }
}
