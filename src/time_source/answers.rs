//! The errors that those who discipline the clock estimate, out of what their programs print.

/// Out of `chronyc -c tracking`: the offset that is being corrected, half the root delay and the root dispersion,
/// which bound the error together (manual of chronyc, "tracking").
pub(super) fn of_chrony(text: &str) -> Option<u64> {
    let fields: Vec<&str> = text.lines().next()?.split(',').collect();
    if fields.get(13)?.trim() == "Not synchronised" {
        return None;
    }
    let us = |index: usize| decimal_us(fields.get(index)?.trim().trim_start_matches('-'), 1_000_000);
    Some(us(4)?.saturating_add(us(10)? / 2).saturating_add(us(11)?))
}

/// Out of the last answer of the time server that systemd-timesyncd shows: half its root delay and its root
/// dispersion, and the jitter between here and there.
pub(super) fn of_timesyncd(text: &str) -> Option<u64> {
    let us = |key: &str| {
        let rest =
            text.split(['{', '}', ',']).find_map(|part| part.trim().strip_prefix(key)?.strip_prefix('='))?;
        span_us(rest.trim())
    };
    Some(
        (us("RootDelay")? / 2)
            .saturating_add(us("RootDispersion")?)
            .saturating_add(us("Jitter").unwrap_or(0)),
    )
}

/// A time span as systemd prints it: `28.808ms`, `1.2s`, `762us`, `1min 2s`, `0`.
fn span_us(text: &str) -> Option<u64> {
    let mut all = 0u64;
    for part in text.split_whitespace() {
        let digits = part.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(part.len());
        let (number, unit) = part.split_at_checked(digits)?;
        let scale = match unit {
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "min" => 60_000_000,
            "h" => 3_600_000_000,
            "" if number == "0" => 1,
            _ => return None,
        };
        all = all.checked_add(decimal_us(number, scale)?)?;
    }
    Some(all)
}

/// A decimal number times `scale`, cut to whole microseconds.
fn decimal_us(text: &str, scale: u64) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let mut us = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut scale = scale;
    for digit in part.chars() {
        scale /= 10;
        us = us.checked_add(u64::from(digit.to_digit(10)?).checked_mul(scale)?)?;
    }
    Some(us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chrony_bounds_its_error() {
        let text = "C0A80101,192.168.1.1,3,1769860800.123456789,-0.000123456,-0.000012345,0.000054321,-12.345,0.001,\
                    0.123,0.010000000,0.002500000,64.2,Normal\n";
        assert_eq!(of_chrony(text), Some(123 + 5_000 + 2_500));
        assert_eq!(of_chrony(&text.replace("Normal", "Not synchronised")), None);
        for odd in ["", "506 Cannot talk to daemon", "a,b,c,d,e,f,g,h,i,j,k,l,m,Normal"] {
            assert_eq!(of_chrony(odd), None, "{odd}");
        }
    }

    #[test]
    fn timesyncd_tells_what_its_server_said() {
        let text = "{ Leap=0, Version=4, Mode=4, Stratum=2, Precision=-24, RootDelay=4.440ms, \
                    RootDispersion=28.808ms, Reference=0A000001, Ignored=no, PacketCount=12, Jitter=762us }";
        assert_eq!(of_timesyncd(text), Some(2_220 + 28_808 + 762));
        assert_eq!(of_timesyncd("{ RootDelay=0, RootDispersion=1.2s }"), Some(1_200_000));
        assert_eq!(of_timesyncd("{ RootDelay=1min 2s, RootDispersion=0 }"), Some(31_000_000));
        assert_eq!(of_timesyncd(""), None);
        assert_eq!(of_timesyncd("{ RootDelay=4 parsec, RootDispersion=0 }"), None);
    }
}
