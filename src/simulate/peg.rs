//! A simulated pegged board: the hands of a [`Simulation`] over the reference firmware, with what may go
//! wrong on the way to the host.
//!
//! Pure: the time comes in, in milliseconds since the board was plugged in, and what leaves the board comes
//! out. The board runs in real time, however fast its hands are.

use std::{collections::VecDeque, str::FromStr};

use shakmaty::Color;
use touchmoved_peg::{Board, Holes, Identity, Key, Settings, Side};

use super::Simulation;
use crate::session::event::{Event, Stamped};

/// The keys of the simulated board.
const KEYS: [Key<'static>; 2] = [Key::Press(Side::White), Key::Press(Side::Black)];
/// A lever is held for so long.
const HELD_MS: u64 = 60;
/// The chip of the board starts within this time.
const BOOT_MS: u64 = 300;
/// The cable is out for so long.
const UNPLUGGED_MS: u64 = 600;
/// Noise on the line: text, half a line, a line whose checksum is wrong, and no text at all.
const GARBAGE: &[u8] = b"ets Jun 8 2016\r\n$PEG,12,34\x00\xff\xfe$PEG,1,2,a1,out*0F0000\r\n\x8e\x00\x05";

/// Fastest hands: above that the firmware takes two deeds for one wiggle.
pub const FASTEST: u32 = 10;

/// What goes wrong between the board and the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Bytes come that no board has sent.
    Garbage,
    /// One byte of the next line about a peg is lost.
    LostByte,
    /// The chip starts again and sees nothing meanwhile.
    Restart,
    /// The cable is pulled out and put in again; the hands go on.
    Unplug,
}

impl Trouble {
    const ALL: [(&'static str, Trouble); 4] = [
        ("garbage", Trouble::Garbage),
        ("lost-byte", Trouble::LostByte),
        ("restart", Trouble::Restart),
        ("unplug", Trouble::Unplug),
    ];
}

/// A trouble and the ply, counted from 1, at which it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TroubleAt {
    /// What goes wrong.
    pub trouble: Trouble,
    /// The ply whose hand has just begun to move.
    pub ply: usize,
}

impl FromStr for TroubleAt {
    type Err = String;

    fn from_str(text: &str) -> Result<TroubleAt, String> {
        let read = || {
            let (name, ply) = text.split_once('@')?;
            let (_, trouble) = Trouble::ALL.into_iter().find(|(known, _)| *known == name)?;
            let ply = ply.parse().ok().filter(|ply| *ply > 0)?;
            Some(TroubleAt { trouble, ply })
        };
        read().ok_or_else(|| {
            "expected garbage, lost-byte, restart or unplug, @ and the number of a ply, such as unplug@5"
                .to_owned()
        })
    }
}

/// What leaves the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Bytes for the host.
    Bytes(Vec<u8>),
    /// The cable is pulled out.
    Unplug,
    /// The cable is put in.
    Plug,
}

/// The board, its chip and the hands above it.
#[derive(Clone, Debug)]
pub struct PegBoard {
    /// The chip, while it runs, and when it started.
    chip: Option<(Board<'static>, u64)>,
    /// When it will run again, and whether the cable is out until then.
    starts: Option<(u64, bool)>,
    /// What the contacts of the holes read.
    filled: u64,
    /// Until when each lever is held.
    held: [u64; 2],
    deeds: VecDeque<Stamped>,
    troubles: VecDeque<(u64, Trouble)>,
    speed: u64,
    /// When the hands began; they wait for the first request.
    began: Option<u64>,
    /// The time that it has come to.
    now: u64,
    /// A byte of the next line about a peg will be lost.
    loses: bool,
}

impl PegBoard {
    /// A board at which the game of a simulation will be played, `speed` times as fast as people do (1 to
    /// [`FASTEST`]). The simulation has to give contact edges. Plies that the game does not have bring no
    /// trouble.
    pub fn new(simulation: &Simulation, speed: u32, troubles: &[TroubleAt]) -> PegBoard {
        let mut filled = 0;
        if let Some(Event::Occupied(squares)) = simulation.events.first().map(|first| &first.event) {
            filled = squares.0;
        }
        let starts = |at: &TroubleAt| {
            let ply = simulation.truth.plies.get(at.ply.checked_sub(1)?)?;
            Some((ply.start_us, at.trouble))
        };
        let mut troubles: Vec<(u64, Trouble)> = troubles.iter().filter_map(starts).collect();
        troubles.sort_by_key(|(at, _)| *at);
        PegBoard {
            chip: Some((chip(), 0)),
            starts: None,
            filled,
            held: [0; 2],
            deeds: simulation.events.iter().cloned().collect(),
            troubles: troubles.into(),
            speed: u64::from(speed.clamp(1, FASTEST)),
            began: None,
            now: 0,
            loses: false,
        }
    }

