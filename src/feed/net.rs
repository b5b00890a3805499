//! Connections with limits: how many at a time, how many of one peer, and how long one may stand still.

use std::{
    collections::BTreeMap,
    future::Future,
    io::{self, IoSlice},
    net::{IpAddr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
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
/// Closed connections are told once in so long: who is refused comes again.
const TOLD_AGAIN: Duration = Duration::from_secs(60);

/// A listener that accepts at most so many connections at a time, and of one peer three quarters of them; it closes
/// the others at once.
pub(super) struct Limited {
    listener: TcpListener,
    permits: Arc<Semaphore>,
    peers: Peers,
    hub: Hub,
    surface: &'static str,
    /// When closed connections were told last.
    told: Option<Instant>,
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
        let peers = Peers::new(limits.connections);
        Limited { listener, permits, peers, hub, surface, told: None, asking: limits.asking }
    }

    /// A place for a connection; nothing where there is none.
    fn place(&self, peer: IpAddr) -> Result<Place, Full> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().map_err(|_| Full::Surface)?;
        let guest = self.peers.admit(peer).ok_or(Full::Peer(self.peers.limit))?;
        Ok(Place { _permit: permit, _guest: guest })
    }

    /// A connection is closed.
    fn refuse(&mut self, peer: IpAddr, full: Full) {
        self.hub.metrics().count(|metrics| &metrics.refused);
        let now = Instant::now();
        if self.told.is_none_or(|told| now >= told + TOLD_AGAIN) {
            tracing::warn!(surface = self.surface, %peer, "too many connections; {full}");
            self.told = Some(now);
        }
    }
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Full {
    #[error("new ones are closed until others end ([http] max-connections)")]
    Surface,
    #[error(
        "this peer has {0}, three quarters of what there is for all; its next ones are closed until some of them end, \
         other peers are served ([http] max-connections)"
    )]
    Peer(usize),
}

/// How many connections each peer has.
#[derive(Clone, Debug)]
struct Peers {
    limit: usize,
    counts: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

impl Peers {
    /// Peers that have three quarters of `connections` at most, rounded up, so that none of them shuts the others
    /// out.
    fn new(connections: usize) -> Peers {
        Peers { limit: (connections - connections / 4).max(1), counts: Arc::default() }
    }

    fn admit(&self, peer: IpAddr) -> Option<Guest> {
        let peer = client(peer);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(peer).or_default();
        if *count >= self.limit {
            return None;
        }
        *count += 1;
        Some(Guest { peer, counts: Arc::clone(&self.counts) })
    }
}

/// One connection of a peer, as long as it lives.
#[derive(Debug)]
struct Guest {
    peer: IpAddr,
    counts: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.peer) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&self.peer);
            }
        }
    }
}

