//! `touchmoved doctor --walk`: one man over the 64 squares, and the map of what saw him.

use std::{
    fs,
    io::{self, BufRead as _, Write as _},
    path::Path,
    process::ExitCode,
    sync::mpsc::{Receiver, TryRecvError, channel},
    time::Duration,
};

use super::{
    Device, interrupt,
    listen::{self, Listener},
};
use crate::doctor::{
    map::{Finding, Map},
    squares,
    walk::{Step, Walk, Word},
};

const WAIT: Duration = Duration::from_millis(50);

const INTRO: &str = "\
Clear the board and take one man. Put him in the middle of the square that is named, wait for the answer, lift
him. Instead of a man: Enter - he stands there and nothing happens, the square is dead; s Enter - later;
b Enter - the square before once more; q Enter or Ctrl-C - the end, to go on another time.";

/// Walks over a board.
pub(super) fn run(device: &Device, file: Option<&Path>) -> ExitCode {
    let map = match file.map(kept).transpose() {
        Ok(map) => map.flatten().unwrap_or_default(),
        Err(message) => return super::fail(&message),
    };
    if map.is_whole() {
        say("The file holds every square already; remove it to walk again.");
        return done(&map);
    }
    let walked = match go(device, map, file) {
        Ok(map) => map,
        Err(message) => return super::fail(&message),
    };
    done(&walked)
}

/// The map of an earlier walk.
fn kept(file: &Path) -> Result<Option<Map>, String> {
    match fs::read_to_string(file) {
        Ok(text) => {
            let map = Map::from_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
            Ok(Some(map))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

fn say(text: &str) {
    // A closed pipe ends the walk with the next signal, not here.
    let _ = writeln!(io::stdout().lock(), "{text}");
}

fn go(device: &Device, map: Map, file: Option<&Path>) -> Result<Map, String> {
    let stop =
        interrupt::stop_at_signals().map_err(|error| format!("the system gives no signals: {error}"))?;
    let Device { name, board } = device;
    let (listener, about, mut watch) =
        Listener::open(name, &listen::straight(board)).map_err(|check| check.of(name).line())?;
    let title = format!("touchmoved doctor --walk, {}", about.title());
    if let Some(file) = file {
        // A file that cannot be written is told before the board is cleared.
        keep(file, &map, &title)?;
    }
    say(INTRO);
    let words = listen_to_words();
    let mut walk: Option<Walk> = None;
    let mut start = Some(map);
    let mut more = true;
    while more && !stop.is_set() {
        more = listener.hear(&mut watch, WAIT);
        let told = watch.first().filter(|_| !watch.is_assumed());
        if let (None, Some((occupied, _))) = (&walk, told) {
            let begun = Walk::new(start.take().unwrap_or_default(), *occupied);
            introduce(&begun);
            walk = Some(begun);
        }
        let Some(walk) = &mut walk else { continue };
        let changes: Vec<_> = watch.take_changes().collect();
        for change in changes {
            let seen = walk.advance(change.at);
            tell(seen, walk, &title, file)?;
            let done = walk.change(change);
            tell(done, walk, &title, file)?;
        }
        let seen = walk.advance(watch.now());
        tell(seen, walk, &title, file)?;
        match words.try_recv() {
            Ok(Some(word)) => {
                let step = walk.say(word);
                let back = step.is_none();
                tell(step, walk, &title, file)?;
                if back {
                    ask(walk);
                }
            }
            Ok(None) => break,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        let Some(next) = walk.next() else { break };
        listener.light(next.into(), &watch);
    }
    listener.end(board, &watch).map_err(|check| check.of(name).line())?;
    match walk {
        Some(walk) => Ok(walk.map().clone()),
        None => Err(format!("{}: no board answered; touchmoved doctor says more", about.place)),
    }
}

fn introduce(walk: &Walk) {
    let stuck = squares::names(walk.stuck());
    if !stuck.is_empty() {
        say(&format!(
            "Occupied before anything was put there: {}. Take these men away; what stays is stuck and counts as soon \
             as it opens.",
            stuck.join(" ")
        ));
    }
    ask(walk);
}

fn ask(walk: &Walk) {
    if let Some(square) = walk.next() {
        say(&format!("{square}?   ({} squares left)", walk.left()));
    }
}

/// Tells what happened, and keeps it.
fn tell(step: Option<Step>, walk: &Walk, title: &str, file: Option<&Path>) -> Result<(), String> {
    let Some(step) = step else { return Ok(()) };
    match step {
        Step::Seen(square, contacts) => {
            let named: Vec<String> = contacts.iter().map(ToString::to_string).collect();
            let named = named.join(" and ");
            let word =
                if contacts == [square] { "as it should be".to_owned() } else { format!("by {named}") };
            say(&format!("     seen {word}; lift the man"));
        }
        Step::Done(square, finding) => {
            let word = match finding {
                Finding::Contact(contact) if contact == square => "good".to_owned(),
                Finding::Contact(contact) => format!("it is the contact of {contact}"),
                Finding::Several(contacts) => {
                    let named: Vec<String> = contacts.iter().map(ToString::to_string).collect();
                    format!("several contacts: {}", named.join(" "))
                }
                Finding::Dead => "dead".to_owned(),
                Finding::Open => "later".to_owned(),
            };
            say(&format!("{square}    {word}"));
            if let Some(file) = file {
                keep(file, walk.map(), title)?;
            }
            ask(walk);
        }
    }
    Ok(())
}

/// Writes the map beside the file and puts it in its place, so that a pulled plug leaves the one before.
fn keep(file: &Path, map: &Map, title: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: cannot keep the map: {error}", file.display());
    let walked = 64 - map.open().count();
    let title = format!(
        "{title}: {walked} of 64 squares walked\nRows of the sensor from row 0, in each the columns from column 0: the \
         square of that contact.\nFor the table of the board's sensor in the configuration."
    );
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    let beside = Path::new(&name);
    fs::write(beside, map.to_file(&title)).map_err(failed)?;
    fs::rename(beside, file).map_err(failed)
}

/// What the walker types, line by line; `None` is the end that he wants.
fn listen_to_words() -> Receiver<Option<Word>> {
    let (sender, words) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let word = match line.trim() {
                "" => Some(Word::Dead),
                "s" => Some(Word::Skip),
                "b" => Some(Word::Back),
                "q" => None,
                _ => continue,
            };
            if sender.send(word).is_err() {
                return;
            }
        }
    });
    words
}

/// Says what was found; the exit status.
fn done(map: &Map) -> ExitCode {
    say("");
    for remark in map.remarks() {
        say(&remark);
    }
    if !map.is_whole() {
        say("The configuration takes a map of all 64 squares; so far it is:");
    }
    say(&format!("\n{}", map.to_toml().trim_end()));
    let is_broken = !map.dead().is_empty() || !map.doubled().is_empty();
    ExitCode::from(match (map.is_whole(), is_broken) {
        (true, _) => 0,
        (false, false) if map.open().next().is_some() => 1,
        (false, _) => 2,
    })
}
