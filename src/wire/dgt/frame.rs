//! Framing: which bytes belong to one message.
//!
//! A message is `id, length high, length low, payload`, with seven length bits a byte; the length
//! counts the three bytes of the header. Only the id has bit 7 set, so a byte with bit 7 starts a
//! message, also in the middle of another one: that is the whole of the resynchronisation.

use crate::session::time::MonoTime;

/// Longest message that the 14 length bits can tell, header included.
pub const MAX_LENGTH: usize = 16_383;

/// A message that stays incomplete for this long without a byte is dropped, in milliseconds.
pub const PARTIAL_MS: u64 = 300;

/// The same for the download of the storage log, which the board interrupts for longer.
pub const PARTIAL_LOG_MS: u64 = 1000;

/// A run of dropped bytes is reported after this many bytes at the latest.
const REPORT_RUN: usize = 1024;

/// Length of the header: the id and two length bytes.
const HEADER: usize = 3;

/// What the framer found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framed {
    /// A complete message.
    Frame {
        /// The id; bit 7 is set.
        id: u8,
        /// What follows the header; bit 7 is clear in every byte.
        payload: Vec<u8>,
    },
    /// Bytes that belong to no message, one run of them.
    Dropped(usize),
}

/// Turns bytes into frames. It holds at most one message, and only as many bytes as have come.
#[derive(Clone, Debug, Default)]
pub struct Framer {
    partial: Vec<u8>,
    last: MonoTime,
    run: usize,
    dropped: u64,
}

/// True when a message `id` may have this length.
fn plausible(id: u8, length: usize) -> bool {
    match id {
        0x80 => length == 3,
        0x86 => length == 67,
        0x8d => length == 10,
        0x8e | 0x90 | 0x93 | 0x96 => length == 5,
        0x91 => length == 8 || length == 12,
        0xa0 => length == 12,
        0xa2 => length == 13,
        _ => length >= HEADER,
    }
}

impl Framer {
    /// A framer before its first byte.
    pub fn new() -> Framer {
        Framer::default()
    }

    /// Takes bytes that were read at `at`; what they complete is added to `out`.
    ///
    /// Any division of the same bytes into portions gives the same frames, as long as no pause
    /// makes a partial message too old.
    pub fn push(&mut self, at: MonoTime, bytes: &[u8], out: &mut Vec<Framed>) {
        self.expire(at, out);
        if !bytes.is_empty() {
            self.last = at;
        }
        for &byte in bytes {
            self.byte(byte, out);
        }
    }

    /// Drops a partial message that is too old at `at` and reports what was dropped before.
    pub fn expire(&mut self, at: MonoTime, out: &mut Vec<Framed>) {
        if self.deadline().is_some_and(|deadline| at >= deadline) {
            self.abandon();
            self.report(out);
        }
    }

    /// When the partial message, or the run of dropped bytes that was not reported yet, is too old.
    pub fn deadline(&self) -> Option<MonoTime> {
        let patience = match self.partial.first() {
            Some(0x8f) => PARTIAL_LOG_MS,
            Some(_) => PARTIAL_MS,
            None if self.run > 0 => PARTIAL_MS,
            None => return None,
        };
        Some(self.last.plus_ms(patience))
    }

    /// Forgets a partial message without counting it: the link was closed or flushed.
    pub fn reset(&mut self) {
        self.partial.clear();
        self.run = 0;
    }

    /// Bytes of a message that is not complete yet.
    pub fn pending(&self) -> usize {
        self.partial.len()
    }

    /// The id of the message that is not complete yet.
    pub fn pending_id(&self) -> Option<u8> {
        self.partial.first().copied()
    }

