//! What the machine needs without a daemon.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
    time::Duration,
};

use serialport::{SerialPort as _, TTYPort};
use touchmoved::sysclock;

use crate::stats::Sample;

/// Five bytes through a pty to a thread that sends them on over TCP: the way of a field update with
/// nothing on it.
pub fn pty_and_tcp(rounds: usize, pace: Duration) -> Sample {
    let (mut master, slave) = TTYPort::pair().unwrap();
    let mut port = TTYPort::open(&serialport::new(slave.name().unwrap(), 9600)).unwrap();
    port.set_timeout(Duration::from_secs(60)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut out = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    out.set_nodelay(true).unwrap();
    let (mut inner, _) = listener.accept().unwrap();
    let relay = thread::spawn(move || {
        let mut buffer = [0; 5];
        for _ in 0..rounds {
            port.read_exact(&mut buffer).unwrap();
            out.write_all(&buffer).unwrap();
        }
    });
    let client = thread::spawn(move || {
        let mut buffer = [0; 5];
        let mut arrived = Vec::new();
        for _ in 0..rounds {
            inner.read_exact(&mut buffer).unwrap();
            arrived.push(sysclock::monotonic());
        }
        arrived
    });
    let mut written = Vec::new();
    for _ in 0..rounds {
        thread::sleep(pace);
        written.push(sysclock::monotonic());
        master.write_all(&[0x8e, 0, 5, 0, 0]).unwrap();
    }
    relay.join().unwrap();
    let mut sample = Sample::default();
    for (arrived, written) in client.join().unwrap().into_iter().zip(written) {
        sample.add(arrived.since(written));
    }
    sample
}

/// Appending 600 bytes, as many as the records of a press and its move have, and `fdatasync`.
pub fn fdatasync(dir: &Path, rounds: usize, pace: Duration) -> Sample {
    let file = tempfile::NamedTempFile::new_in(dir).unwrap();
    let mut out = File::options().append(true).open(file.path()).unwrap();
    let mut sample = Sample::default();
    for _ in 0..rounds {
        thread::sleep(pace);
        let before = sysclock::monotonic();
        out.write_all(&[b'x'; 600]).unwrap();
        out.sync_data().unwrap();
        sample.add(sysclock::monotonic().since(before));
    }
    sample
}
