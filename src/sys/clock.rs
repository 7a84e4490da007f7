//! Wall clock, suspend detection and dates.
//!
//! Dates are computed here because e needs three formats to read and one to write, which is less
//! than a date library.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 in UTC, 0 for a clock that is set before.
pub fn now_ms() -> u64 {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// A moment from which [`suspended_since`] counts.
#[derive(Clone, Copy, Debug)]
pub struct ClockMark {
    /// What the boot-time clock is ahead of the monotonic one: all suspended time since boot.
    suspended: Duration,
}

impl ClockMark {
    /// This moment.
    pub fn now() -> Self {
        Self {
            suspended: suspended_since_boot(),
        }
    }
}

/// How long the machine slept since `mark`. Zero where the system does not tell.
pub fn suspended_since(mark: ClockMark) -> Duration {
    let slept = suspended_since_boot().saturating_sub(mark.suspended);
    // The two clocks are read one after the other, so tiny differences mean nothing.
    if slept < Duration::from_millis(100) {
        Duration::ZERO
    } else {
        slept
    }
}

#[cfg(target_os = "linux")]
fn suspended_since_boot() -> Duration {
    let read = |clock| {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: clock_gettime only writes to `time`.
        unsafe { libc::clock_gettime(clock, &mut time) };
        let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
        Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), nanoseconds)
    };
    let monotonic = read(libc::CLOCK_MONOTONIC);
    read(libc::CLOCK_BOOTTIME).saturating_sub(monotonic)
}

#[cfg(not(target_os = "linux"))]
fn suspended_since_boot() -> Duration {
    Duration::ZERO
}

/// `YYYY-MM-DD HH:MM UTC` of a time in milliseconds since 1970.
pub fn utc_time(ms: u64) -> String {
    let minutes = ms / 60_000;
    format!(
        "{} {:02}:{:02} UTC",
        utc_date(ms),
        minutes / 60 % 24,
        minutes % 60
    )
}

/// `YYYY-MM-DD` in UTC of a time in milliseconds since 1970.
pub fn utc_date(ms: u64) -> String {
    // Counted in years that begin in March, so that the leap day comes last. 719,468 days lie
    // between 1 March of year 0 and 1970.
    let days = ms / 86_400_000 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The seconds since 1970 that an HTTP date stands for, in any of the three formats servers use:
/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
/// `None` for anything else, impossible dates and times before 1970.
pub fn parse_http_date(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    match words[..] {
        [_, day, month, year, time, "GMT" | "UTC"] => seconds(year, month, day, time),
        [_, date, time, "GMT" | "UTC"] => {
            let mut parts = date.splitn(3, '-');
            let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
            // Two digits mean the century that is nearest to our time, as RFC 9110 asks.
            let century = if number(year, 2)? < 70 { "20" } else { "19" };
            seconds(&format!("{century}{year}"), month, day, time)
        }
        [_, month, day, time, year] => seconds(year, month, day, time),
        _ => None,
    }
}

fn seconds(year: &str, month: &str, day: &str, time: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    const LENGTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

    let year = number(year, 4)?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let day = number(day, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = LENGTHS[month] + u64::from(leap && month == 1);
    if year < 1970 || !(1..=length).contains(&day) {
        return None;
    }

    let mut clock = time.splitn(3, ':').map(|part| number(part, 2));
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }

    // Leap days up to the end of last year, less those before 1970.
    let past = year - 1;
    let leap_days = past / 4 - past / 100 + past / 400 - 477;
    let day_of_year = LENGTHS[..month].iter().sum::<u64>() + u64::from(leap && month > 1) + day - 1;
    let days = (year - 1970) * 365 + leap_days + day_of_year;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// A number of at most `digits` digits and nothing else.
fn number(text: &str, digits: usize) -> Option<u64> {
    let plain = text.len() <= digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (68_169_599, "1972-02-28"),
            (68_169_600, "1972-02-29"),
            (68_256_000, "1972-03-01"),
            (951_782_400, "2000-02-29"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(utc_date(seconds * 1000), expected);
        }
    }

    #[test]
    fn http_dates_are_read() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("  Thu, 01 Jan 1970 00:00:00 GMT ", Some(0)),
            ("Thu, 29 Feb 2024 23:59:60 GMT", Some(1_709_251_200)),
            ("Mon, 01 Mar 2100 00:00:00 GMT", Some(4_107_542_400)),
            ("Thursday, 01-Jan-37 00:00:00 GMT", Some(2_114_380_800)),
            ("Thu, 29 Feb 2023 00:00:00 GMT", None),
            ("Thu, 00 Jan 2023 00:00:00 GMT", None),
            ("Wed, 31 Dec 1969 23:59:59 GMT", None),
            ("Sun, 06 Nov 1994 24:00:00 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37:00 GMT", None),
            ("Sun, +6 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 6-é-94 08:49:37 GMT", None),
            ("", None),
            ("120", None),
        ] {
            assert_eq!(parse_http_date(text), expected, "{text}");
        }
    }

    #[test]
    fn every_day_reads_back() {
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        for day in 0..60_000 {
            let date = utc_date(day * 86_400_000);
            let month = MONTHS[date[5..7].parse::<usize>().unwrap() - 1];
            let text = format!("Day, {} {month} {} 00:00:00 GMT", &date[8..], &date[..4]);
            assert_eq!(parse_http_date(&text), Some(day * 86_400), "{text}");
        }
    }

    #[test]
    fn an_awake_machine_was_not_suspended() {
        assert_eq!(suspended_since(ClockMark::now()), Duration::ZERO);
        assert!(now_ms() > 1_600_000_000_000);
    }
}
