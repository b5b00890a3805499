//! Intervals of whole microseconds.

/// Farther than any time that means something; keeps sums from running over.
const FAR: i64 = 1 << 60;

/// All values from `lo` to `hi`, both included, in microseconds. Empty where `lo > hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The smallest value.
    pub lo: i64,
    /// The largest value.
    pub hi: i64,
}

impl Span {
    /// Nothing is known.
    pub const ALL: Span = Span { lo: -FAR, hi: FAR };

    /// From `lo` to `hi`.
    pub fn new(lo: i64, hi: i64) -> Span {
        Span { lo: lo.clamp(-FAR, FAR), hi: hi.clamp(-FAR, FAR) }
    }

    /// One value.
    pub fn exact(value: i64) -> Span {
        Span::new(value, value)
    }

    /// Everything from `lo` on.
    pub fn from(lo: i64) -> Span {
        Span::new(lo, FAR)
    }

    /// True where no value is left.
    pub const fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// True where at least one end is known.
    pub const fn is_bounded(self) -> bool {
        self.lo > -FAR && self.hi < FAR
    }

    /// The distance of its ends, 0 where it is empty.
    pub const fn width(self) -> i64 {
        if self.is_empty() { 0 } else { self.hi.saturating_sub(self.lo) }
    }

    /// The value half way.
    pub const fn middle(self) -> i64 {
        self.lo + (self.hi - self.lo) / 2
    }

    /// True where it holds this value.
    pub const fn holds(self, value: i64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// What both hold.
    #[must_use]
    pub fn meet(self, other: Span) -> Span {
        Span { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The smallest interval that holds both.
    #[must_use]
    pub fn hull(self, other: Span) -> Span {
        Span { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Every sum of a value of each.
    #[must_use]
    pub fn plus(self, other: Span) -> Span {
        Span::new(self.lo.saturating_add(other.lo), self.hi.saturating_add(other.hi))
    }

    /// Every difference of a value of each.
    #[must_use]
    pub fn minus(self, other: Span) -> Span {
        Span::new(self.lo.saturating_sub(other.hi), self.hi.saturating_sub(other.lo))
    }

    /// The smaller of a value of each.
    #[must_use]
    pub fn least(self, other: Span) -> Span {
        Span { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Every value, not below `lo` and not above `hi`.
    #[must_use]
    pub fn clamp(self, lo: i64, hi: i64) -> Span {
        Span { lo: self.lo.clamp(lo, hi), hi: self.hi.clamp(lo, hi) }
    }

    /// With `by` more at each end.
    #[must_use]
    pub fn wider(self, by: i64) -> Span {
        self.plus(Span { lo: -by, hi: by })
    }

    /// How far the nearest values of the two are apart, 0 where they meet.
    pub fn gap(self, other: Span) -> i64 {
        let gap = self.lo.saturating_sub(other.hi).max(other.lo.saturating_sub(self.hi));
        gap.max(0)
    }

    /// Stretched until it touches `other`.
    #[must_use]
    pub fn reaching(self, other: Span) -> Span {
        Span { lo: self.lo.min(other.hi), hi: self.hi.max(other.lo) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_meet_add_and_stretch() {
        let (a, b) = (Span::new(1, 4), Span::new(6, 9));
        assert!(a.meet(b).is_empty());
        assert_eq!(a.gap(b), 2);
        assert_eq!(a.reaching(b), Span::new(1, 6));
        assert_eq!(a.plus(b), Span::new(7, 13));
        assert_eq!(b.minus(a), Span::new(2, 8));
        assert_eq!(a.hull(b).middle(), 5);
        assert_eq!(Span::ALL.plus(Span::ALL), Span::ALL);
    }
}
