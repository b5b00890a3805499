//! Binds the network surfaces and runs them until the daemon ends.

use std::{future::Future, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::Router;
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};

use super::{
    cloud::{self, CloudFiles, CloudOptions},
    dgt::{DgtPort, Place, Plugged},
    files,
    http::{self, Reach},
    lichess,
    livechess::{self, BoardNote},
    net::{self, Limited, Limits},
    outputs::{Output, Outputs},
    pgn::AfterSetUp,
    pgn_files::PgnFiles,
    stream::lines,
    surface,
    tls::{self, Secured, TlsError, TlsFiles},
};
use crate::publish::release::Threshold;

/// How long connections have to end after the shutdown began.
pub const GRACE: Duration = Duration::from_millis(900);

/// Which surfaces are served and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedConfig {
    /// Web page, JSON, server-sent events and PGN; nothing switches them off.
    pub http: Option<SocketAddr>,
    /// The LiveChess-compatible API; nothing switches it off.
    pub livechess: Option<SocketAddr>,
    /// Directory of the PGN files; nothing switches them off.
    pub pgn_dir: Option<PathBuf>,
    /// The web page again, for the operator: it stays behind in nothing.
    pub operator: Option<SocketAddr>,
    /// Lines of JSON over TCP, in the manner of gpsd; nothing switches them off.
    pub stream: Option<SocketAddr>,
    /// From when on a move is in the list that LiveChess clients get.
    pub livechess_moves: Threshold,
    /// A certificate for LiveChess clients that come over TLS.
    pub livechess_tls: Option<TlsFiles>,
    /// What LiveChess clients are told of the boards besides their games.
    pub livechess_boards: Vec<BoardNote>,
    /// How PGN tells a game that goes on from a position that was set up.
    pub pgn_after_set_up: AfterSetUp,
    /// The files of LiveChess Cloud, over HTTP and on the disk; nothing switches them off.
    pub cloud: Option<CloudOptions>,
    /// Connections that each surface serves at a time; more are closed at once.
    pub max_connections: usize,
    /// How long a client may take from the first byte of a request to the first one of the answer. A connection on
    /// which a request is not finished then is closed.
    pub asking: Duration,
    /// Web origins that may use the LiveChess API besides the ones that are always let through.
    pub livechess_origins: Vec<String>,
    /// The boards that are DGT boards for other programs.
    pub dgt: Vec<DgtPort>,
}

impl Default for FeedConfig {
    /// The addresses of the contract, no PGN files, no DGT boards, 2000 connections.
    fn default() -> FeedConfig {
        FeedConfig {
            http: Some(SocketAddr::from(([127, 0, 0, 1], 8080))),
            livechess: Some(SocketAddr::from(([127, 0, 0, 1], 1982))),
            pgn_dir: None,
            operator: None,
            stream: None,
            livechess_moves: Threshold::Completed,
            livechess_tls: None,
            livechess_boards: Vec::new(),
            pgn_after_set_up: AfterSetUp::default(),
            cloud: None,
            max_connections: 2000,
            asking: net::ASKING,
            livechess_origins: Vec::new(),
            dgt: Vec::new(),
        }
    }
}

/// Why the feeds cannot run.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// An address cannot be bound.
    #[error("cannot listen on {address}: {reason}; {remedy}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// There is no TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Surfaces that are bound and wait to be served.
pub struct Feeds {
    config: FeedConfig,
    acceptor: Option<tls::Acceptor>,
    http: Option<TcpListener>,
    livechess: Option<TcpListener>,
    operator: Option<TcpListener>,
    stream: Option<TcpListener>,
    dgt: Vec<Plugged>,
    /// Routes of others at the address of the web page.
    more: Router,
    /// Pushes to Lichess, where they are on.
    push: Option<lichess::Push>,
}

impl std::fmt::Debug for Feeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feeds").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Binds the configured addresses, a port 0 takes a free one, and plugs the DGT boards in.
pub async fn bind(mut config: FeedConfig) -> Result<Feeds, FeedError> {
    let acceptor = config.livechess_tls.as_ref().map(tls::acceptor).transpose()?;
    let http = listen(config.http, "[http] listen").await?;
    let livechess = listen(config.livechess, "[livechess] listen").await?;
    let operator = listen(config.operator, "[operator] listen").await?;
    let stream = listen(config.stream, "[stream] listen").await?;
    let dgt = std::mem::take(&mut config.dgt).into_iter().map(Plugged::open).collect();
    let more = Router::new();
    Ok(Feeds { config, acceptor, http, livechess, operator, stream, dgt, more, push: None })
}

/// Binds the configured addresses and serves until `shutdown` resolves. [`bind`] and
/// [`Feeds::serve`] in one, for a caller that does not ask for the addresses.
pub async fn serve(
    config: FeedConfig,
    outputs: impl Into<Outputs>,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), FeedError> {
    bind(config).await?.serve(outputs, shutdown).await
}