/// What tells clients apart: the address. Of IPv6 its first half, because every client has all addresses of a network.
fn client(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
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
            let place = match self.place(address.ip()) {
                Ok(place) => place,
                Err(full) => {
                    self.refuse(address.ip(), full);
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let now = Instant::now();
            let (until, asked) = (now + STANDSTILL.min(self.asking), Some(now + self.asking));
            let idle = Box::pin(sleep_until(until));
            return (Connection { stream, idle, until, asking: self.asking, asked, _place: place }, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// An accepted connection; it gives its place back when it is dropped.
pub(super) struct Connection {
    stream: TcpStream,
    /// The alarm at `until`, or earlier: it is set anew when it goes off, not whenever something moves.
    idle: Pin<Box<Sleep>>,
    /// When the connection has stood still for too long.
    until: Instant,
    asking: Duration,
    /// When we must have answered what the client began to ask: one that sends its request a byte at a time has its
    /// place for no longer.
    asked: Option<Instant>,
    _place: Place,
}

/// The place of a connection.
struct Place {
    _permit: OwnedSemaphorePermit,
    _guest: Guest,
}

impl Connection {
    fn moved(&mut self) {
        let still = Instant::now() + STANDSTILL;
        self.until = self.asked.map_or(still, |asked| asked.min(still));
        if self.until < self.idle.deadline() {
            self.idle.as_mut().reset(self.until);
        }
    }

    fn wrote(&mut self) {
        self.asked = None;
        self.moved();
    }

    /// The first byte that comes, which stays to be read; nothing when the client is gone.
    #[cfg(feature = "tls")]
    pub(super) fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<u8>>> {
        let mut byte = [0; 1];
        match self.stream.poll_peek(cx, &mut ReadBuf::new(&mut byte)) {
            Poll::Pending => self.stand(cx).map(Err),
            Poll::Ready(read) => Poll::Ready(read.map(|count| byte.first().copied().filter(|_| count > 0))),
        }
    }

    /// Ready with an error once nothing moved for too long.
    fn stand(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        ready!(self.idle.as_mut().poll(cx));
        while Instant::now() < self.until {
            self.idle.as_mut().reset(self.until);
            ready!(self.idle.as_mut().poll(cx));
        }
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
                self.wrote();
                done
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write_vectored(cx, bufs) {
            Poll::Pending => self.stand(cx).map(Err),
            done => {
                self.wrote();
                done
            }
        }
    }

    /// Without it what goes out is copied into one buffer, which stays as large as the longest of it.
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_peer_leaves_a_quarter_to_the_others() {
        let peers = Peers::new(8);
        let mut guests: Vec<Guest> = std::iter::repeat_with(|| peers.admit(ip("192.0.2.1")))
            .map_while(|guest| guest)
            .take(9)
            .collect();
        assert_eq!(guests.len(), 6);
        assert!(peers.admit(ip("::ffff:192.0.2.1")).is_none(), "the same by another notation");
        let other = peers.admit(ip("192.0.2.2"));
        assert!(other.is_some());
        guests.pop();
        guests.extend(peers.admit(ip("192.0.2.1")));
        assert_eq!(guests.len(), 6, "a place that became free is taken");
        drop((guests, other));
        assert!(peers.counts.lock().unwrap().is_empty(), "nothing is kept of a peer that went");
    }

    #[test]
    fn a_peer_is_a_network_of_ipv6() {
        let peers = Peers::new(2);
        let _guests = [peers.admit(ip("2001:db8::1")).unwrap(), peers.admit(ip("2001:db8::ffff:2")).unwrap()];
        assert!(peers.admit(ip("2001:db8::3")).is_none());
        assert!(peers.admit(ip("2001:db8:0:1::3")).is_some());
    }

    #[test]
    fn the_least_limits_let_one_in() {
        let limits = [1, 2, 3, 4, 5, 2000].map(|connections| Peers::new(connections).limit);
        assert_eq!(limits, [1, 2, 3, 3, 4, 1500]);
    }

    /// A connection that has to say within `asking` what it wants, and its other end.
    async fn connection(asking: Duration) -> (Connection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = Limits { connections: 1, asking };
        let mut limited = Limited::new(listener, limits, Hub::new(), "test");
        let client = TcpStream::connect(address).await.unwrap();
        (limited.accept().await.0, client)
    }

    #[tokio::test]
    async fn who_asks_nothing_or_too_slowly_is_closed_and_who_was_answered_is_not() {
        let asking = Duration::from_millis(50);
        let mut byte = [0];
        let (mut silent, _client) = connection(asking).await;
        assert_eq!(silent.read(&mut byte).await.unwrap_err().kind(), io::ErrorKind::TimedOut);

        let (mut answered, mut client) = connection(asking).await;
        client.write_all(b"?").await.unwrap();
        answered.read_exact(&mut byte).await.unwrap();
        answered.write_all(b"!").await.unwrap();
        // The time for the request passes, which was answered.
        sleep(asking * 2).await;
        let nothing = poll_fn(|cx| {
            let mut read = ReadBuf::new(&mut byte);
            Poll::Ready(Pin::new(&mut answered).poll_read(cx, &mut read).is_pending())
        });
        assert!(nothing.await);
        // And the next request has its own.
        client.write_all(b"?").await.unwrap();
        answered.read_exact(&mut byte).await.unwrap();
        assert_eq!(answered.read(&mut byte).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
