//! The real program under test: started, asked over HTTP, ended; and its journals read back.
#![allow(dead_code)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A test that waits for longer than this has hung.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The program.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchmoved"));
    command.env_remove("NOTIFY_SOCKET").env_remove("JOURNAL_STREAM").env_remove("WATCHDOG_USEC");
    command
}

/// Runs the program to its end.
pub fn run(args: &[&str]) -> Output {
    program().args(args).output().unwrap()
}

/// A daemon that runs.
pub struct Daemon {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Daemon {
    /// Starts a command whose addresses have port 0.
    pub fn start(mut command: Command) -> Daemon {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        collect(child.stdout.take().unwrap(), lines.clone());
        collect(child.stderr.take().unwrap(), lines.clone());
        Daemon { child, lines }
    }

    /// Starts `touchmoved run` with a configuration file.
    pub fn with_config(config: &Path) -> Daemon {
        let mut command = program();
        command.arg("run").arg("--config").arg(config);
        Daemon::start(command)
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// What it has said so far, both streams.
    pub fn said(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// Waits for a line that contains `text`.
    pub fn wait_for(&mut self, text: &str) -> String {
        self.until(&format!("a line with {text:?}"), |daemon| {
            daemon.lines.lock().unwrap().iter().find(|line| line.contains(text)).cloned()
        })
    }

    /// Waits until `look` finds something. A daemon that has ended finds nothing any more.
    pub fn until<T>(&mut self, what: &str, mut look: impl FnMut(&mut Daemon) -> Option<T>) -> T {
        let step = Duration::from_millis(10);
        for _ in 0..LIMIT.as_millis() / step.as_millis() {
            if let Some(found) = look(self) {
                return found;
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                thread::sleep(Duration::from_millis(100));
                if let Some(found) = look(self) {
                    return found;
                }
                panic!("{what}: the daemon ended with {status}:\n{}", self.said());
            }
            thread::sleep(step);
        }
        panic!("waited in vain for {what}:\n{}", self.said());
    }

    /// Where its web page is.
    pub fn http(&mut self) -> SocketAddr {
        let line = self.wait_for("http://127.0.0.1:");
        let rest = line.split("http://").nth(1).unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// A JSON document.
    pub fn json(&mut self, path: &str) -> Value {
        let (status, body) = get(self.http(), path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for the end.
    pub fn wait(&mut self) -> ExitStatus {
        let step = Duration::from_millis(5);
        for _ in 0..LIMIT.as_millis() / step.as_millis() {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(step);
        }
        panic!("the daemon does not end:\n{}", self.said());
    }

    /// Ends it with SIGTERM, as systemd does.
    pub fn end(&mut self) {
        self.signal(Signal::TERM);
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "{}", self.said());
    }

    /// Kills it.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

fn collect(stream: impl std::io::Read + Send + 'static, lines: Arc<Mutex<Vec<String>>>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            lines.lock().unwrap().push(line);
        }
    });
}

/// Asks for a document; status and body.
pub fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: board\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        unchunk(body)
    } else {
        body.to_owned()
    };
    (status, body)
}

fn unchunk(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        if length == 0 {
            break;
        }
        out.push_str(&rest[..length]);
        body = rest[length..].trim_start_matches("\r\n");
    }
    out
}

/// The moves of a board as `/api/boards` tells them.
pub fn moves(state: &Value) -> Vec<String> {
    let plies = state["plies"].as_array().unwrap();
    plies.iter().map(|ply| ply["uci"].as_str().unwrap().to_owned()).collect()
}

/// The journals of a board, in order.
pub fn journals(data: &Path, board: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(data.join(board)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The records of a journal whose last line is complete.
pub fn records(journal: &Path) -> Vec<Value> {
    let text = fs::read_to_string(journal).unwrap();
    text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
}

/// Runs `touchmoved verify` and expects it to vouch for the file.
pub fn assert_verified(journal: &Path) {
    let output = run(&["verify", journal.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the inputs of a journal again and expects the recorded facts to come out.
pub fn assert_replayed(journal: &Path) {
    if let Err(error) = touchmoved::journal::replay::check(journal) {
        panic!("{error}");
    }
}