impl Feeds {
    /// Where the web page is served.
    pub fn http(&self) -> Option<SocketAddr> {
        self.http.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Where the LiveChess API is served.
    pub fn livechess(&self) -> Option<SocketAddr> {
        self.livechess.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// The boards that can be read as DGT boards, and where.
    pub fn dgt(&self) -> Vec<(String, Place)> {
        let open = self.dgt.iter().filter_map(Plugged::place);
        open.map(|(board, place)| (board.to_owned(), place.clone())).collect()
    }

    /// Where the operator's page is served.
    pub fn operator(&self) -> Option<SocketAddr> {
        self.operator.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Where lines over TCP are served.
    pub fn stream(&self) -> Option<SocketAddr> {
        self.stream.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves these routes, too, at the address of the web page.
    #[must_use]
    pub fn with(mut self, more: Router) -> Feeds {
        self.more = self.more.merge(more);
        self
    }

    /// Pushes to Lichess, too.
    #[must_use]
    pub fn pushing(mut self, push: Option<lichess::Push>) -> Feeds {
        self.push = push;
        self
    }

    /// Serves until `shutdown` resolves; then ends the streams, writes the last PGN files and
    /// closes the connections. Clients that do not let go are dropped after [`GRACE`].
    pub async fn serve(
        self,
        outputs: impl Into<Outputs>,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), FeedError> {
        let outputs = outputs.into();
        let Feeds { config, acceptor, http, livechess, operator, stream, dgt, more, push } = self;
        let limits = Limits { connections: config.max_connections, asking: config.asking };
        let (end, ending) = watch::channel(false);
        let (alive, mut gone) = mpsc::channel::<()>(1);
        let mut tasks: JoinSet<()> = JoinSet::new();
        if let Some(listener) = http {
            // Where the operator has an address of his own, what is his is not here.
            let late = outputs.is_late(Output::Http) || operator.is_some();
            let reach = if late { Reach::Public } else { Reach::All };
            let hub = outputs.of(Output::Http);
            let mut more = more.clone();
            if let Some(options) = &config.cloud {
                more = more.merge(cloud::router(outputs.of(Output::Cloud).clone(), options));
            }
            let router = http::router(hub.clone(), ending.clone(), more, reach, config.pgn_after_set_up);
            let listener = Limited::new(listener, limits, hub.clone(), "http");
            tasks.spawn(surface::serve(listener, router, ending.clone()));
        }
        if let Some(listener) = operator {
            let hub = outputs.live();
            let router =
                http::router(hub.clone(), ending.clone(), more, Reach::Operator, config.pgn_after_set_up);
            let listener = Limited::new(listener, limits, hub.clone(), "operator");
            tasks.spawn(surface::serve(listener, router, ending.clone()));
        }
        if let Some(listener) = livechess {
            let hub = outputs.of(Output::LiveChess);
            let options = livechess::Options {
                origins: config.livechess_origins,
                moves: config.livechess_moves,
                notes: config.livechess_boards,
            };
            let router = livechess::router(hub.clone(), options, ending.clone(), alive.clone());
            let listener = Secured::new(Limited::new(listener, limits, hub.clone(), "livechess"), acceptor);
            tasks.spawn(surface::serve(listener, router, ending.clone()));
        }
        if let Some(listener) = stream {
            let (hub, ending, alive) = (outputs.of(Output::Stream).clone(), ending.clone(), alive.clone());
            let listener = Limited::new(listener, limits, hub.clone(), "stream");
            tasks.spawn(async move {
                lines::serve(listener, hub, ending, alive).await;
            });
        }
        tasks.spawn({
            let (outputs, ending) = (outputs.clone(), ending.clone());
            async move {
                outputs.run(ending).await;
            }
        });
        if let Some(dir) = config.pgn_dir {
            let (hub, ending) = (outputs.of(Output::Pgn).clone(), ending.clone());
            tasks.spawn(async move {
                files::write_until(PgnFiles(config.pgn_after_set_up), dir, hub, ending).await;
            });
        }
        if let Some((dir, options)) = config.cloud.and_then(|options| Some((options.dir.clone()?, options))) {
            let (hub, ending) = (outputs.of(Output::Cloud).clone(), ending.clone());
            tasks.spawn(async move {
                files::write_until(CloudFiles(options), dir, hub, ending).await;
            });
        }
        if let Some(push) = push {
            let (hub, ending, status) = (outputs.of(Output::Lichess).clone(), ending.clone(), push.status());
            hub.operator().take_lichess(Arc::clone(&status));
            tasks.spawn(async move {
                lichess::push_until(push, hub, status, ending).await;
            });
        }
        for board in dgt {
            let (hub, ending) = (outputs.of(Output::DgtEmulation).clone(), ending.clone());
            tasks.spawn(async move {
                board.run(hub, ending).await;
            });
        }
        drop(alive);
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                Some(_) = tasks.join_next() => {}
            }
        }
        let _ = end.send(true);
        let rest = async {
            while tasks.join_next().await.is_some() {}
            // Sockets of LiveChess clients are no part of their surface any more.
            let _ = gone.recv().await;
        };
        if timeout(GRACE, rest).await.is_err() {
            tracing::info!("connections that did not end in time are dropped");
        }
        Ok(())
    }
}

/// Resolves when the daemon ends.
pub(super) async fn ended(ending: &mut watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
}

async fn listen(address: Option<SocketAddr>, key: &str) -> Result<Option<TcpListener>, FeedError> {
    let Some(address) = address else { return Ok(None) };
    let refused = |error: std::io::Error| {
        let (reason, remedy) = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                ("address in use".to_owned(), format!("another touchmoved may be running, or set {key}"))
            }
            std::io::ErrorKind::AddrNotAvailable => (
                "this machine has no such address".to_owned(),
                format!("set {key} to an address of this machine"),
            ),
            std::io::ErrorKind::PermissionDenied => (
                "permission denied".to_owned(),
                format!("ports below 1024 need CAP_NET_BIND_SERVICE, or set {key}"),
            ),
            _ => (error.to_string(), format!("set {key} to another address")),
        };
        FeedError::Bind { address, reason, remedy }
    };
    TcpListener::bind(address).await.map(Some).map_err(refused)
}
