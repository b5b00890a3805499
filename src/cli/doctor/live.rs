//! `touchmoved doctor --live`: the board and its contacts, drawn again and again.

use std::{
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
    sync::mpsc::channel,
    time::Duration,
};

use super::{
    Device, interrupt,
    listen::{self, Listener},
    machine, net,
};
use crate::{
    config::Config,
    doctor::{board::About, live, watch::Watch},
    sysclock,
};

/// A picture each quarter of a second on a terminal, a line each second elsewhere, in milliseconds.
const PICTURE_MS: u64 = 250;
const LINE_MS: u64 = 1000;
const WAIT: Duration = Duration::from_millis(50);

/// The other screen, without a cursor and without wrapped lines; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// A terminal that shows the view, and is as it was when this is dropped.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Screen> {
        print(ENTER)?;
        Ok(Screen)
    }

    fn draw(&self, lines: &[String]) -> io::Result<()> {
        // Each line is overwritten and its rest cleared, so that nothing flickers.
        let mut text = String::from("\x1b[H");
        for line in lines {
            text.push_str(line);
            text.push_str("\x1b[K\r\n");
        }
        text.push_str("\x1b[J");
        print(&text)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = print(LEAVE);
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Shows a board until Ctrl-C, or until its recording is over.
pub(super) fn run(config: &Config, is_service: bool, device: &Device) -> ExitCode {
    let Device { name, board } = device;
    let stop = match interrupt::stop_at_signals() {
        Ok(stop) => stop,
        Err(error) => return super::fail(&format!("the system gives no signals: {error}")),
    };
    let (listener, about, mut watch) = match Listener::open(name, board) {
        Ok(opened) => opened,
        Err(check) => return super::fail(&check.of(name).line()),
    };
    let is_terminal = io::stdout().is_terminal();
    let title = format!("touchmoved doctor, {}", about.title());
    let (sender, machine) = channel();
    let (asked, devices) = (config.clone(), listen::devices(&board.sensor));
    // It may take some seconds, and the board is shown meanwhile; if nobody waits any longer, it is for nothing.
    std::thread::spawn(move || {
        let is_held = net::Holder::find(&asked).is_some();
        let mut checks = machine::checks(&asked, is_service, is_held);
        checks.extend(machine::permissions(&devices, is_service));
        sender.send(live::machine(&checks))
    });
    let mut beside = Vec::new();
    let shown = {
        let screen = if is_terminal { Screen::enter().map(Some) } else { Ok(None) };
        let step_ms = if is_terminal { PICTURE_MS } else { LINE_MS };
        screen.and_then(|screen| {
            let mut due = sysclock::monotonic();
            while !stop.is_set() {
                let more = listener.hear(&mut watch, WAIT);
                let now = sysclock::monotonic();
                if now >= due || !more {
                    due = now.plus_ms(step_ms);
                    listener.light(live::doubtful(&watch, &about.start), &watch);
                    beside = machine.try_recv().unwrap_or(beside);
                    show(screen.as_ref(), &title, &watch, &about, &beside)?;
                }
                watch.take_changes().for_each(drop);
                if !more {
                    break;
                }
            }
            Ok(())
        })
    };
    let ended = listener.end(board, &watch);
    if is_terminal {
        // What was seen last stays on the usual screen.
        let lines = live::screen(&title, &watch, &about.start, false).join("\n");
        let _ = print(&format!("{lines}\n"));
    }
    match (ended, shown) {
        (Err(check), _) => super::fail(&check.of(name).line()),
        // A closed pipe (`| head`) is the end as well.
        (Ok(()), Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => super::fail(&error.to_string()),
        _ => ExitCode::SUCCESS,
    }
}

fn show(
    screen: Option<&Screen>,
    title: &str,
    watch: &Watch,
    about: &About,
    machine: &[String],
) -> io::Result<()> {
    match screen {
        Some(screen) => {
            let mut lines = live::screen(title, watch, &about.start, true);
            lines.extend_from_slice(machine);
            lines.push(String::new());
            lines.push(
                "  Ctrl-C ends it. ? dead or without a man, ! stuck or a man too many, ~ chatter".to_owned(),
            );
            screen.draw(&lines)
        }
        None => print(&format!("{}\n", live::line(watch, &about.start))),
    }
}