    /// True when the hands have done everything.
    pub fn is_over(&self) -> bool {
        self.deeds.is_empty() && self.troubles.is_empty() && self.chip.is_some()
    }

    /// Takes bytes of the host. The hands begin with the first ones.
    pub fn receive(&mut self, bytes: &[u8]) {
        if let Some((chip, _)) = self.chip.as_mut().filter(|_| !bytes.is_empty()) {
            bytes.iter().for_each(|byte| chip.receive(*byte));
            self.began.get_or_insert(self.now);
        }
    }

    /// Lets the time go on to `ms`, in steps of a millisecond, and adds what leaves the board to `out`.
    pub fn advance(&mut self, ms: u64, out: &mut Vec<Output>) {
        while self.now < ms {
            self.now += 1;
            self.step(out);
        }
    }

    fn step(&mut self, out: &mut Vec<Output>) {
        if let Some((_, unplugged)) = self.starts.take_if(|(at, _)| self.now >= *at) {
            self.chip = Some((chip(), self.now));
            if unplugged {
                out.push(Output::Plug);
            }
        }
        while let Some(trouble) = self.next_trouble() {
            self.make(trouble, out);
        }
        while let Some(deed) = self.next_deed() {
            self.do_deed(&deed);
        }
        let mut keys = 0;
        for (bit, until) in (0..).zip(self.held) {
            keys |= u32::from(self.now < until) << bit;
        }
        let Some((chip, started)) = &mut self.chip else { return };
        let now_ms = u32::try_from((self.now - *started) % (1 << 32)).unwrap_or(0);
        chip.scan(now_ms, Holes::of(self.filled), keys);
        let mut bytes = Vec::new();
        while let Some(line) = chip.next_line(now_ms) {
            let from = bytes.len();
            bytes.extend_from_slice(line.as_bytes());
            if self.loses && line.as_bytes().starts_with(b"$PEG,") {
                self.loses = false;
                bytes.remove(from + 2);
            }
        }
        if !bytes.is_empty() {
            out.push(Output::Bytes(bytes));
        }
    }

    /// Where the hands are, in microseconds of the simulation.
    fn hands_us(&self) -> Option<u64> {
        Some((self.now - self.began?).saturating_mul(1000).saturating_mul(self.speed))
    }

    fn next_deed(&mut self) -> Option<Stamped> {
        let now = self.hands_us()?;
        self.deeds.front().filter(|deed| deed.at.as_micros() <= now)?;
        self.deeds.pop_front()
    }

    fn next_trouble(&mut self) -> Option<Trouble> {
        let now = self.hands_us()?;
        self.troubles.front().filter(|(at, _)| *at <= now)?;
        self.troubles.pop_front().map(|(_, trouble)| trouble)
    }

