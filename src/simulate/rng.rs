//! The random numbers of the simulator: xoshiro256** started by splitmix64. The same seed gives
//! the same numbers on every machine and in every version.

use super::params::{Rate, Span};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Rng {
    state: [u64; 4],
}

/// One step of splitmix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl Rng {
    /// The stream of `seed` for one purpose: streams of different purposes do not disturb each
    /// other, so that an option of one leaves the others alone.
    pub(super) fn new(seed: u64, purpose: u64) -> Rng {
        let mut mixer = purpose;
        let mut start = seed ^ split_mix(&mut mixer);
        Rng { state: std::array::from_fn(|_| split_mix(&mut start)) }
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let out = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        out
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// True once in a while.
    pub(super) fn happens(&mut self, rate: Rate) -> bool {
        self.below(u64::from(Rate::WHOLE)) < u64::from(rate.per_100_000())
    }

    /// Microseconds of a movement: values in the middle of the span are the most frequent.
    pub(super) fn movement(&mut self, span: Span) -> u64 {
        let (low, high) = span.micros();
        (self.between(low, high) + self.between(low, high)) / 2
    }

    /// Microseconds of a span, each as likely as the others.
    pub(super) fn uniform(&mut self, span: Span) -> u64 {
        let (low, high) = span.micros();
        self.between(low, high)
    }

    /// Microseconds of a decision: short ones are frequent, long ones rare.
    pub(super) fn decision(&mut self, span: Span) -> u64 {
        let (low, high) = span.micros();
        self.between(low, high).min(self.between(low, high)).min(self.between(low, high))
    }

    /// One of the choices, by its weight.
    pub(super) fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> Option<T> {
        let total: u64 = choices.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut left = self.below(total);
        choices.iter().filter(|(weight, _)| *weight > 0).find_map(|(weight, choice)| {
            let weight = u64::from(*weight);
            if left < weight {
                return Some(*choice);
            }
            left -= weight;
            None
        })
    }

    /// One of the items, each as likely as the others.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let index = self.below(u64::try_from(items.len()).unwrap_or(0));
        items.get(usize::try_from(index).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_purposes_give_streams_of_their_own() {
        let first = |seed, purpose| Rng::new(seed, purpose).next();
        assert_eq!(first(1, 1), first(1, 1));
        assert_ne!(first(1, 1), first(2, 1));
        assert_ne!(first(1, 1), first(1, 2));
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut rng = Rng::new(7, 0);
        let drawn: std::collections::BTreeSet<u64> = (0..1000).map(|_| rng.between(3, 8)).collect();
        assert_eq!(drawn, (3..=8).collect());
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.pick::<u8>(&[]), None);
        assert_eq!(rng.weighted(&[(0, 'a'), (1, 'b')]), Some('b'));
    }

    #[test]
    fn a_rate_is_met() {
        let mut rng = Rng::new(11, 0);
        let rate = Rate::new(10_000);
        let hits = (0..100_000).filter(|_| rng.happens(rate)).count();
        assert!((9_000..11_000).contains(&hits), "10 % came out as {hits} of 100000");
        assert!(!rng.happens(Rate::NEVER));
    }
}
