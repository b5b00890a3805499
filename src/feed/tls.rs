//! TLS at a listener that speaks without it, too: the first byte of a connection tells. A client on the same
//! machine goes on with `ws://localhost`, one elsewhere uses `wss://` with a certificate that it trusts.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    net::{Connection, Limited},
    surface::Wire,
};

/// The files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and those that vouch for it, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be used.
    #[error("[livechess] {key} {}: {reason}", path.display())]
    File {
        /// The key of the configuration.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The program was built without it.
    #[error("[livechess] certificate: this program was built without TLS; build it with the feature `tls`")]
    NotBuilt,
}

#[cfg(feature = "tls")]
mod rustls {
    use tokio_rustls::{
        Accept, TlsAcceptor,
        rustls::{
            ServerConfig, crypto,
            pki_types::{
                CertificateDer, PrivateKeyDer,
                pem::{Error as PemError, PemObject as _},
            },
        },
        server::TlsStream,
    };

    use std::sync::Arc;

    use super::{Connection, TlsError, TlsFiles};

    pub(super) type Shaking = Accept<Connection>;
    pub(super) type Open = TlsStream<Connection>;
    pub(in crate::feed) type Acceptor = TlsAcceptor;

    /// Reads the files.
    pub(in crate::feed) fn acceptor(files: &TlsFiles) -> Result<Acceptor, TlsError> {
        let wrong = |key: &'static str, reason: String| {
            let path = if key == "key" { &files.key } else { &files.certificate };
            TlsError::File { key, path: path.clone(), reason }
        };
        let words = |error: PemError, what: &str| match error {
            PemError::Io(error) => format!("cannot be read: {error}; make it readable for the service"),
            PemError::NoItemsFound => {
                format!("there is no {what} in it; it has to be PEM, with lines of BEGIN and END")
            }
            error => format!("is no PEM: {error}"),
        };
        let certificates = CertificateDer::pem_file_iter(&files.certificate)
            .and_then(|found| found.collect::<Result<Vec<_>, _>>())
            .and_then(|found| if found.is_empty() { Err(PemError::NoItemsFound) } else { Ok(found) })
            .map_err(|error| wrong("certificate", words(error, "certificate")))?;
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|error| wrong("key", words(error, "private key")))?;
        let provider = Arc::new(crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("certificate", error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(|error| {
                wrong(
                    "key",
                    format!("does not fit to the certificate: {error}; give the key that it was made with"),
                )
            })?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

#[cfg(not(feature = "tls"))]
mod rustls {
    use super::{TlsError, TlsFiles};

    /// There is none.
    #[derive(Clone, Debug)]
    pub(in crate::feed) enum Acceptor {}

    pub(in crate::feed) fn acceptor(_files: &TlsFiles) -> Result<Acceptor, TlsError> {
        Err(TlsError::NotBuilt)
    }
}

pub(super) use rustls::{Acceptor, acceptor};

/// A listener whose connections may be encrypted, where there is a certificate.
pub(super) struct Secured {
    listener: Limited,
    acceptor: Option<Acceptor>,
}

impl Secured {
    pub(super) fn new(listener: Limited, acceptor: Option<Acceptor>) -> Secured {
        Secured { listener, acceptor }
    }
}

impl Listener for Secured {
    type Io = Stream;
    type Addr = SocketAddr;

    /// The handshake is a part of the first reading: one that is slow holds nobody up.
    async fn accept(&mut self) -> (Stream, SocketAddr) {
        let (connection, address) = self.listener.accept().await;
        (Stream::new(connection, self.acceptor.as_ref()), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Whether a connection turned out to be encrypted. Each of its requests comes with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Security(Arc<AtomicBool>);

impl Security {
    /// True for one that is.
    pub(super) fn is_secure(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wire for Stream {
    fn security(&self) -> Security {
        match self {
            #[cfg(feature = "tls")]
            Stream::Fresh(_, _, security) => security.clone(),
            _ => Security::default(),
        }
    }
}

/// A connection that may be encrypted.
pub(super) enum Stream {
    Plain(Connection),
    /// Nothing has come yet that tells.
    #[cfg(feature = "tls")]
    Fresh(Option<Connection>, Acceptor, Security),
    #[cfg(feature = "tls")]
    Shaking(Box<rustls::Shaking>),
    #[cfg(feature = "tls")]
    Open(Box<rustls::Open>),
}

impl Stream {
    /// A connection that was just accepted.
    pub(super) fn new(connection: Connection, acceptor: Option<&Acceptor>) -> Stream {
        match acceptor {
            #[cfg(feature = "tls")]
            Some(acceptor) => Stream::Fresh(Some(connection), acceptor.clone(), Security::default()),
            #[cfg(not(feature = "tls"))]
            Some(never) => match *never {},
            None => Stream::Plain(connection),
        }
    }

    /// Ready once it is known what is spoken, and agreed on.
    #[cfg(feature = "tls")]
    fn settle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        /// The first byte of a handshake; no method of HTTP begins with it.
        const HANDSHAKE: u8 = 0x16;
        loop {
            let next = match self {
                Stream::Plain(_) | Stream::Open(_) => return Poll::Ready(Ok(())),
                Stream::Fresh(connection, acceptor, security) => {
                    let gone = || io::Error::from(io::ErrorKind::NotConnected);
                    let fresh = connection.as_mut().ok_or_else(gone)?;
                    let first = ready!(fresh.poll_first(cx))?;
                    let connection = connection.take().ok_or_else(gone)?;
                    if first == Some(HANDSHAKE) {
                        security.0.store(true, Ordering::Relaxed);
                        Stream::Shaking(Box::new(acceptor.accept(connection)))
                    } else {
                        Stream::Plain(connection)
                    }
                }
                Stream::Shaking(shaking) => {
                    Stream::Open(Box::new(ready!(std::future::Future::poll(Pin::new(shaking.as_mut()), cx))?))
                }
            };
            *self = next;
        }
    }

    #[cfg(not(feature = "tls"))]
    #[allow(clippy::unused_self)]
    fn settle(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Calls the same method of what is inside, which has to be settled.
macro_rules! inner {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream {
            Stream::Plain($inner) => $call,
            #[cfg(feature = "tls")]
            Stream::Open($inner) => $call,
            #[cfg(feature = "tls")]
            Stream::Fresh(..) | Stream::Shaking(_) => Poll::Pending,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.settle(cx))?;
        inner!(&mut *self, inner => Pin::new(inner).poll_read(cx, buf))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.settle(cx))?;
        inner!(&mut *self, inner => Pin::new(inner).poll_write(cx, buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.settle(cx))?;
        inner!(&mut *self, inner => Pin::new(inner).poll_write_vectored(cx, bufs))
    }

    /// Asked before it is known what is spoken: what is encrypted takes its parts one by one, which does no harm.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            // Nothing was written yet.
            #[cfg(feature = "tls")]
            Stream::Fresh(..) | Stream::Shaking(_) => Poll::Ready(Ok(())),
            settled => inner!(settled, inner => Pin::new(inner).poll_flush(cx)),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            // A client that said nothing is owed nothing.
            #[cfg(feature = "tls")]
            Stream::Fresh(..) | Stream::Shaking(_) => Poll::Ready(Ok(())),
            settled => inner!(settled, inner => Pin::new(inner).poll_shutdown(cx)),
        }
    }
}
