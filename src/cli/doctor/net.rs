//! Looks at the addresses, and asks the daemon that holds the data directory.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use serde_json::Value;

use crate::{
    cli::client,
    config::Config,
    daemon::lock,
    doctor::{Check, Topic, daemon::Answers},
};

/// The daemon that holds the data directory.
#[derive(Debug)]
pub(super) struct Holder {
    /// Its process, where the lock file tells it.
    pub(super) pid: Option<u32>,
    http: Option<SocketAddr>,
}

impl Holder {
    /// Finds the daemon.
    pub(super) fn find(config: &Config) -> Option<Holder> {
        let pid = lock::holder(&config.data_dir)?;
        Some(Holder { pid, http: config.http })
    }

    /// What it tells over HTTP.
    pub(super) fn answers(&self) -> Result<Answers, String> {
        let http = self.http.ok_or("[http] is switched off, so that nobody can ask it")?;
        let address = client::reach(http);
        let json = |path| -> Result<Value, String> {
            let text = client::get(address, path)?;
            serde_json::from_str(&text)
                .map_err(|_| format!("http://{address}{path} is not what a daemon says"))
        };
        Ok(Answers {
            health: json("/healthz")?,
            boards: json("/api/boards")?,
            metrics: client::get(address, "/metrics")?,
        })
    }
}

/// The addresses of the two services.
pub(super) fn services(config: &Config, is_running: bool) -> Vec<Check> {
    let services = [
        (Topic::Http, config.http, "/healthz", "http"),
        (Topic::Livechess, config.livechess, "/api/v1.0/eboards", "livechess"),
    ];
    services
        .into_iter()
        .map(|(topic, address, path, table)| match address {
            None => Check::not_run(topic, format!("[{table}] is switched off")),
            Some(address) if is_running => served(topic, address, path),
            Some(address) => free(topic, address, path, table),
        })
        .collect()
}

/// The daemon runs: it has to answer.
fn served(topic: Topic, address: SocketAddr, path: &str) -> Check {
    let reached = client::reach(address);
    match client::get(reached, path) {
        Ok(_) => Check::ok(topic, "the running daemon answers"),
        Err(reason) => Check::failed(topic, format!("the running daemon does not answer: {reason}"))
            .remedy("it was started with another configuration, or it hangs: start it again")
            .command("sudo systemctl restart touchmoved"),
    }
    .at(address.to_string())
}

/// No daemon runs: the address has to be free.
fn free(topic: Topic, address: SocketAddr, path: &str, table: &str) -> Check {
    let check = match TcpListener::bind(address) {
        Ok(_) => Check::ok(topic, "the address is free"),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let who = match client::get(client::reach(address), path) {
                Ok(text) if topic == Topic::Http && text.contains("\"journal\"") => {
                    "another touchmoved, with another data directory,"
                }
                Ok(text) if topic == Topic::Livechess && text.starts_with('[') => {
                    "a LiveChess, or another touchmoved,"
                }
                _ => "another program",
            };
            Check::failed(topic, format!("{who} has this address"))
                .remedy(format!("end it, or change [{table}] listen"))
                .command(format!("sudo ss -ltnp 'sport = :{}'", address.port()))
        }
        Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
            Check::failed(topic, "this machine does not have this address")
                .remedy(format!("set [{table}] listen to one that it has, or to 0.0.0.0"))
                .command("ip -brief address")
        }
        Err(error) => Check::failed(topic, format!("cannot be bound: {error}"))
            .remedy(format!("change [{table}] listen; ports below 1024 belong to the system")),
    };
    check.at(address.to_string())
}
