//! HTTP on the connections of a surface.
//!
//! What serves a request keeps buffers and a state of some 30 KiB, which is nothing for an answer and much for a stream
//! of events: thousands of clients hold one for hours. So a connection on which such a stream begins is taken out
//! of that, and from then on nothing is kept but the stream itself. It has no length; it ends with the connection.

use std::{
    future::poll_fn,
    io::{self, IoSlice},
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use axum::{
    Router,
    http::{HeaderValue, Method, StatusCode, header},
    response::Response,
    serve::Listener,
};
use http_body_util::BodyExt as _;
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    sync::{mpsc, watch},
};

use super::{conditional::http_date, net::Connection, serve::ended, tls::Security};
use crate::sysclock;

/// Longest head of a request, and most that waits for a client that reads slowly, in bytes.
const BUFFER: usize = 64 * 1024;

/// What a connection is.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Whether it turns out to be encrypted. Asked before anything is read.
    fn security(&self) -> Security;
}

impl Wire for Connection {
    fn security(&self) -> Security {
        Security::default()
    }
}

/// Serves until the daemon ends, and then until the last client is gone.
pub(super) async fn serve<L>(mut listener: L, router: Router, mut ending: watch::Receiver<bool>)
where
    L: Listener<Addr = SocketAddr, Io: Wire>,
{
    let (alive, mut gone) = mpsc::channel::<()>(1);
    loop {
        let connection = tokio::select! {
            (connection, _) = listener.accept() => connection,
            () = ended(&mut ending) => break,
        };
        let (router, ending, alive) = (router.clone(), ending.clone(), alive.clone());
        tokio::spawn(async move {
            // In a place of its own, which is given back when a stream begins.
            let begun = Box::pin(exchange(connection, router, ending)).await;
            if let Some((connection, stream)) = begun {
                // A client that goes is no trouble.
                let _ = tell(connection, stream).await;
            }
            drop(alive);
        });
    }
    drop((listener, alive));
    let _ = gone.recv().await;
}

/// Serves requests until the connection ends, or until a stream of events begins: the connection and the answer that
/// it begins with.
async fn exchange<I: Wire>(
    connection: I,
    router: Router,
    mut ending: watch::Receiver<bool>,
) -> Option<(I, Response)> {
    let security = connection.security();
    let loan = Arc::new(Loan::of(connection));
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(security.clone());
        let (loan, read) = (Arc::clone(&loan), *request.method() == Method::GET);
        let answer = router.call(request);
        async move {
            let answer = answer.await?;
            if read && is_stream(&answer) {
                *lock(&loan.stream) = Some(answer);
                return std::future::pending().await;
            }
            Ok::<_, std::convert::Infallible>(answer)
        }
    });
    let wire = TokioIo::new(Lent(Arc::clone(&loan)));
    let mut http = http1::Builder::new();
    let mut served = pin!(http.max_buf_size(BUFFER).serve_connection(wire, service).with_upgrades());
    let mut over = false;
    loop {
        let step = poll_fn(|cx| {
            if served.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            match loan.take() {
                None => Poll::Pending,
                begun => Poll::Ready(begun),
            }
        });
        tokio::select! {
            begun = step => return begun,
            () = ended(&mut ending), if !over => {
                over = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}

fn is_stream(answer: &Response) -> bool {
    answer.status() == StatusCode::OK
        && answer.headers().get(header::CONTENT_TYPE) == Some(&HeaderValue::from_static("text/event-stream"))
}

/// Tells a stream until it or the client ends.
async fn tell<I: Wire>(connection: I, stream: Response) -> io::Result<()> {
    let (head, mut body) = stream.into_parts();
    let (mut read, mut write) = tokio::io::split(connection);
    {
        let date = http_date(sysclock::wall_micros() / 1_000_000);
        let mut text = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ndate: {date}\r\n").into_bytes();
        for (name, value) in &head.headers {
            text.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        text.extend(b"\r\n");
        write.write_all(&text).await?;
    }
    drop(head);
    // Nothing of what a client may say behind its request counts, but that it is gone.
    let mut said = [0; 64];
    loop {
        tokio::select! {
            frame = body.frame() => {
                let Some(Ok(frame)) = frame else { break };
                if let Some(data) = frame.data_ref() {
                    write.write_all(data).await?;
                }
            }
            read = read.read(&mut said) => {
                if read? == 0 {
                    return Ok(());
                }
            }
        }
    }
    write.shutdown().await
}

/// A connection that is lent to what serves requests.
struct Loan<I> {
    connection: Mutex<Option<I>>,
    /// The last that was to be written did not all go.
    blocked: AtomicBool,
    /// The answer to the last request, which is a stream.
    stream: Mutex<Option<Response>>,
}

impl<I> Loan<I> {
    fn of(connection: I) -> Loan<I> {
        let connection = Mutex::new(Some(connection));
        Loan { connection, blocked: AtomicBool::new(false), stream: Mutex::default() }
    }

    /// The connection back, once a stream begins and the answers before it have all gone.
    fn take(&self) -> Option<(I, Response)> {
        if self.blocked.load(Relaxed) {
            return None;
        }
        let stream = lock(&self.stream).take()?;
        Some((lock(&self.connection).take()?, stream))
    }
}

fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connection as what serves requests has it.
struct Lent<I>(Arc<Loan<I>>);

impl<I: Wire> Lent<I> {
    fn with<T>(&self, act: impl FnOnce(Pin<&mut I>) -> Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match lock(&self.0.connection).as_mut() {
            Some(connection) => act(Pin::new(connection)),
            None => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn wrote(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.0.blocked.store(written.is_pending(), Relaxed);
        written
    }
}

impl<I: Wire> AsyncRead for Lent<I> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.with(|connection| connection.poll_read(cx, buf))
    }
}

impl<I: Wire> AsyncWrite for Lent<I> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.wrote(self.with(|connection| connection.poll_write(cx, buf)))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.wrote(self.with(|connection| connection.poll_write_vectored(cx, bufs)))
    }

    fn is_write_vectored(&self) -> bool {
        lock(&self.0.connection).as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|connection| connection.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|connection| connection.poll_shutdown(cx))
    }
}