    /// All bytes dropped so far.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<Framed>) {
        if byte & 0x80 != 0 {
            self.abandon();
            self.partial.push(byte);
            return;
        }
        if self.partial.is_empty() {
            self.drop_bytes(1);
            if self.run >= REPORT_RUN {
                self.report(out);
            }
            return;
        }
        self.partial.push(byte);
        let [id, high, low, payload @ ..] = self.partial.as_slice() else { return };
        let length = usize::from(*high) << 7 | usize::from(*low);
        if !plausible(*id, length) {
            self.abandon();
        } else if self.partial.len() >= length {
            let frame = Framed::Frame { id: *id, payload: payload.to_vec() };
            self.partial.clear();
            self.report(out);
            out.push(frame);
        }
    }

    fn abandon(&mut self) {
        self.drop_bytes(self.partial.len());
        self.partial.clear();
    }

    fn drop_bytes(&mut self, n: usize) {
        self.run = self.run.saturating_add(n);
        self.dropped = self.dropped.saturating_add(n as u64);
    }

    fn report(&mut self, out: &mut Vec<Framed>) {
        if self.run > 0 {
            out.push(Framed::Dropped(self.run));
            self.run = 0;
        }
    }
}

/// The bytes of one frame. Bit 7 is set in the id and cleared in the payload; a payload that is
/// too long for the length field is cut.
pub fn encode(id: u8, payload: &[u8]) -> Vec<u8> {
    let payload = payload.get(..MAX_LENGTH - HEADER).unwrap_or(payload);
    let length = payload.len() + HEADER;
    let mut bytes = Vec::with_capacity(length);
    bytes.push(id | 0x80);
    bytes.push(u8::try_from(length >> 7).unwrap_or(0x7f));
    bytes.push(u8::try_from(length & 0x7f).unwrap_or(0x7f));
    bytes.extend(payload.iter().map(|byte| byte & 0x7f));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> MonoTime {
        MonoTime::ZERO.plus_ms(ms)
    }

    fn frames(bytes: &[u8]) -> Vec<Framed> {
        let mut out = Vec::new();
        Framer::new().push(MonoTime::ZERO, bytes, &mut out);
        out
    }

    /// Messages of fixed length as a board sends them in a game.
    fn fixed() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            4 => (0u8..64, 0u8..16).prop_map(|(square, piece)| encode(0x8e, &[square, piece])),
            2 => proptest::collection::vec(0u8..128, 7).prop_map(|p| encode(0x8d, &p)),
            1 => proptest::collection::vec(0u8..13, 64).prop_map(|p| encode(0x86, &p)),
            1 => proptest::collection::vec(b'0'..=b'9', 5).prop_map(|p| encode(0x91, &p)),
            1 => proptest::collection::vec(0u8..128, 9).prop_map(|p| encode(0xa0, &p)),
        ]
    }

    fn any_message() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            4 => fixed(),
            1 => proptest::collection::vec(0u8..128, 0..300).prop_map(|p| encode(0x92, &p)),
            1 => proptest::collection::vec(0u8..128, 0..2000).prop_map(|p| encode(0x8f, &p)),
            1 => proptest::collection::vec(0u8..128, 0..40).prop_map(|p| encode(0xbf, &p)),
        ]
    }

    proptest! {
        #[test]
        fn any_division_into_portions_gives_the_same_frames(
            messages in proptest::collection::vec(any_message(), 1..12),
            noise in proptest::collection::vec(any::<u8>(), 0..40),
            sizes in proptest::collection::vec(1usize..90, 1..40),
        ) {
            let bytes: Vec<u8> = noise.iter().copied().chain(messages.concat()).collect();
            let mut framer = Framer::new();
            let mut out = Vec::new();
            let (mut rest, mut sizes) = (bytes.as_slice(), sizes.iter().cycle());
            while !rest.is_empty() {
                let (now, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                framer.push(MonoTime::ZERO, now, &mut out);
                rest = later;
            }
            prop_assert_eq!(out, frames(&bytes));
        }

        #[test]
        fn a_lost_byte_loses_one_frame_and_invents_none(
            messages in proptest::collection::vec(fixed(), 1..20),
            at in any::<proptest::sample::Index>(),
        ) {
            let mut bytes = messages.concat();
            let at = at.index(bytes.len());
            let (mut hit, mut end) = (0, 0);
            for (index, message) in messages.iter().enumerate() {
                end += message.len();
                if at < end {
                    hit = index;
                    break;
                }
            }
            bytes.remove(at);
            let mut expected = messages.clone();
            expected.remove(hit);
            let found: Vec<Framed> = frames(&bytes)
                .into_iter()
                .filter(|item| matches!(item, Framed::Frame { .. }))
                .collect();
            prop_assert_eq!(found, frames(&expected.concat()));
        }

        #[test]
        fn a_lost_byte_leaves_the_frames_around_it_alone(
            messages in proptest::collection::vec(any_message(), 1..12),
            at in any::<proptest::sample::Index>(),
        ) {
            let ends: Vec<usize> = messages
                .iter()
                .scan(0, |end, message| {
                    *end += message.len();
                    Some(*end)
                })
                .collect();
            let mut bytes = messages.concat();
            let at = at.index(bytes.len());
            let hit = ends.iter().position(|end| at < *end).unwrap();
            bytes.remove(at);
            let found = frames(&bytes);
            let only = |list: &[Vec<u8>]| frames(&list.concat());
            let (before, after) = (only(&messages[..hit]), only(&messages[hit + 1..]));
            prop_assert_eq!(&found[..before.len()], &before[..]);
            prop_assert_eq!(&found[found.len() - after.len()..], &after[..]);
            // Between them there is at most what is left of the torn message, under its own id.
            for item in &found[before.len()..found.len() - after.len()] {
                if let Framed::Frame { id, .. } = item {
                    prop_assert_eq!(*id, messages[hit][0]);
                    prop_assert!(matches!(id, 0x8f | 0x92 | 0xbf), "a fixed length finds the tear");
                }
            }
        }

        #[test]
        fn every_byte_is_in_a_frame_dropped_or_pending(
            bytes in proptest::collection::vec(any::<u8>(), 0..3000),
        ) {
            let mut framer = Framer::new();
            let mut out = Vec::new();
            framer.push(MonoTime::ZERO, &bytes, &mut out);
            let framed: usize = out
                .iter()
                .map(|item| match item {
                    Framed::Frame { payload, .. } => payload.len() + HEADER,
                    Framed::Dropped(_) => 0,
                })
                .sum();
            let dropped = usize::try_from(framer.dropped()).unwrap();
            prop_assert_eq!(framed + dropped + framer.pending(), bytes.len());
            framer.expire(ms(1000), &mut out);
            let reported: usize = out
                .iter()
                .map(|item| if let Framed::Dropped(n) = item { *n } else { 0 })
                .sum();
            prop_assert_eq!(framed + reported, bytes.len());
        }
    }

    #[test]
    fn a_partial_message_is_dropped_after_300_ms_without_a_byte() {
        let mut framer = Framer::new();
        let mut out = Vec::new();
        framer.push(ms(0), &[0x8e, 0x00], &mut out);
        framer.push(ms(299), &[0x05], &mut out);
        assert_eq!(framer.deadline(), Some(ms(599)));
        framer.push(ms(598), &[0x34, 0x00], &mut out);
        assert_eq!(out, [Framed::Frame { id: 0x8e, payload: vec![0x34, 0x00] }]);
        out.clear();
        framer.push(ms(700), &[0x8e, 0x00, 0x05], &mut out);
        framer.push(ms(1000), &[0x34, 0x00], &mut out);
        framer.expire(ms(1300), &mut out);
        assert_eq!(out, [Framed::Dropped(3), Framed::Dropped(2)]);
        assert_eq!(framer.deadline(), None);
    }

    #[test]
    fn the_storage_log_may_pause_for_longer() {
        let mut framer = Framer::new();
        let mut out = Vec::new();
        framer.push(ms(0), &[0x8f, 0x00, 0x05, 0x40], &mut out);
        framer.push(ms(999), &[0x34], &mut out);
        assert_eq!(out, [Framed::Frame { id: 0x8f, payload: vec![0x40, 0x34] }]);
    }

    #[test]
    fn a_wrong_length_is_not_waited_for() {
        assert_eq!(
            frames(&[0x8e, 0x0f, 0x05, 0x8e, 0x00, 0x05, 0x34, 0x00]),
            [Framed::Dropped(3), Framed::Frame { id: 0x8e, payload: vec![0x34, 0x00] }]
        );
    }
}