    fn do_deed(&mut self, deed: &Stamped) {
        match &deed.event {
            Event::Square { square, occupied } => {
                let bit = 1u64 << u32::from(*square);
                self.filled = if *occupied { self.filled | bit } else { self.filled & !bit };
            }
            Event::Occupied(squares) => self.filled = squares.0,
            Event::Press(side) => {
                let until = self.now + HELD_MS;
                let [white, black] = &mut self.held;
                *(if *side == Color::White { white } else { black }) = until;
            }
            // The clock and the result are no business of this board.
            _ => {}
        }
    }

    fn make(&mut self, trouble: Trouble, out: &mut Vec<Output>) {
        match trouble {
            Trouble::Garbage => out.push(Output::Bytes(GARBAGE.to_vec())),
            Trouble::LostByte => self.loses = true,
            Trouble::Restart => {
                self.chip = None;
                self.starts = Some((self.now + BOOT_MS, false));
            }
            Trouble::Unplug => {
                self.chip = None;
                self.starts = Some((self.now + UNPLUGGED_MS, true));
                out.push(Output::Unplug);
            }
        }
    }
}

fn chip() -> Board<'static> {
    let version = env!("CARGO_PKG_VERSION");
    let identity = Identity { firmware: "simulated", version, serial: "SIMULATED" };
    Board::new(identity, Settings::default(), &KEYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        session::setup::GameSetup,
        simulate::{
            games::DemoGame,
            params::{Level, Output as Form, Params},
            simulate,
        },
    };

    fn board(troubles: &[&str]) -> PegBoard {
        let mut game = DemoGame::find("opera").unwrap().game(GameSetup::default());
        game.moves.truncate(4);
        let mut params = Params::level(Level::Clean);
        params.output = Form::Raw;
        let troubles: Vec<TroubleAt> = troubles.iter().map(|text| text.parse().unwrap()).collect();
        PegBoard::new(&simulate(&game, &params, 1).unwrap(), 2, &troubles)
    }

    /// Everything that leaves the board until the hands have done everything.
    fn played(mut board: PegBoard) -> Vec<Output> {
        let mut out = Vec::new();
        board.advance(500, &mut out);
        board.receive(b"?hello\r\n");
        let mut ms = 500;
        while !board.is_over() {
            ms += 7;
            board.advance(ms, &mut out);
        }
        board.advance(ms + 200, &mut out);
        out
    }

    fn text(out: &[Output]) -> String {
        let bytes = out
            .iter()
            .filter_map(|o| if let Output::Bytes(bytes) = o { Some(bytes.as_slice()) } else { None });
        String::from_utf8_lossy(&bytes.collect::<Vec<_>>().concat()).into_owned()
    }

    #[test]
    fn a_game_is_played_over_the_firmware() {
        let out = played(board(&[]));
        let text = text(&out);
        let told: Vec<&str> = text.lines().filter(|line| line.starts_with("$P")).collect();
        let bodies: Vec<String> = told
            .iter()
            .map(|line| line.split('*').next().unwrap().splitn(4, ',').nth(3).unwrap().to_owned())
            .collect();
        assert_eq!(
            bodies,
            [
                "e2,out", "e4,in", "white", "e7,out", "e5,in", "black", "g1,out", "f3,in", "white", "d7,out",
                "d6,in", "black"
            ]
        );
        assert!(text.starts_with("$HELLO,0,1,proto=1,firmware=simulated,"), "{text}");
    }

    #[test]
    fn troubles_come_at_their_ply() {
        let clean = text(&played(board(&[])));
        let out = played(board(&["lost-byte@1", "garbage@2", "unplug@3", "restart@4"]));
        assert!(out.contains(&Output::Unplug) && out.contains(&Output::Plug));
        let text = text(&out);
        assert_eq!(text.matches("$HELLO,0,").count(), 3, "the start, the cable, the restart");
        assert!(text.contains("$PG,"), "{text}");
        assert!(text.contains("ets Jun"));
        assert!(text.lines().count() < clean.lines().count() + 12);
        assert!("unplug@0".parse::<TroubleAt>().is_err() && "smoke@1".parse::<TroubleAt>().is_err());
    }
}
