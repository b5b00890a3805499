//! What is pushed: all games of the daemon as one PGN. Pure.

use super::status::Cause;
use crate::{
    feed::pgn::{AfterSetUp, pgn_of_all},
    laws::time_control::GameControl,
    publish::{BoardState, PlayerTags, Tags},
};

/// Games that Lichess takes in one push; it leaves out those that follow.
pub const MOST_GAMES: usize = 100;
/// Bytes that Lichess takes in one push.
pub const MOST_BYTES: usize = 512 * 1024;
/// Sites whose games have a time control in seconds, to Lichess.
const IN_SECONDS: [&str; 3] = ["lichess.org", "chess.com", "tcec-chess.com"];

/// Why the games cannot be pushed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooMuch {
    #[error(
        "{0} games are more than the {MOST_GAMES} that Lichess takes in one push; let another daemon push the \
         other boards into a round of their own"
    )]
    Games(usize),
    #[error(
        "the games are {0} bytes, and Lichess takes {MOST_BYTES} in one push; switch clock.think-times off, or let \
         another daemon push some of the boards into a round of their own"
    )]
    Bytes(usize),
}

impl TooMuch {
    /// What that is for the operator.
    pub(super) fn cause(&self) -> Cause {
        match self {
            TooMuch::Games(_) => Cause::Games,
            TooMuch::Bytes(_) => Cause::Bytes,
        }
    }
}

/// The body of a push: all boards in their order. `in_minutes` where the tags have `TimeControl` in minutes
/// already.
pub(super) fn body<'a>(
    boards: impl ExactSizeIterator<Item = &'a BoardState>,
    in_minutes: bool,
    after: AfterSetUp,
) -> Result<String, TooMuch> {
    if boards.len() > MOST_GAMES {
        return Err(TooMuch::Games(boards.len()));
    }
    let told: Vec<BoardState> = boards
        .map(|state| {
            let time_control = control(&state.tags, in_minutes);
            BoardState { tags: Tags { time_control, ..state.tags.clone() }, ..state.clone() }
        })
        .collect();
    let text = pgn_of_all(&told, after);
    if text.len() > MOST_BYTES { Err(TooMuch::Bytes(text.len())) } else { Ok(text) }
}

/// The time control as Lichess reads it. Where it would read something else, nothing: the broadcast may have one
/// of its own.
fn control(tags: &Tags, in_minutes: bool) -> Option<String> {
    let told = tags.time_control.as_deref()?;
    let site = tags.site.as_deref().unwrap_or_default().to_ascii_lowercase();
    let read_in_seconds = IN_SECONDS.iter().any(|name| site.contains(name));
    match (in_minutes, read_in_seconds) {
        (false, false) => told.parse::<GameControl>().ok()?.lichess(),
        (true, false) => Some(told.to_owned()),
        (false, true) => Some(told.to_owned()).filter(|told| !told.contains([':', '/'])),
        (true, true) => None,
    }
}

/// True where Lichess knows who both players are: by a name that it counts as one, or by a number in the list of FIDE.
/// It leaves out the games of others.
pub(super) fn names_players(state: &BoardState) -> bool {
    let named = |name: &Option<String>| {
        name.as_deref().is_some_and(|name| name.chars().count() >= 2 && !name.eq_ignore_ascii_case("unknown"))
    };
    // The number 0 says that a player has none.
    let listed = |player: &PlayerTags| player.fide_id.is_some_and(|id| id > 0);
    let known = |name: &Option<String>, player: &PlayerTags| named(name) || listed(player);
    known(&state.tags.white, &state.tags.white_player) && known(&state.tags.black, &state.tags.black_player)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        publish::Publisher,
        session::{Session, setup::GameSetup},
    };

    fn tags(control: &str, site: &str) -> Tags {
        Tags { time_control: Some(control.to_owned()), site: Some(site.to_owned()), ..Tags::default() }
    }

    #[test]
    fn a_game_that_goes_on_from_another_position_is_told_as_the_files_tell_it() {
        use crate::{
            publish::{EarlierPart, Publisher},
            session::{Session, setup::GameSetup},
        };

        let setup = GameSetup::default();
        let new = Publisher::new("1", &setup, Tags::default(), &Session::new(&setup).unwrap());
        let mut state = new.state().clone();
        let san = ["e4", "e5", "e1e3"].map(str::to_owned).to_vec();
        let part = EarlierPart { start_fen: state.start_fen.clone(), san, times: Vec::new() };
        state.earlier = std::sync::Arc::new(vec![part]);
        state.start_fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/4K3/PPPP1PPP/RNBQ1BNR b kq - 0 2".to_owned();
        for after in [AfterSetUp::GoOn, AfterSetUp::Stop] {
            let text = body([&state].into_iter(), false, after).unwrap();
            assert_eq!(text.contains("[FEN "), after == AfterSetUp::GoOn, "{text}");
            assert_eq!(text, pgn_of_all([&state], after));
        }
    }

    #[test]
    fn the_time_control_is_told_as_it_is_read() {
        for (told, site, in_minutes, expected) in [
            ("5400+30", "Hall", false, Some("90+30")),
            ("40/5400+30:1800+30", "Hall", false, Some("90+30")),
            ("180+2", "Hall", false, Some("3+2")),
            ("90+2", "Hall", false, None),
            ("300d3", "Hall", false, None),
            ("90+30", "Hall", true, Some("90+30")),
            ("180+2", "https://Lichess.org/x", false, Some("180+2")),
            ("40/5400+30:1800+30", "lichess.org", false, None),
            ("3+2", "chess.com", true, None),
        ] {
            assert_eq!(control(&tags(told, site), in_minutes).as_deref(), expected, "{told} at {site}");
        }
        assert_eq!(control(&Tags::default(), false), None);
    }

    #[test]
    fn a_player_is_known_by_a_name_or_by_his_number() {
        let setup = GameSetup::default();
        let publisher = Publisher::new("1", &setup, Tags::default(), &Session::new(&setup).unwrap());
        let mut state = publisher.state().clone();
        for (white, number, black, other, known) in [
            (Some("Aa"), None, Some("Bb"), None, true),
            (Some("Aa"), None, None, None, false),
            (Some("A"), None, Some("unknown"), None, false),
            (None, Some(1_000_001), None, Some(1_000_002), true),
            (Some("Aa"), None, Some("?"), Some(1_000_002), true),
            (Some("Aa"), None, None, Some(0), false),
        ] {
            (state.tags.white, state.tags.black) = (white.map(str::to_owned), black.map(str::to_owned));
            (state.tags.white_player.fide_id, state.tags.black_player.fide_id) = (number, other);
            assert_eq!(names_players(&state), known, "{white:?} {number:?}, {black:?} {other:?}");
        }
    }
}
