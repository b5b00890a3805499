//! One HTTP connection to the server, kept while it lasts. Redirects are not followed: the token goes to the
//! configured server and nowhere else.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use axum::body::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request,
    client::conn::http1::{SendRequest, handshake},
    header::{self, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
    time::timeout,
};

use super::{
    Push, Server, Timing,
    answer::Answer,
    bearer::Bearer,
    race::first,
    transport::{Transport, remedy},
};

/// Longest answer that is read. That to a hundred games is some 60 kB.
const LONGEST_ANSWER: usize = 1024 * 1024;
/// An address may take this long before the next one of the server is tried beside it (RFC 8305, section 8).
const HEAD_START: Duration = Duration::from_millis(250);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{server} cannot be reached: {reason}")]
    Connect { server: String, reason: io::Error },
    #[error("{server} cannot be reached: nothing answers within {} s", after.as_secs())]
    NoConnection { server: String, after: Duration },
    #[error("no secure connection to {server}: {reason}; {remedy}")]
    Tls { server: String, reason: io::Error, remedy: &'static str },
    #[error("{server} does not answer within {} s", after.as_secs())]
    Silent { server: String, after: Duration },
    #[error("the connection to {server} broke: {reason}")]
    Broken { server: String, reason: String },
}

impl Failure {
    /// True where this tells a person more than `other`: a server was there.
    fn tells_more(&self, other: &Failure) -> bool {
        matches!((self, other), (Failure::Tls { .. }, Failure::Connect { .. }))
    }
}

/// The client of one round.
pub(super) struct Client {
    server: Server,
    path: String,
    authorization: HeaderValue,
    host: HeaderValue,
    transport: Transport,
    timing: Timing,
    kept: Option<Link>,
    /// The address that took a request last and did not answer it. It comes last of all.
    shunned: Option<IpAddr>,
}

/// A connection over which requests go.
struct Link {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
}

/// What is sent names the program, as the rules of the API want it.
const USER_AGENT: &str = concat!("touchmoved/", env!("CARGO_PKG_VERSION"));

impl Client {
    pub(super) fn new(push: Push) -> (Client, Bearer) {
        let Push { round, server, token, transport, timing, .. } = push;
        let client = Client {
            path: format!("/api/broadcast/round/{round}/push"),
            authorization: token.header(),
            host: HeaderValue::from_str(&server.authority())
                .unwrap_or(HeaderValue::from_static("lichess.org")),
            server,
            transport,
            timing,
            kept: None,
            shunned: None,
        };
        (client, token)
    }

    /// Sends a body and reads the answer. A kept connection that broke while nobody used it counts for nothing.
    pub(super) async fn push(&mut self, body: String) -> Result<Answer, Failure> {
        let body = Bytes::from(body);
        let kept = self.kept.take().filter(|kept| !kept.sender.is_closed());
        let (after, server) = (self.timing.answer, self.server.to_string());
        let silent = || Failure::Silent { server: server.clone(), after };
        if let Some(link) = kept {
            let address = link.address.ip();
            match timeout(after, self.ask(link, body.clone())).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(_)) => {}
                Err(_) => {
                    self.shunned = Some(address);
                    return Err(silent());
                }
            }
        }
        let link = self.connect().await?;
        self.shunned = Some(link.address.ip());
        let broken = |reason| Failure::Broken { server: server.clone(), reason };
        let answer = timeout(after, self.ask(link, body)).await.map_err(|_| silent())?.map_err(broken)?;
        self.shunned = None;
        Ok(answer)
    }

    async fn ask(&mut self, mut link: Link, body: Bytes) -> Result<Answer, String> {
        let request = Request::post(self.path.as_str())
            .header(header::HOST, self.host.clone())
            .header(header::AUTHORIZATION, self.authorization.clone())
            .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT, "application/json")
            .body(Full::new(body))
            .map_err(|error| error.to_string())?;
        link.sender.ready().await.map_err(|error| error.to_string())?;
        let response = link.sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (head, body) = response.into_parts();
        let text = |name| {
            head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::to_owned)
        };
        let (retry_after, date) = (text(header::RETRY_AFTER), text(header::DATE));
        let body = Limited::new(body, LONGEST_ANSWER).collect().await.map_err(|error| error.to_string())?;
        self.kept = Some(link);
        Ok(Answer { status: head.status.as_u16(), retry_after, date, body: body.to_bytes().to_vec() })
    }

    /// Connects to the first address of the server that answers. One that nothing answers at, as happens where a
    /// network hands out IPv6 and does not carry it, keeps the others waiting for [`HEAD_START`] only.
    async fn connect(&self) -> Result<Link, Failure> {
        let (after, server) = (self.timing.connect, self.server.to_string());
        let connected = timeout(after, async {
            let unreachable = |reason| Failure::Connect { server: server.clone(), reason };
            let found = lookup_host((self.server.host.as_str(), self.server.port)).await;
            let mut addresses: Vec<SocketAddr> = found.map_err(unreachable)?.collect();
            addresses.sort_by_key(|address| Some(address.ip()) == self.shunned);
            let attempt = |address| open(address, self.server.clone(), self.transport.clone());
            let opened = first(addresses, HEAD_START, attempt, Failure::tells_more).await;
            opened.map_err(|failure| failure.unwrap_or_else(|| unreachable(io::ErrorKind::NotFound.into())))
        });
        let (stream, address) =
            connected.await.map_err(|_| Failure::NoConnection { server: server.clone(), after })??;
        let sender = speak(stream).await;
        let sender = sender.map_err(|error| Failure::Broken { server, reason: error.to_string() })?;
        Ok(Link { sender, address })
    }
}

/// Opens a connection to an address of the server, secured where it is to be.
async fn open(
    address: SocketAddr,
    server: Server,
    transport: Transport,
) -> Result<(Box<dyn Stream>, SocketAddr), Failure> {
    let stream = TcpStream::connect(address).await;
    let stream = stream.map_err(|reason| Failure::Connect { server: server.to_string(), reason })?;
    let _ = stream.set_nodelay(true);
    let secured = transport.secure(stream, &server.host).await;
    let secured = secured.map_err(|reason| {
        let (server, remedy) = (server.to_string(), remedy(&reason));
        Failure::Tls { server, reason, remedy }
    })?;
    Ok((secured, address))
}

/// A stream, secured or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Begins HTTP. The connection lives in a task of its own until one side lets go.
async fn speak(stream: Box<dyn Stream>) -> hyper::Result<SendRequest<Full<Bytes>>> {
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection to Lichess ended");
        }
    });
    Ok(sender)
}
