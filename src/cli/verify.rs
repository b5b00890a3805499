//! `touchmoved verify`

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use crate::journal::read::{Verified, VerifyError, verify};

const HELP: &str = "\
Every record of a journal carries a hash over its own bytes and the hash of the record before it. A byte \
that is changed, and a record that is removed, added or moved, show at that place. The last hash, the head, \
stands for the whole file: write it on the signed score sheets or publish it after the game, and nobody can \
change the file later without the head changing. Only such a head shows that records are missing at the \
end, or that somebody who can write to the disk computed the chain anew: it has no key.

Output, one line a file:
  HEAD  FILE  N records       the chain is intact; HEAD has 32 hexadecimal digits
  FILE: bad record, seq N: …  the first record that does not fit; it is line N of the file

A bad last record that is incomplete was torn by a power failure, or the daemon is writing it just now. The \
daemon cuts it off at its next start and records the cut.

Exit status: 0 all files are intact, 1 a record does not fit, 2 a file cannot be read or the output
cannot be written.

Examples:
  touchmoved verify /var/lib/touchmoved/1/20260131T140000Z-0001.ndjson
  touchmoved verify round3/*.ndjson > heads.txt

By hand, for line 12 of FILE (docs/journal.md explains it):
  prev=$(sed -n 11p FILE | grep -o '[0-9a-f]*\"}$' | cut -c1-32)
  line=$(sed -n 12p FILE | sed 's/,\"chain\":\"[0-9a-f]*\"}$/}/')
  printf '%s%s' \"$prev\" \"$line\" | sha256sum | cut -c1-32";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP)]
pub(super) struct Args {
    /// Journals to check
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let mut heads: BTreeMap<String, PathBuf> = BTreeMap::new();
    let (mut bad, mut unreadable) = (0, 0);
    let mut unsaid = None;
    let mut out = io::stdout().lock();
    for file in &args.files {
        let line = match verify(file) {
            Ok(verified) => {
                let line = format!("{}  {}  {}", verified.head, file.display(), remarks(&verified, &heads));
                heads.insert(verified.head, file.clone());
                line
            }
            Err(VerifyError::Bad(record)) => {
                bad += 1;
                record.to_string()
            }
            Err(error) => {
                unreadable += 1;
                eprintln!("touchmoved verify: {error}");
                continue;
            }
        };
        if let Err(error) = writeln!(out, "{line}") {
            unsaid.get_or_insert(error);
        }
    }
    if let Some(error) = unsaid {
        eprintln!("touchmoved verify: cannot write to standard output: {error}");
        return ExitCode::from(2);
    }
    if bad > 0 {
        let of = args.files.len();
        eprintln!("touchmoved verify: {bad} of {of} file(s) were changed or are incomplete");
    }
    match (unreadable, bad) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(1),
        _ => ExitCode::from(2),
    }
}

fn remarks(verified: &Verified, heads: &BTreeMap<String, PathBuf>) -> String {
    let records = format!("{} records", verified.records);
    match verified.header.prev.as_ref().and_then(|prev| heads.get(prev)) {
        Some(before) => format!("{records}, follows {}", before.display()),
        None => records,
    }
}
