//! Numbers as people read them: tokens, times, prices.

use std::time::Duration;

use crate::chat::Usage;

/// Tokens of a turn so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// What the latest request sent.
    pub input: u64,
    /// What all requests brought.
    pub output: u64,
}

impl Tokens {
    /// Counts a request.
    pub fn add(&mut self, usage: &Usage) {
        self.input = usage.prompt();
        self.output = self.output.saturating_add(usage.output);
    }

    /// `(↑9.6k ↓410)`, empty when nothing was counted.
    pub fn text(self) -> String {
        match self {
            Tokens {
                input: 0,
                output: 0,
            } => String::new(),
            Tokens { input, output } => format!("(↑{} ↓{})", count(input), count(output)),
        }
    }
}

/// `999`, `1k`, `9.6k`, `39k`, `1.2M`.
pub fn count(n: u64) -> String {
    let scaled = |unit: u64, letter| {
        // Rounded down, so that a figure never claims more than there is.
        let tenths = n / (unit / 10);
        match (tenths / 10, tenths % 10) {
            (whole, part) if whole < 10 && part > 0 => format!("{whole}.{part}{letter}"),
            (whole, _) => format!("{whole}{letter}"),
        }
    };
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => scaled(1_000, 'k'),
        _ => scaled(1_000_000, 'M'),
    }
}

/// A clock that runs: `59s`, `1m0s`, `1h1m3s`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s}s"),
        (h, m, s) => format!("{h}h{m}m{s}s"),
    }
}

/// How long something took: under ten seconds with one decimal.
pub fn duration(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    match tenths < 100 {
        true => format!("{}.{}s", tenths / 10, tenths % 10),
        false => clock(time),
    }
}

/// Dollars: four decimals below one, else two. Empty for nothing.
pub fn cost(usd: f64) -> String {
    match usd {
        usd if !usd.is_finite() || usd <= 0.0 => String::new(),
        usd if usd < 1.0 => format!("${usd:.4}"),
        usd => format!("${usd:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let counts = [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (9_640, "9.6k"),
            (9_999, "9.9k"),
            (39_000, "39k"),
            (999_999, "999k"),
            (1_200_000, "1.2M"),
            (u64::MAX, "18446744073709M"),
        ];
        for (n, expected) in counts {
            assert_eq!(count(n), expected);
        }
        let times = [(59, "59s"), (60, "1m0s"), (3663, "1h1m3s")];
        for (seconds, expected) in times {
            assert_eq!(clock(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(duration(Duration::from_millis(9_990)), "9.9s");
        assert_eq!(duration(Duration::from_millis(34_200)), "34s");
        assert_eq!(cost(0.041_23), "$0.0412");
        assert_eq!(cost(12.345), "$12.35");
        assert_eq!((cost(0.0), cost(f64::NAN)), (String::new(), String::new()));
        assert_eq!(Tokens::default().text(), "");
        assert_eq!(
            Tokens {
                input: 9_600,
                output: 410
            }
            .text(),
            "(↑9.6k ↓410)"
        );
    }
}
