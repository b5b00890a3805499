//! How much of what is no message is recorded: a device that sends only noise must not fill the disk.

use crate::{session::time::MonoTime, wire::dgt::Framed};

/// So many bytes that are no message are passed on in a minute.
const ALLOWED: u64 = 4096;
const MINUTE_MS: u64 = 60_000;

/// What of the bytes is passed on. Every whole message is, always.
#[derive(Clone, Debug, Default)]
pub(super) struct Rations {
    /// When the present minute began, and the noise in it.
    minute: MonoTime,
    noise: u64,
    /// Only whole messages are passed on.
    strict: bool,
    withheld: u64,
    told: Option<MonoTime>,
}

impl Rations {
    /// Bytes of no message, that came at `at`.
    pub(super) fn note(&mut self, at: MonoTime, noise: usize) {
        if at >= self.minute.plus_ms(MINUTE_MS) {
            (self.minute, self.noise) = (at, 0);
        }
        self.noise = self.noise.saturating_add(noise as u64);
    }

    /// What of `bytes` is passed on; `None` where it is all of them. `between` where no message is half received,
    /// `wrong` where the device was found to be none that sends messages.
    pub(super) fn pass(
        &mut self,
        bytes: &[u8],
        framed: &[Framed],
        between: bool,
        wrong: bool,
    ) -> Option<Vec<u8>> {
        let over = wrong || self.noise > ALLOWED;
        // The reader that has the first half of a message drops it when the whole one comes; the second half alone
        // would be of no use to it.
        let strict = over || (self.strict && !between);
        let passed = (self.strict || over).then(|| {
            let mut whole = Vec::new();
            for item in framed {
                if let Framed::Frame { id, payload } = item {
                    let length = payload.len().saturating_add(3);
                    whole.extend([*id, (length >> 7 & 0x7f) as u8, (length & 0x7f) as u8]);
                    whole.extend(payload);
                }
            }
            self.withheld = self.withheld.saturating_add(bytes.len().saturating_sub(whole.len()) as u64);
            whole
        });
        self.strict = strict;
        passed
    }

    /// How many bytes were not passed on, at most once a minute.
    pub(super) fn news(&mut self, at: MonoTime) -> Option<u64> {
        let due = self.told.is_none_or(|told| at >= told.plus_ms(MINUTE_MS));
        (due && self.withheld > 0).then(|| {
            self.told = Some(at);
            std::mem::take(&mut self.withheld)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::dgt::Framer;
    use proptest::prelude::*;

    proptest! {
        /// Whatever noise there is around them and however it is cut up, the reader behind gets each message that
        /// the framer of the policy finds.
        #[test]
        fn every_message_gets_through(
            parts in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 0..600), 0u8..64, 0u8..13), 1..40),
            cuts in prop::collection::vec(1usize..300, 1..200),
            wrong in any::<bool>(),
        ) {
            let mut stream = Vec::new();
            for (noise, square, man) in &parts {
                stream.extend(noise);
                stream.extend([0x8e, 0x00, 0x05, *square, *man]);
            }
            let (mut front, mut behind, mut rations) = (Framer::new(), Framer::new(), Rations::default());
            let (mut found, mut got, mut passed, mut noise) = (Vec::new(), Vec::new(), 0usize, 0usize);
            let mut rest = stream.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (bytes, more) = rest.split_at((*cut).min(rest.len()));
                rest = more;
                let mut framed = Vec::new();
                front.push(MonoTime::ZERO, bytes, &mut framed);
                for item in &framed {
                    if let Framed::Dropped(n) = item {
                        noise += n;
                        rations.note(MonoTime::ZERO, *n);
                    }
                }
                let kept = rations.pass(bytes, &framed, front.pending() == 0, wrong);
                let kept = kept.unwrap_or_else(|| bytes.to_vec());
                passed += kept.len();
                behind.push(MonoTime::ZERO, &kept, &mut got);
                found.extend(framed);
            }
            let frames = |all: &[Framed]| -> Vec<Framed> {
                all.iter().filter(|item| matches!(item, Framed::Frame { .. })).cloned().collect()
            };
            prop_assert_eq!(frames(&found), frames(&got));
            let most = if wrong { 0 } else { ALLOWED as usize + 1000 };
            prop_assert!(passed <= stream.len() - noise + most, "{} of {}, noise {}", passed, stream.len(), noise);
        }
    }
}
