//! One HTTP connection to the server, kept while it lasts. Redirects are not followed: the token goes to the
//! configured server and nowhere else.

use std::{io, time::Duration};

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
    net::TcpStream,
    time::timeout,
};

use super::{Push, Server, Timing, answer::Answer, bearer::Bearer, transport::Transport};

/// Longest answer that is read. That to a hundred games is some 60 kB.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{server} cannot be reached: {reason}")]
    Connect { server: String, reason: io::Error },
    #[error("{server} cannot be reached: nothing answers within {} s", after.as_secs())]
    NoConnection { server: String, after: Duration },
    #[error("no secure connection to {server}: {reason}; is the date of this machine right?")]
    Tls { server: String, reason: io::Error },
    #[error("{server} does not answer within {} s", after.as_secs())]
    Silent { server: String, after: Duration },
    #[error("the connection to {server} broke: {reason}")]
    Broken { server: String, reason: String },
}

/// The client of one round.
pub(super) struct Client {
    server: Server,
    path: String,
    authorization: HeaderValue,
    host: HeaderValue,
    transport: Transport,
    timing: Timing,
    kept: Option<SendRequest<Full<Bytes>>>,
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
        };
        (client, token)
    }

    /// Sends a body and reads the answer. A kept connection that broke while nobody used it counts for nothing.
    pub(super) async fn push(&mut self, body: String) -> Result<Answer, Failure> {
        let body = Bytes::from(body);
        let kept = self.kept.take().filter(|kept| !kept.is_closed());
        let (after, server) = (self.timing.answer, self.server.to_string());
        let silent = || Failure::Silent { server: server.clone(), after };
        if let Some(sender) = kept {
            match timeout(after, self.ask(sender, body.clone())).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(_)) => {}
                Err(_) => return Err(silent()),
            }
        }
        let sender = self.connect().await?;
        let broken = |reason| Failure::Broken { server: server.clone(), reason };
        timeout(after, self.ask(sender, body)).await.map_err(|_| silent())?.map_err(broken)
    }

    async fn ask(&mut self, mut sender: SendRequest<Full<Bytes>>, body: Bytes) -> Result<Answer, String> {
        let request = Request::post(self.path.as_str())
            .header(header::HOST, self.host.clone())
            .header(header::AUTHORIZATION, self.authorization.clone())
            .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT, "application/json")
            .body(Full::new(body))
            .map_err(|error| error.to_string())?;
        sender.ready().await.map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (head, body) = response.into_parts();
        let text = |name| {
            head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::to_owned)
        };
        let (retry_after, date) = (text(header::RETRY_AFTER), text(header::DATE));
        let body = Limited::new(body, LONGEST_ANSWER).collect().await.map_err(|error| error.to_string())?;
        self.kept = Some(sender);
        Ok(Answer { status: head.status.as_u16(), retry_after, date, body: body.to_bytes().to_vec() })
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Failure> {
        let (after, server) = (self.timing.connect, self.server.to_string());
        let connected = timeout(after, async {
            let stream = TcpStream::connect((self.server.host.as_str(), self.server.port)).await;
            let stream = stream.map_err(|reason| Failure::Connect { server: server.clone(), reason })?;
            let _ = stream.set_nodelay(true);
            let secured = self.transport.secure(stream, &self.server.host).await;
            secured.map_err(|reason| Failure::Tls { server: server.clone(), reason })
        });
        let stream =
            connected.await.map_err(|_| Failure::NoConnection { server: server.clone(), after })??;
        speak(stream).await.map_err(|error| Failure::Broken { server, reason: error.to_string() })
    }
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
