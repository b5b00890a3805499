//! Connections with limits: how many at a time, and how long one may stand still.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep, sleep_until},
};

use super::hub::Hub;

/// A connection on which no byte moves for this long is closed. Streams send a keep-alive more
/// often, so it ends idle requests and clients that do not read.
const STANDSTILL: Duration = Duration::from_secs(60);
/// How long a client may take to say what it wants, unless configured otherwise: from its first byte to ours.
pub(super) const ASKING: Duration = Duration::from_secs(30);
/// Wait after a failed accept, which usually means that the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// A listener that accepts at most so many connections at a time and closes the others at once.
pub(super) struct Limited {
    listener: TcpListener,
    permits: Arc<Semaphore>,
    hub: Hub,
    surface: &'static str,
    warned: bool,
    asking: Duration,
}

/// The limits of a surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections at a time.
    pub(super) connections: usize,
    /// From the first byte of a request to the first one of the answer.
    pub(super) asking: Duration,
}

impl Limited {
    pub(super) fn new(listener: TcpListener, limits: Limits, hub: Hub, surface: &'static str) -> Limited {
        let permits = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
        Limited { listener, permits, hub, surface, warned: false, asking: limits.asking }
    }
}

impl Listener for Limited {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            let (stream, address) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(surface = self.surface, %error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
                self.hub.metrics().count(|metrics| &metrics.refused);
                if !self.warned {
                    tracing::warn!(
                        surface = self.surface,
                        "too many connections; new ones are closed until others end"
                    );
                    self.warned = true;
                }
                continue;
            };
            self.warned = false;
            let _ = stream.set_nodelay(true);
            let idle = Box::pin(sleep(STANDSTILL.min(self.asking)));
            let asked = Some(Instant::now() + self.asking);
            return (Connection { stream, idle, asking: self.asking, asked, _permit: permit }, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// An accepted connection; it gives its place back when it is dropped.
pub(super) struct Connection {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    asking: Duration,
    /// When we must have answered what the client began to ask: one that sends its request a byte at a time has its
    /// place for no longer.
    asked: Option<Instant>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    fn moved(&mut self) {
        let still = Instant::now() + STANDSTILL;
        self.idle.as_mut().set(sleep_until(self.asked.map_or(still, |asked| asked.min(still))));
    }

    /// Ready with an error once nothing moved for too long.
    fn stand(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        ready!(self.idle.as_mut().poll(cx));
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "nothing moved on the connection"))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(cx, buf) {
            Poll::Pending => self.stand(cx).map(Err),
            done => {
                self.asked = self.asked.or_else(|| Some(Instant::now() + self.asking));
                self.moved();
                done
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, buf) {
            Poll::Pending => self.stand(cx).map(Err),
            done => {
                self.asked = None;
                self.moved();
                done
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
