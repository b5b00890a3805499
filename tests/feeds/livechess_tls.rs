//! The LiveChess API over TLS, beside plain connections at the same port.

use std::{fs, path::Path, sync::Arc};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto, pki_types::ServerName},
};
use tokio_tungstenite::{client_async, tungstenite::Message};
use touchmoved::feed::{FeedConfig, TlsFiles, bind};

use futures_util::{SinkExt as _, StreamExt as _};

use super::table::{Client, Server, Table, config, get, soon};

/// A certificate for `board.local` in files, and a client's trust in it.
fn certificate(dir: &Path) -> (TlsFiles, ClientConfig) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["board.local".to_owned()]).unwrap();
    let files = TlsFiles { certificate: dir.join("cert.pem"), key: dir.join("key.pem") };
    fs::write(&files.certificate, cert.pem()).unwrap();
    fs::write(&files.key, signing_key.serialize_pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (files, client)
}

#[tokio::test]
async fn one_port_speaks_with_and_without_tls() {
    let dir = tempfile::tempdir().unwrap();
    let (files, trust) = certificate(dir.path());
    let server = Server::with(FeedConfig { livechess_tls: Some(files), ..config() }).await;
    let _table = Table::new(&server.hub, "1");
    // One that says nothing, and one that never ends its handshake, hold nobody up.
    let _silent = TcpStream::connect(server.livechess).await.unwrap();
    let mut slow = TcpStream::connect(server.livechess).await.unwrap();
    slow.write_all(&[0x16, 0x03]).await.unwrap();

    let stream = soon(TcpStream::connect(server.livechess)).await.unwrap();
    let name = ServerName::try_from("board.local").unwrap();
    let connector = TlsConnector::from(Arc::new(trust));
    let stream = soon(connector.connect(name, stream)).await.unwrap();
    let (mut far, _) = soon(client_async("wss://board.local/api/v1.0", stream)).await.unwrap();
    soon(far.send(Message::text(r#"{"id":1,"call":"eboards"}"#))).await.unwrap();
    let Message::Text(answer) = soon(far.next()).await.unwrap().unwrap() else { panic!("a text") };
    assert!(answer.as_str().contains("\"serialnr\":\"90001\""), "{answer}");

    // The certificate vouches for a name that the board itself does not know.
    let stream = soon(TcpStream::connect(server.livechess)).await.unwrap();
    let name = ServerName::try_from("board.local").unwrap();
    let mut stream = soon(connector.connect(name, stream)).await.unwrap();
    let request = "GET /api/v1.0/eboards HTTP/1.0\r\nHost: board.club.example:1982\r\n\r\n";
    soon(stream.write_all(request.as_bytes())).await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    let plain = [("Host", "board.club.example:1982")];
    assert_eq!(get(server.livechess, "/api/v1.0/eboards", &plain).await.status, 403);

    let mut near = Client::open(server.livechess).await;
    assert_eq!(near.call(r#"{"id":1,"call":"eboards"}"#).await["param"][0]["serialnr"], "90001");
    assert_eq!(get(server.livechess, "/api/v1.0/eboards", &[]).await.status, 200);
    drop((slow, far, near));
    server.stop().await;
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_is_told_with_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let (files, _) = certificate(dir.path());
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    let (others, _) = certificate(&other);
    let empty = dir.path().join("empty.pem");
    fs::write(&empty, "nothing").unwrap();
    let gone = dir.path().join("gone.pem");
    for (certificate, key, wanted) in [
        (&gone, &files.key, format!("[livechess] certificate {}: cannot be read", gone.display())),
        (&empty, &files.key, format!("[livechess] certificate {}: there is no certificate", empty.display())),
        (&files.certificate, &empty, format!("[livechess] key {}: there is no private key", empty.display())),
        (&files.certificate, &gone, format!("[livechess] key {}: cannot be read", gone.display())),
        (&files.certificate, &others.key, format!("[livechess] key {}: does not fit", others.key.display())),
    ] {
        let tls = TlsFiles { certificate: certificate.clone(), key: key.clone() };
        let refused = bind(FeedConfig { livechess_tls: Some(tls), ..config() }).await;
        let Err(error) = refused else { panic!("{wanted}") };
        assert!(error.to_string().starts_with(&wanted), "{error}");
    }
}
