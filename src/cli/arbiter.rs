//! `touchmoved arbiter` and `touchmoved button`

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::{Value, json};

use super::{
    check_config,
    client::{self, Answer},
};

const COMMAND_HELP: &str = "\
What is entered is written into the journal of the board before anything follows from it, and it is never \
rewritten. A command that cannot be carried out is refused with the reason and changes nothing.

  touchmoved arbiter 1 pause                       both clocks were stopped
  touchmoved arbiter 1 run                         the clock goes on
  touchmoved arbiter 1 confirm                     the illegal move that is on record is one
  touchmoved arbiter 1 restore 24                  back to the position after ply 24
  touchmoved arbiter 1 correct 7 d8d1r             ply 7 was another move
  touchmoved arbiter 1 set clock white 90000       White's clock was set to 90 s
  touchmoved arbiter 1 penalty reduce white 60000  less time for White
  touchmoved arbiter 1 result 1-0
  touchmoved arbiter 1 seal-request                from now on nothing newer leaves
  touchmoved arbiter 1 open-envelope Nf3

docs/arbiter.md has all commands.

Exit status: 0 carried out, 1 refused, or the daemon does not answer, 2 the configuration or the token \
cannot be used.";

const BUTTON_HELP: &str = "\
The same as a button at the board, for a player who has none: what he said goes into the journal.

  touchmoved button 1 draw-offer-white
  touchmoved button 1 claim-threefold-black
  touchmoved button 1 resign-white

Exit status: 0 taken, 1 unknown button, or the daemon does not answer, 2 the configuration or the token \
cannot be used.";

/// Where the daemon is, and how it knows the arbiter.
#[derive(Debug, clap::Args)]
struct Desk {
    /// The configuration of the daemon, which names its address and the file with the token
    #[arg(short, long, value_name = "FILE", default_value = "/etc/touchmoved/touchmoved.toml")]
    config: PathBuf,
    /// Address of the daemon instead of the configured one
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// File with the token instead of the configured one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `touchmoved arbiter`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = COMMAND_HELP)]
pub(super) struct ArbiterArgs {
    #[command(flatten)]
    desk: Desk,
    /// The board
    board: String,
    /// The command, in one word or several
    #[arg(required = true, allow_negative_numbers = true)]
    command: Vec<String>,
}

/// Arguments of `touchmoved button`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = BUTTON_HELP)]
pub(super) struct ButtonArgs {
    #[command(flatten)]
    desk: Desk,
    /// The board
    board: String,
    /// The button, such as draw-offer-white
    name: String,
}

pub(super) fn command(args: &ArbiterArgs) -> ExitCode {
    let command = args.command.join(" ");
    say("arbiter", &args.desk, &args.board, "arbiter", &json!({ "command": command }))
}

pub(super) fn button(args: &ButtonArgs) -> ExitCode {
    say("button", &args.desk, &args.board, "buttons", &json!({ "button": args.name }))
}

fn say(name: &str, desk: &Desk, board: &str, what: &str, body: &Value) -> ExitCode {
    let fail = |text: &str, code: u8| {
        eprintln!("touchmoved {name}: {text}");
        ExitCode::from(code)
    };
    let (address, token) = match desk.find() {
        Ok(found) => found,
        Err(text) => return fail(&text, 2),
    };
    let path = format!("/api/boards/{}/{what}", client::segment(board));
    let Answer { status, body } = match client::post(address, &path, &token, body) {
        Ok(answer) => answer,
        Err(text) => return fail(&text, 1),
    };
    if let Some(error) = body.get("error").and_then(Value::as_str) {
        let token_refused = matches!(status, 401 | 403);
        return fail(error, if token_refused { 2 } else { 1 });
    }
    let Some(accepted) = body.get("accepted").and_then(Value::as_bool) else {
        return fail(
            &format!("http://{address} answers with status {status} and nothing that can be read"),
            1,
        );
    };
    if desk.json {
        println!("{body}");
    } else {
        facts(&body).for_each(|text| println!("{text}"));
    }
    if accepted {
        return ExitCode::SUCCESS;
    }
    fail(body.get("reason").and_then(Value::as_str).unwrap_or("not carried out"), 1)
}

/// The facts that it led to, in words. What is told may come from a player's sheet: no control characters.
fn facts(body: &Value) -> impl Iterator<Item = String> {
    let list = body.get("facts").and_then(Value::as_array);
    let texts = list.into_iter().flatten().filter_map(|fact| fact.get("text")?.as_str());
    texts.map(|text| text.replace(char::is_control, "\u{fffd}"))
}

impl Desk {
    /// The address and the token.
    fn find(&self) -> Result<(SocketAddr, String), String> {
        let (address, file) = match (self.http, &self.token_file) {
            (Some(address), Some(file)) => (address, file.clone()),
            (http, file) => {
                let config = check_config::load(&self.config).map_err(|problems| {
                    format!("{problems}\nor name --http ADDRESS:PORT and --token-file FILE")
                })?;
                let listen = http.or(config.http).ok_or_else(|| {
                    format!("{}: [http] is switched off, so the daemon cannot be reached", config.source)
                })?;
                let file = file.clone().or(config.arbiter_token).ok_or_else(|| {
                    format!(
                        "{}: no token is configured; set [arbiter] token-file and restart the daemon",
                        config.source
                    )
                })?;
                (listen, file)
            }
        };
        if address.port() == 0 {
            return Err("the daemon takes a free port at its start; name the one that its log tells with \
                        --http ADDRESS:PORT"
                .to_owned());
        }
        Ok((client::reach(address), token(&file)?))
    }
}

fn token(file: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{}: cannot read the token: {error}", file.display()))?;
    let token = text.trim();
    crate::desk::Token::parse(token).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(token.to_owned())
}
