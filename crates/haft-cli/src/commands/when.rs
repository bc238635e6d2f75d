//! Times as people read and write them.

use crate::exit::Failure;

/// A moment in the person's time zone.
pub(crate) fn moment(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(moment) => moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => "unknown".to_owned(),
    }
}

/// The Unix time of so long ago, such as `30m`, `12h` or `7d`.
pub(crate) fn since(age: &str, now_ms: i64) -> Result<i64, Failure> {
    let wrong = || {
        Failure::usage(format_args!("{age:?} is not an age"))
            .hint("write a number and s, m, h or d, such as 12h")
    };
    let unit = age.chars().last().ok_or_else(wrong)?;
    let seconds: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: i64 = age[..age.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let span = count.checked_mul(seconds).and_then(|span| span.checked_mul(1000)).filter(|span| *span >= 0);
    span.and_then(|span| now_ms.checked_sub(span)).ok_or_else(wrong)
}

/// The Unix time now.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// A size as people read it.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{amount:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes() {
        assert_eq!(since("2h", 10_000_000).unwrap(), 10_000_000 - 7_200_000);
        for wrong in ["", "h", "2", "2x", "-2h", "99999999999999999d"] {
            assert!(since(wrong, 0).is_err(), "{wrong}");
        }
        assert_eq!([size(5), size(2048), size(5 << 30)], ["5 B", "2.0 KiB", "5.0 GiB"]);
    }
}
