//! A small HTTP client for the commands that talk to the running daemon: one request, one answer.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

const CONNECT: Duration = Duration::from_secs(3);
/// Longer than the daemon waits for its own disk.
const ANSWER: Duration = Duration::from_secs(15);
/// Longest answer in bytes.
const MAX_ANSWER: u64 = 4 * 1024 * 1024;

/// An answer of the daemon.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
}

/// Where a daemon that listens at `listen` is reached on its own machine.
pub(super) fn reach(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// Sends a JSON document with the token. The errors say what to do.
pub(super) fn post(address: SocketAddr, path: &str, token: &str, body: &Value) -> Result<Answer, String> {
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(address, &request, ANSWER)?;
    read(&answer).ok_or_else(|| format!("http://{address} does not answer as a touchmoved daemon does"))
}

/// Asks for a document: its text.
pub(super) fn get(address: SocketAddr, path: &str) -> Result<String, String> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let answer = exchange(address, &request, CONNECT)?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        Some(status) => Err(format!("http://{address}{path} answers {status}")),
        None => Err(format!("http://{address} does not speak HTTP")),
    }
}

/// Sends a request and reads until the connection is closed.
fn exchange(address: SocketAddr, request: &str, patience: Duration) -> Result<Vec<u8>, String> {
    let failed = |what: &str, error: std::io::Error| {
        format!(
            "{what} http://{address}: {error}; is the daemon running (touchmoved run), with this address?"
        )
    };
    let refused = || {
        format!(
            "http://{address} closed the connection without an answer: the daemon has too many connections, in all or \
             from this address ([http] max-connections; /metrics counts them as connections_refused); close some and \
             try again, or set operator.enabled = true and name the address of [operator] with --http"
        )
    };
    let mut stream =
        TcpStream::connect_timeout(&address, CONNECT).map_err(|error| failed("cannot reach", error))?;
    let mut answer = Vec::new();
    let read = stream
        .set_read_timeout(Some(patience))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.take(MAX_ANSWER).read_to_end(&mut answer).map(drop));
    match read {
        Ok(()) if answer.is_empty() => Err(refused()),
        Ok(()) => Ok(answer),
        Err(error) if answer.is_empty() && is_closed(&error) => Err(refused()),
        Err(error) => Err(failed("no answer from", error)),
    }
}

/// True where the other side closed the connection while it was spoken to.
fn is_closed(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe)
}

/// Status and JSON body of an answer whose connection was closed behind it.
fn read(answer: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.split(' ').next()?.trim().parse().ok()?;
    let body = serde_json::from_str(body).unwrap_or(Value::Null);
    Some(Answer { status, body })
}

/// A path segment: everything but letters, digits, `_` and `-` is escaped.
pub(super) fn segment(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_status_and_a_body() {
        let answer = read(b"HTTP/1.1 422 Unprocessable Entity\r\nx: y\r\n\r\n{\"accepted\":false}").unwrap();
        assert_eq!((answer.status, &answer.body["accepted"]), (422, &Value::Bool(false)));
        assert_eq!(read(b"SSH-2.0\r\n"), None);
        assert_eq!(read(b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>").unwrap().body, Value::Null);
    }

    /// So it goes where there are too many connections.
    #[test]
    fn a_connection_that_is_closed_at_once_is_explained() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let daemon = std::thread::spawn(move || drop(listener.accept().unwrap()));
        let told = post(address, "/api/boards/1/arbiter", "token", &Value::Null).unwrap_err();
        daemon.join().unwrap();
        assert!(told.contains("closed the connection without an answer: the daemon has too many"), "{told}");
    }

    #[test]
    fn an_address_for_everybody_is_reached_from_here() {
        let reach = |text: &str| reach(text.parse().unwrap()).to_string();
        assert_eq!(reach("0.0.0.0:8080"), "127.0.0.1:8080");
        assert_eq!(reach("[::]:80"), "[::1]:80");
        assert_eq!(reach("192.168.1.7:8080"), "192.168.1.7:8080");
        assert_eq!(segment("a/b c"), "a%2Fb%20c");
    }
}
