//! Every parameter by its name, as text: `mishaps.slide` is `30%`, `timing.travel` is `90-250ms`.

use std::fmt;

use super::params::{ClockKind, Ending, Output, Params, Rate, Span};

/// Why a parameter cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such parameter.
    #[error("there is no parameter {name}; {}", hint(.close))]
    Unknown {
        /// What was given.
        name: String,
        /// The parameter that has nearly this name.
        close: Option<String>,
    },
    /// The parameter cannot have this value.
    #[error("{name}: expected {expected}, found {text:?}")]
    Value {
        /// The parameter.
        name: String,
        /// What was given.
        text: String,
        /// What it can be.
        expected: &'static str,
    },
}

fn hint(close: &Option<String>) -> String {
    close
        .as_ref()
        .map_or_else(|| "--print-params shows them all".to_owned(), |close| format!("did you mean {close}?"))
}

/// The place of one parameter.
enum Slot<'a> {
    Rate(&'a mut Rate),
    Span(&'a mut Span),
    Weights(&'a mut [u32; 3]),
    Count(&'a mut u32),
    Millis(&'a mut u32),
    Flag(&'a mut bool),
    /// Two ends in microseconds, both at least 1.
    Micros(&'a mut u32, &'a mut u32),
    Output(&'a mut Output),
    Ending(&'a mut Ending),
    Clock(&'a mut ClockKind),
    /// Parts per million, either way.
    Ppm(&'a mut i32),
}

/// Spans and times end here: an hour is more than any of them needs.
const LONGEST_MS: u32 = 3_600_000;
/// More bounces than this are no bounces.
const MOST_BOUNCES: u32 = 1_000;

impl Slot<'_> {
    const fn expected(&self) -> &'static str {
        match self {
            Slot::Rate(_) => "a share from 0% to 100%, such as 0.3% (at most three decimals)",
            Slot::Span(_) => "a time or a span of times up to an hour, such as 90-250ms",
            Slot::Weights(_) => "three weights up to 1000, not all of them 0, such as 45/40/15",
            Slot::Count(_) => "a number from 0 to 1000",
            Slot::Millis(_) => "a time up to an hour, such as 20ms",
            Slot::Flag(_) => "true or false",
            Slot::Micros(..) => "a span of times from 1us to 1000000us, such as 80-900us",
            Slot::Output(_) => "raw, debounced or identity",
            Slot::Ending(_) => "open, stopped, kings or entered",
            Slot::Clock(_) => "exact or dgt",
            Slot::Ppm(_) => "a rate from -1000ppm to 1000ppm, such as 150ppm",
        }
    }

    /// Sets the parameter; `None` when the text is no value of it.
    fn set(self, text: &str) -> Option<()> {
        let number = |text: &str, most| digits(text).filter(|number| *number <= most);
        match self {
            Slot::Rate(rate) => *rate = Rate::new(hundred_thousandths(text.strip_suffix('%')?)?),
            Slot::Span(span) => {
                let (low, high) = ends(text.strip_suffix("ms")?, LONGEST_MS)?;
                *span = Span::ms(low, high);
            }
            Slot::Weights(weights) => {
                let parts: Option<Vec<u32>> = text.split('/').map(|part| number(part.trim(), 1000)).collect();
                let found: [u32; 3] = parts?.try_into().ok()?;
                *weights = Some(found).filter(|found| found.iter().any(|weight| *weight > 0))?;
            }
            Slot::Count(count) => *count = number(text, MOST_BOUNCES)?,
            Slot::Millis(millis) => *millis = number(text.strip_suffix("ms")?, LONGEST_MS)?,
            Slot::Flag(flag) => *flag = text.parse().ok()?,
            Slot::Micros(low, high) => {
                let found = ends(text.strip_suffix("us")?, 1_000_000).filter(|(low, _)| *low > 0)?;
                (*low, *high) = found;
            }
            Slot::Output(output) => {
                *output = Output::ALL.into_iter().find(|output| output.as_str() == text)?;
            }
            Slot::Ending(ending) => {
                *ending = Ending::ALL.into_iter().find(|ending| ending.as_str() == text)?;
            }
            Slot::Clock(kind) => *kind = ClockKind::ALL.into_iter().find(|kind| kind.as_str() == text)?,
            Slot::Ppm(ppm) => {
                let text = text.strip_suffix("ppm")?;
                let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
                *ppm = sign * i32::try_from(number(text, 1000)?).ok()?;
            }
        }
        Some(())
    }
}

impl fmt::Display for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Rate(rate) => {
                let (whole, rest) = (rate.per_100_000() / 1000, rate.per_100_000() % 1000);
                let decimals = format!(".{rest:03}");
                write!(f, "{whole}{}%", decimals.trim_end_matches('0').trim_end_matches('.'))
            }
            Slot::Span(span) => match span.ends() {
                (low, high) if low == high => write!(f, "{low}ms"),
                (low, high) => write!(f, "{low}-{high}ms"),
            },
            Slot::Weights([first, second, third]) => write!(f, "{first}/{second}/{third}"),
            Slot::Count(count) => write!(f, "{count}"),
            Slot::Millis(millis) => write!(f, "{millis}ms"),
            Slot::Flag(flag) => write!(f, "{flag}"),
            Slot::Micros(low, high) => write!(f, "{low}-{high}us"),
            Slot::Output(output) => f.write_str(output.as_str()),
            Slot::Ending(ending) => f.write_str(ending.as_str()),
            Slot::Clock(kind) => f.write_str(kind.as_str()),
            Slot::Ppm(ppm) => write!(f, "{ppm}ppm"),
        }
    }
}

/// A number without a sign.
fn digits(text: &str) -> Option<u32> {
    Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

/// `90-250` or `90`, in this order.
fn ends(text: &str, most: u32) -> Option<(u32, u32)> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (low, high) = (digits(low.trim())?, digits(high.trim())?);
    (low <= high && high <= most).then_some((low, high))
}

/// A per cent number with up to three decimals, in occasions of 100 000.
fn hundred_thousandths(percent: &str) -> Option<u32> {
    let (whole, decimals) = percent.trim().split_once('.').unwrap_or((percent.trim(), ""));
    if decimals.len() > 3 {
        return None;
    }
    let decimals = digits(&format!("{decimals:0<3}"))?;
    let all = digits(whole)?.checked_mul(1000)?.checked_add(decimals)?;
    (all <= Rate::WHOLE).then_some(all)
}

/// Every parameter with its name, in the order in which they are shown.
fn slots(params: &mut Params) -> Vec<(String, Slot<'_>)> {
    let name = |group: &str, field: &str| format!("{group}.{}", field.replace('_', "-"));
    let mut slots = Vec::new();
    let timing = params.timing.fields().into_iter();
    slots.extend(timing.map(|(field, span)| (name("timing", field), Slot::Span(span))));
    let mishaps = params.mishaps.fields().into_iter();
    slots.extend(mishaps.map(|(field, rate)| (name("mishaps", field), Slot::Rate(rate))));
    let orders = params.orders.fields().into_iter();
    slots.extend(orders.map(|(field, weights)| (name("orders", field), Slot::Weights(weights))));
    let (reed, identity, clock) = (&mut params.reed, &mut params.identity, &mut params.clock);
    let others = [
        ("reed.bounces", Slot::Count(&mut reed.bounces)),
        ("reed.bounce", Slot::Micros(&mut reed.bounce_low_us, &mut reed.bounce_high_us)),
        ("identity.misread", Slot::Rate(&mut identity.misread)),
        ("identity.misread-time", Slot::Span(&mut identity.misread_time)),
        ("identity.doubled", Slot::Rate(&mut identity.doubled)),
        ("identity.doubled-time", Slot::Span(&mut identity.doubled_time)),
        ("output.kind", Slot::Output(&mut params.output)),
        ("output.settle", Slot::Millis(&mut params.settle_ms)),
        ("output.scan", Slot::Millis(&mut params.scan_ms)),
        ("output.initial-report", Slot::Flag(&mut params.initial_report)),
        ("output.ending", Slot::Ending(&mut params.ending)),
        ("clock.every", Slot::Millis(&mut clock.every_ms)),
        ("clock.at-press", Slot::Flag(&mut clock.at_press)),
        ("clock.start", Slot::Flag(&mut clock.start)),
        ("clock.kind", Slot::Clock(&mut clock.kind)),
        ("clock.gap", Slot::Span(&mut clock.polled.gap)),
        ("clock.lag", Slot::Span(&mut clock.polled.lag)),
        ("clock.lost", Slot::Rate(&mut clock.polled.lost)),
        ("clock.wrong", Slot::Rate(&mut clock.polled.wrong)),
        ("clock.rate", Slot::Ppm(&mut clock.polled.rate_ppm)),
        ("clock.rounds-up", Slot::Flag(&mut clock.polled.rounds_up)),
        ("clock.wired", Slot::Flag(&mut clock.polled.wired)),
    ];
    slots.extend(others.map(|(name, slot)| (name.to_owned(), slot)));
    slots
}

impl Params {
    /// Sets one parameter.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        let mut slots = slots(self);
        let Some(index) = slots.iter().position(|(known, _)| known == name) else {
            let close = slots.iter().map(|(known, _)| known).find(|known| is_close(known, name)).cloned();
            return Err(SettingError::Unknown { name: name.to_owned(), close });
        };
        let (_, slot) = slots.swap_remove(index);
        let expected = slot.expected();
        slot.set(text.trim()).ok_or_else(|| SettingError::Value {
            name: name.to_owned(),
            text: text.to_owned(),
            expected,
        })
    }

    /// Every parameter and its value, in the order of the groups.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut params = *self;
        slots(&mut params).into_iter().map(|(name, slot)| (name, slot.to_string())).collect()
    }
}

/// True for the last part of a name without its group, for `_` in place of `-`, and for names that
/// differ in one letter.
fn is_close(known: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    if known == name || known.split_once('.').is_some_and(|(_, field)| field == name) {
        return true;
    }
    let same = known.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let end = known.chars().rev().zip(name.chars().rev()).take_while(|(a, b)| a == b).count();
    let (long, short) =
        (known.chars().count().max(name.chars().count()), known.chars().count().min(name.chars().count()));
    long - short <= 1 && same + end + 1 >= long
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::params::Level;

    #[test]
    fn what_is_shown_sets_the_same() {
        for (from, to) in Level::ALL.into_iter().flat_map(|from| Level::ALL.map(|to| (from, to))) {
            let wanted = Params::level(from).identity();
            let mut params = Params::level(to);
            for (name, text) in wanted.settings() {
                params.set(&name, &text).unwrap();
            }
            assert_eq!(params, wanted, "{from:?} over {to:?}");
        }
    }

    #[test]
    fn values_are_read_exactly() {
        let mut params = Params::level(Level::Clean);
        for (name, text) in [
            ("mishaps.slide", "30%"),
            ("mishaps.sticky", "0.005 %"),
            ("timing.travel", "90-250ms"),
            ("timing.adjust", "80ms"),
            ("orders.capture", "1/0/0"),
            ("reed.bounce", "1-2us"),
            ("output.ending", "kings"),
        ] {
            params.set(name, text).unwrap();
        }
        assert_eq!(params.mishaps.slide, Rate::new(30_000));
        assert_eq!(params.mishaps.sticky, Rate::new(5));
        assert_eq!(params.timing.travel, Span::ms(90, 250));
        assert_eq!(params.timing.adjust, Span::ms(80, 80));
        assert_eq!(params.orders.capture, [1, 0, 0]);
        assert_eq!((params.reed.bounce_low_us, params.reed.bounce_high_us), (1, 2));
        assert_eq!(params.ending, Ending::KingsToCentre);
    }

    #[test]
    fn what_is_no_value_is_refused_and_changes_nothing() {
        let wrong = [
            ("mishaps.slide", &["30", "101%", "-1%", "0.0001%", "", "%", "+3%", "30 % of them"][..]),
            ("timing.travel", &["90", "250-90ms", "1s", "-90ms", "3600001ms", "99999999999ms"][..]),
            ("orders.capture", &["1/2", "0/0/0", "1/2/3/4", "1001/0/0", "a/b/c"][..]),
            ("reed.bounces", &["1001", "-1", "x"][..]),
            ("reed.bounce", &["0-5us", "5us-6us", "80-900"][..]),
            ("output.kind", &["full", "Raw"][..]),
            ("clock.start", &["yes", "1"][..]),
        ];
        let before = Params::level(Level::Chaos);
        for (name, texts) in wrong {
            for text in texts {
                let mut params = before;
                let error = params.set(name, text).unwrap_err();
                assert!(matches!(error, SettingError::Value { .. }), "{name} {text:?}: {error}");
                assert!(
                    error.to_string().contains(name) && error.to_string().contains("expected"),
                    "{error}"
                );
                assert_eq!(params, before, "{name} {text:?}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_sets_a_parameter_or_is_refused(index: proptest::sample::Index, text: String) {
            let mut params = Params::level(Level::Tournament);
            let names = params.settings();
            let (name, _) = index.get(&names);
            let _ = params.set(name, &text);
            let _ = params.set(&text, "1%");
        }
    }

    #[test]
    fn a_name_that_is_nearly_right_is_put_right() {
        let message = |name: &str| Params::level(Level::Clean).set(name, "1%").unwrap_err().to_string();
        assert_eq!(
            message("mishaps.slid"),
            "there is no parameter mishaps.slid; did you mean mishaps.slide?"
        );
        assert!(message("off_centre").contains("did you mean timing.off-centre?"));
        assert!(message("mishaps.off_centre").contains("did you mean mishaps.off-centre?"));
        assert!(message("mishaps.wobble").contains("--print-params"), "{}", message("mishaps.wobble"));
    }
}
