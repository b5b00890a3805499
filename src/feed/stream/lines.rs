//! Lines over TCP, in the manner of gpsd: the server speaks first, a client that does not watch is told nothing
//! unasked, one JSON object a line.

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use super::{KEEP_ALIVE, Talk, error, version, why};
use crate::{
    feed::{
        hub::{Ended, Hub},
        metrics::ClientGuard,
        net::{Connection, Limited},
        serve::ended,
    },
    wire::stream::MAX_REQUEST,
};
use axum::serve::Listener as _;

/// Serves clients until the daemon ends. `alive` is held as long as one is served.
pub(in crate::feed) async fn serve(
    mut listener: Limited,
    hub: Hub,
    mut ending: watch::Receiver<bool>,
    alive: mpsc::Sender<()>,
) {
    loop {
        let connection = tokio::select! {
            (connection, _) = listener.accept() => connection,
            () = ended(&mut ending) => return,
        };
        let (hub, ending, alive) = (hub.clone(), ending.clone(), alive.clone());
        tokio::spawn(async move {
            // A client that goes is no trouble.
            let _ = talk(connection, hub, ending).await;
            drop(alive);
        });
    }
}

async fn talk(connection: Connection, hub: Hub, mut ending: watch::Receiver<bool>) -> std::io::Result<()> {
    let metrics = hub.metrics().clone();
    let _guard = ClientGuard::new(&metrics, |metrics| &metrics.line_clients, |metrics| &metrics.line_total);
    let (read, mut write) = tokio::io::split(connection);
    let mut read = BufReader::with_capacity(512, read);
    let mut talk = Talk::new(hub);
    let mut line = Vec::new();
    let mut next = version();
    // A client may be done with asking and go on to listen.
    let mut asks = true;
    let reason = loop {
        next.push_str("\r\n");
        write.write_all(next.as_bytes()).await?;
        let quiet = Instant::now() + KEEP_ALIVE;
        let room = (MAX_REQUEST + 1).saturating_sub(line.len()) as u64;
        tokio::select! {
            // What was read of a line stays in `line` when another branch is taken.
            read = async { (&mut read).take(room).read_until(b'\n', &mut line).await }, if asks => {
                if read? == 0 {
                    if !talk.watches() {
                        return Ok(());
                    }
                    asks = false;
                    next.clear();
                    continue;
                }
                let whole = line.ends_with(b"\n");
                next = match (whole, std::str::from_utf8(&line)) {
                    (true, Ok(request)) => talk.ask(request),
                    (true, Err(_)) => error("a request is text in UTF-8"),
                    (false, _) => {
                        if line.len() <= MAX_REQUEST {
                            return Ok(());
                        }
                        let reason = format!("a request has {MAX_REQUEST} bytes at most");
                        write.write_all((error(&reason) + "\r\n").as_bytes()).await?;
                        break reason;
                    }
                };
                line.clear();
            }
            object = talk.next() => match object {
                Ok(object) => next = object,
                Err(ended) => {
                    if matches!(ended, Ended::Lagged(_)) {
                        metrics.count(|metrics| &metrics.lagged);
                    }
                    break why(ended).to_owned();
                }
            },
            // An empty line says that the connection lives.
            () = sleep_until(quiet) => next.clear(),
            () = ended(&mut ending) => break why(Ended::Closed).to_owned(),
        }
    };
    write.write_all((talk.goodbye(&reason) + "\r\n").as_bytes()).await?;
    write.shutdown().await
}
