//! What a terminal can show of a colour.

use super::Color;
use crate::sys::Env;

/// What colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// None; bold, dim and reverse stay.
    None,
    /// The 16 of ANSI.
    Ansi,
    /// The table of 256.
    Indexed,
    /// 24 bits.
    True,
}

impl Depth {
    /// What the environment says about the terminal.
    pub fn detect(env: &Env) -> Self {
        let var = |name| env.text(name).unwrap_or_default();
        let term = var("TERM");
        let has = |words: &[&str]| words.iter().any(|word| term.contains(word));
        // Their own variable does not pass through ssh; their name does.
        let known = ["direct", "kitty", "ghostty", "alacritty", "foot", "wezterm"];
        match () {
            () if env.get("NO_COLOR").is_some_and(|value| !value.is_empty()) => Depth::None,
            () if matches!(var("COLORTERM"), "truecolor" | "24bit") || has(&known) => Depth::True,
            () if has(&["256color"]) => Depth::Indexed,
            () => Depth::Ansi,
        }
    }

    /// What comes nearest to a colour.
    pub(super) fn nearest(self, color: Color) -> Color {
        let among = match self {
            Depth::None => return Color::Default,
            Depth::Ansi => 0..=15,
            Depth::Indexed => 16..=255,
            Depth::True => return color,
        };
        match color {
            Color::Rgb(red, green, blue) => Color::Indexed(nearest((red, green, blue), among)),
            Color::Indexed(index @ 16..) if self == Depth::Ansi => {
                Color::Indexed(nearest(rgb(index), among))
            }
            Color::Default | Color::Indexed(_) => color,
        }
    }
}

/// The levels of the colour cube of the 256-colour table.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The first 16 colours, as most terminals show them.
const ANSI: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

fn nearest(color: (u8, u8, u8), among: std::ops::RangeInclusive<u8>) -> u8 {
    let first = *among.start();
    let distance = |index: u8| {
        let other = rgb(index);
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(color.0, other.0) + square(color.1, other.1) + square(color.2, other.2)
    };
    among.min_by_key(|index| distance(*index)).unwrap_or(first)
}

/// The red, green and blue of an entry of the 256-colour table.
fn rgb(index: u8) -> (u8, u8, u8) {
    match index {
        0..=15 => ANSI[usize::from(index)],
        16..=231 => {
            let level = |n: u8| LEVELS[usize::from(n % 6)];
            let n = index - 16;
            (level(n / 36), level(n / 6), level(n))
        }
        232..=255 => {
            let gray = 8 + 10 * (index - 232);
            (gray, gray, gray)
        }
    }
}
