//! A headless Chromium that a test drives over the DevTools protocol.
//!
//! Needs the program itself: `chromium` in the path, or `TOUCHMOVED_CHROMIUM` with its address. A
//! test without it fails and says so.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};

/// How long anything may take before the test gives up. Only a hung test meets it.
const PATIENCE: Duration = Duration::from_secs(90);

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page.
pub struct Browser {
    child: Child,
    /// The profile; removed when the browser is dropped.
    _profile: TempDir,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    session: Option<String>,
    calls: u64,
    /// What the page reported: console messages, exceptions, requests.
    events: Vec<Value>,
}

impl Browser {
    /// Starts the browser with an empty page.
    pub async fn start() -> Browser {
        let profile = tempfile::tempdir().unwrap();
        let mut child = spawn(profile.path());
        let address = devtools_address(&mut child, profile.path()).await;
        let (socket, _) = connect_async(address).await.expect("Chromium refuses the DevTools connection");
        let mut browser =
            Browser { child, _profile: profile, socket, session: None, calls: 0, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach).await;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({})).await;
        }
        browser
    }

    /// Calls a method of the protocol and gives its result.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut request = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(request.to_string())).await.expect("Chromium is gone");
        loop {
            let message = timeout(PATIENCE, self.socket.next())
                .await
                .unwrap_or_else(|_| panic!("Chromium does not answer {method}"))
                .expect("Chromium closed the DevTools connection")
                .expect("the DevTools connection broke");
            let Message::Text(text) = message else { continue };
            let mut answer: Value = serde_json::from_str(&text).unwrap();
            if answer.get("id") == Some(&json!(id)) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }

    /// Goes to an address. The page may still be loading afterwards: see [`Browser::wait_for`].
    pub async fn open(&mut self, url: &str) {
        let answer = self.call("Page.navigate", json!({ "url": url })).await;
        assert!(answer.get("errorText").is_none(), "cannot open {url}: {answer}");
    }

    /// The value of an expression in the page.
    pub async fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", params).await;
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true in the page. While what it asks for is missing it is not.
    pub async fn wait_for(&mut self, expression: &str) {
        let question =
            format!("(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()");
        let asked = async {
            while self.evaluate(&question).await != json!(true) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        if timeout(PATIENCE, asked).await.is_err() {
            let seen = self.evaluate("document.body.innerText").await;
            panic!(
                "never became true: {expression}\nthe page says: {seen}\nevents: {:#?}",
                self.complaints()
            );
        }
    }

    /// Presses and releases a key, as a keyboard does.
    pub async fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": key, "code": key });
            self.call("Input.dispatchKeyEvent", params).await;
        }
    }

    /// Sets the size of the page in CSS pixels; `mobile` for a phone with two device pixels each.
    pub async fn resize(&mut self, width: u32, height: u32, mobile: bool) {
        let scale = if mobile { 2 } else { 1 };
        let params =
            json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", params).await;
    }

    /// Sets the media features that the page sees, such as `prefers-color-scheme`.
    pub async fn prefer(&mut self, features: &[(&str, &str)]) {
        let features: Vec<Value> =
            features.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.call("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// Writes a picture of what is in view.
    pub async fn screenshot(&mut self, path: &Path) {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" })).await;
        let picture = base64(answer["data"].as_str().unwrap_or_default());
        assert!(picture.starts_with(b"\x89PNG"), "Chromium gave no picture");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, picture).unwrap();
    }

    /// The addresses that the page asked for so far.
    pub fn requests(&self) -> Vec<String> {
        self.of("Network.requestWillBeSent")
            .filter_map(|params| params["request"]["url"].as_str().map(str::to_owned))
            .collect()
    }

    /// Exceptions, console messages and log entries of the page so far.
    pub fn complaints(&self) -> Vec<&Value> {
        self.of("Runtime.exceptionThrown")
            .chain(self.of("Runtime.consoleAPICalled"))
            .chain(self.of("Log.entryAdded"))
            .collect()
    }

    fn of<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["method"] == method).map(|event| &event["params"])
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(profile: &Path) -> Child {
    let program = program();
    let errors = fs::File::create(profile.join("stderr")).unwrap();
    Command::new(&program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-port=0"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("about:blank")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors)
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()))
}

/// Where the browser is; a clear failure where there is none.
fn program() -> PathBuf {
    if let Some(named) = env::var_os("TOUCHMOVED_CHROMIUM") {
        return named.into();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .flat_map(|directory| PROGRAMS.map(|name| directory.join(name)))
        .find(|candidate| candidate.is_file())
        .expect(
            "this test looks at the web page in Chromium, and there is none: \
             install it (apt-get install chromium) or set TOUCHMOVED_CHROMIUM to the program",
        )
}

/// Waits for the browser to say where it listens.
async fn devtools_address(child: &mut Child, profile: &Path) -> String {
    let file = profile.join("DevToolsActivePort");
    let waited = async {
        loop {
            let text = fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.split_once('\n')
                && !path.is_empty()
            {
                return format!("ws://127.0.0.1:{port}{}", path.trim());
            }
            if let Ok(Some(status)) = child.try_wait() {
                panic!("Chromium ended ({status}): {}", errors(profile));
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, waited)
        .await
        .unwrap_or_else(|_| panic!("Chromium does not open its DevTools port: {}", errors(profile)))
}

fn errors(profile: &Path) -> String {
    fs::read_to_string(profile.join("stderr")).unwrap_or_default()
}

/// Decodes base64 with the usual alphabet, padding left out of account.
fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for sign in text.bytes() {
        let value = match sign {
            b'A'..=b'Z' => sign - b'A',
            b'a'..=b'z' => sign - b'a' + 26,
            b'0'..=b'9' => sign - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}
