//! `[lichess]`: where the games of all boards are pushed.

use std::{fmt, net::IpAddr, path::PathBuf};

/// A round of a Lichess broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LichessConfig {
    /// Its identifier (`lichess.round`).
    pub round: String,
    /// The server (`lichess.url`).
    pub url: ServerUrl,
    /// The file with the token (`lichess.token-file`); without it the credential `lichess-token` of the service
    /// manager. The token itself is read when the daemon starts.
    pub token_file: Option<PathBuf>,
    /// The file with the certificates of the authorities that vouch for the server (`lichess.ca-file`); without it
    /// those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// Milliseconds from the start of one push to the start of the next (`lichess.interval-ms`).
    pub interval_ms: u64,
    /// The tags of the boards have their time control in minutes (`pgn.time-control`).
    pub tags_in_minutes: bool,
}

/// A server: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    /// True for `https`.
    pub tls: bool,
    /// Name or address, without brackets.
    pub host: String,
    /// Port; the usual one where none is written.
    pub port: u16,
}

impl ServerUrl {
    /// Lichess.
    pub(super) fn lichess() -> ServerUrl {
        ServerUrl { tls: true, host: "lichess.org".to_owned(), port: 443 }
    }

    /// `https://HOST`, `http://HOST:PORT` and so on, without a path.
    pub(super) fn parse(text: &str) -> Option<ServerUrl> {
        let (tls, rest) = match text.split_once("://")? {
            ("https", rest) => (true, rest),
            ("http", rest) => (false, rest),
            _ => return None,
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                host.parse::<IpAddr>().ok().filter(IpAddr::is_ipv6)?;
                (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => {
                let (host, port) =
                    rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port)));
                let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
                Some(host).filter(|host| !host.is_empty() && host.chars().all(name))?;
                (host, port)
            }
        };
        let port = match port {
            Some(port) => port.parse().ok().filter(|port| *port > 0)?,
            None if tls => 443,
            None => 80,
        };
        Some(ServerUrl { tls, host: host.to_ascii_lowercase(), port })
    }

    /// True where nothing that is sent leaves this machine.
    pub(super) fn is_here(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.tls { ("https", 443) } else { ("http", 80) };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == usual {
            write!(f, "{scheme}://{host}")
        } else {
            write!(f, "{scheme}://{host}:{}", self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_read_and_written() {
        for (text, written, here) in [
            ("https://lichess.org", "https://lichess.org", false),
            ("https://Lichess.org:443/", "https://lichess.org", false),
            ("http://127.0.0.1:8098", "http://127.0.0.1:8098", true),
            ("https://[::1]:9663", "https://[::1]:9663", true),
            ("http://localhost", "http://localhost", true),
            ("http://127.0.0.1.example", "http://127.0.0.1.example", false),
        ] {
            let url = ServerUrl::parse(text).unwrap();
            assert_eq!((url.to_string().as_str(), url.is_here()), (written, here));
        }
        for wrong in [
            "lichess.org",
            "ftp://x",
            "https://",
            "https://x/y",
            "https://u@x",
            "https://x:0",
            "https://x:70000",
            "https://[x]",
            "https://[::1",
            "https://x?y",
            "https://a b",
        ] {
            assert_eq!(ServerUrl::parse(wrong), None, "{wrong}");
        }
    }
}
