//! The daemon under measurement: the real program with one board.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

pub struct Daemon {
    child: Child,
    lines: Receiver<String>,
    http: SocketAddr,
    livechess: SocketAddr,
}

impl Daemon {
    /// Starts it with everything in `dir`; `sensor` is a key of `[board.sensor]` with its table.
    pub fn start(dir: &Path, sensor: &str) -> Daemon {
        Daemon::start_with(dir, "", sensor)
    }

    /// The same with further tables of the configuration.
    pub fn start_with(dir: &Path, tables: &str, sensor: &str) -> Daemon {
        let config = dir.join("touchmoved.toml");
        let text = format!(
            "data.dir = \"data\"\nhttp.listen = \"127.0.0.1:0\"\nlivechess.listen = \"127.0.0.1:0\"\n\
             http.max-connections = 5000\n{tables}[[board]]\nid = \"1\"\nserial = \"3000\"\nsensor.{sensor}\n"
        );
        fs::write(&config, text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_touchmoved"))
            .args(["run", "--config"])
            .arg(&config)
            .env_remove("NOTIFY_SOCKET")
            .env_remove("JOURNAL_STREAM")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut daemon = Daemon { child, lines, http: nowhere, livechess: nowhere };
        daemon.http = daemon.address("http://");
        daemon.livechess = daemon.address("ws://");
        daemon.wait_for("ready");
        daemon
    }

    /// Waits for a line of the log.
    pub fn wait_for(&mut self, text: &str) -> String {
        let mut said = String::new();
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("waited in vain for {text:?} after\n{said}"));
            if line.contains(text) {
                return line;
            }
            said.push_str(&line);
            said.push('\n');
        }
    }

    fn address(&mut self, scheme: &str) -> SocketAddr {
        let line = self.wait_for(scheme);
        line.split(scheme).nth(1).unwrap().split('/').next().unwrap().parse().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn http(&self) -> SocketAddr {
        self.http
    }

    pub fn livechess(&self) -> SocketAddr {
        self.livechess
    }

    /// Ends it as the service manager does.
    pub fn end(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
