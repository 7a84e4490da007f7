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
        match (self, color) {
            (Depth::None, _) => Color::Default,
            (Depth::Indexed, Color::Rgb(red, green, blue)) => {
                Color::Indexed(nearest((red, green, blue), 16..=255))
            }
            (Depth::Ansi, Color::Rgb(red, green, blue)) => Color::Indexed(ansi((red, green, blue))),
            (Depth::Ansi, Color::Indexed(index @ 16..)) => Color::Indexed(ansi(rgb(index))),
            _ => color,
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

/// Least distance between the strongest and the weakest part of what is seen as a colour.
const COLORFUL: i32 = 48;

/// One of the first 16. A colour keeps its hue and a grey has none, for that is what they mean.
fn ansi(color: (u8, u8, u8)) -> u8 {
    let (red, green, blue): (i32, i32, i32) = (color.0.into(), color.1.into(), color.2.into());
    let max = red.max(green).max(blue);
    let spread = max - red.min(green).min(blue);
    if spread < COLORFUL {
        return nearest(color, [0, 7, 8, 15]);
    }
    let degrees = match () {
        () if max == red => 60 * (green - blue) / spread,
        () if max == green => 120 + 60 * (blue - red) / spread,
        () => 240 + 60 * (red - green) / spread,
    };
    let index = match degrees.rem_euclid(360) {
        20..75 => 3,
        75..165 => 2,
        165..195 => 6,
        195..270 => 4,
        270..345 => 5,
        _ => 1,
    };
    nearest(color, [index, index + 8])
}

fn nearest(color: (u8, u8, u8), among: impl IntoIterator<Item = u8>) -> u8 {
    let distance = |index: &u8| {
        let other = rgb(*index);
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(color.0, other.0) + square(color.1, other.1) + square(color.2, other.2)
    };
    among.into_iter().min_by_key(distance).unwrap_or_default()
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
