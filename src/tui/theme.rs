//! Meanings to colours: built-in themes, theme files, and what a terminal can show of them.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;

use super::style::{Style, Token};
use crate::config::store::object;
use crate::error::io_text;
use crate::sys::Env;
use crate::sys::fs::{is_missing, read_regular};

mod depth;
mod table;

pub use depth::Depth;

/// A colour as a theme names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Whatever the terminal uses.
    #[default]
    Default,
    /// An entry of the 256-colour table.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// What the terminal's background is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Dark, with light text.
    Dark,
    /// Light, with dark text.
    Light,
}

impl Background {
    /// From the colour that the terminal tells: red, green, blue.
    pub fn of([red, green, blue]: [u8; 3]) -> Self {
        let light = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
        match light > 127_500 {
            true => Self::Light,
            false => Self::Dark,
        }
    }

    /// From `COLORFGBG`, whose last number is an index of the background.
    pub fn from_env(env: &Env) -> Option<Self> {
        let index: u8 = env
            .text("COLORFGBG")?
            .rsplit(';')
            .next()?
            .trim()
            .parse()
            .ok()?;
        match index {
            0..=6 | 8 => Some(Self::Dark),
            7 | 9..=15 => Some(Self::Light),
            16.. => None,
        }
    }
}

/// What the setting may name besides files.
const BUILT_IN: [&str; 3] = ["auto", "light", "dark"];

/// Stand for the markers of a diff without 24-bit colour.
const ADDED_FALLBACK: &str = "toolDiffAddedMarkerFallback";
const REMOVED_FALLBACK: &str = "toolDiffRemovedMarkerFallback";

/// Largest theme file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A colour for every token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme {
    colors: Vec<Color>,
    /// Used for the two diff markers without 24-bit colour.
    added_fallback: Color,
    removed_fallback: Color,
}

impl Theme {
    /// The built-in one for a background.
    pub fn built_in(background: Background) -> Self {
        let mut theme = Self::empty();
        for (name, dark, light) in table::BUILT_IN {
            let color = match background {
                Background::Dark => *dark,
                Background::Light => *light,
            };
            // A test knows that every name is one.
            let _ = theme.set(name, color);
        }
        theme
    }

    /// The built-in one as a file, with every token: a start for one of your own.
    pub fn built_in_json(background: Background) -> String {
        let theme = Self::built_in(background);
        let (name, colors) = match background {
            Background::Dark => ("dark", &theme.colors),
            Background::Light => ("light", &theme.colors),
        };
        let tokens = Token::ALL.iter().map(|token| token.name()).zip(colors);
        let fallbacks = [
            (ADDED_FALLBACK, &theme.added_fallback),
            (REMOVED_FALLBACK, &theme.removed_fallback),
        ];
        let lines = tokens.chain(fallbacks).map(|(token, color)| match color {
            Color::Default => format!("    \"{token}\": \"\""),
            Color::Indexed(number) => format!("    \"{token}\": {number}"),
            Color::Rgb(r, g, b) => format!("    \"{token}\": \"#{r:02X}{g:02X}{b:02X}\""),
        });
        let lines: Vec<String> = lines.collect();
        let lines = lines.join(",\n");
        format!("{{\n  \"name\": \"{name}\",\n  \"colors\": {{\n{lines}\n  }}\n}}\n")
    }

    /// The theme of a setting: `auto`, `dark`, `light`, or another file's name. The first of `dirs` that
    /// has `<name>.json` gives it, also in the place of a built-in one. What is wrong with the file is a
    /// warning; without a usable file the built-in one is used.
    pub fn load(name: &str, dirs: &[PathBuf], background: Background) -> (Self, Option<String>) {
        let (name, built_in) = match (name, background) {
            ("dark", _) | ("auto" | "", Background::Dark) => ("dark", Some(Background::Dark)),
            ("light", _) | ("auto" | "", Background::Light) => ("light", Some(Background::Light)),
            (name, _) => (name, None),
        };
        let fallback = Self::built_in(built_in.unwrap_or(background));
        let named = !name.contains(['/', '\0']) && name != "..";
        let file = format!("{name}.json");
        let mut parsed = match built_in {
            Some(_) => Ok((fallback.clone(), Vec::new())),
            None => Err("there is no file of that name".to_owned()),
        };
        for dir in dirs.iter().filter(|_| named) {
            match read_regular(&dir.join(&file), MAX_FILE) {
                Ok(bytes) => {
                    parsed = Self::parse(&bytes);
                    break;
                }
                Err(error) if is_missing(&error) => {}
                Err(error) => parsed = Err(io_text(&error)),
            }
        }
        match parsed {
            Ok((theme, bad)) if bad.is_empty() => (theme, None),
            Ok((theme, bad)) => {
                let warning = format!("theme `{name}`: ignored {}", quoted(&bad));
                (theme, Some(warning))
            }
            Err(error) => {
                let warning = format!("theme `{name}`: {error}; using the built-in one");
                (fallback, Some(warning))
            }
        }
    }

    /// What the setting may name: the built-in themes, then the files in `dirs`, each once.
    pub fn names(dirs: &[PathBuf]) -> Vec<String> {
        let files = dirs.iter().flat_map(fs::read_dir).flatten().flatten();
        let mut found: Vec<_> = files
            .filter_map(|entry| {
                Some(
                    entry
                        .file_name()
                        .to_str()?
                        .strip_suffix(".json")?
                        .to_owned(),
                )
            })
            .filter(|name| !BUILT_IN.contains(&name.as_str()))
            .collect();
        found.sort_unstable();
        found.dedup();
        let built_in = BUILT_IN.iter().map(ToString::to_string);
        built_in.chain(found).collect()
    }

    /// A theme from the text of its file, and the names of what was ignored in it.
    fn parse(bytes: &[u8]) -> Result<(Self, Vec<String>), String> {
        let file = object(bytes)?;
        let table = |name| file.get(name).and_then(Value::as_object);
        let (mut theme, mut bad) = (Self::empty(), Vec::new());
        for name in ["vars", "colors"] {
            if file.contains_key(name) && table(name).is_none() {
                bad.push(name.to_owned());
            }
        }
        let vars = table("vars");
        for (token, value) in table("colors").into_iter().flatten() {
            let named = value.as_str().and_then(|name| vars?.get(name));
            let set = parse_color(named.unwrap_or(value)).and_then(|color| theme.set(token, color));
            if set.is_none() {
                bad.push(token.clone());
            }
        }
        Ok((theme, bad))
    }

    /// The colour of a token on a terminal of that depth.
    pub fn resolve(&self, token: Token, depth: Depth) -> Color {
        let color = match (token, depth) {
            (Token::ToolDiffAddedMarker, Depth::Ansi | Depth::Indexed) => self.added_fallback,
            (Token::ToolDiffRemovedMarker, Depth::Ansi | Depth::Indexed) => self.removed_fallback,
            _ => self.colors[token as usize],
        };
        match (color, token.part_of()) {
            (Color::Default, Some(whole)) => self.resolve(whole, depth),
            (color, _) => depth.nearest(color),
        }
    }

    fn empty() -> Self {
        Self {
            colors: vec![Color::Default; Token::ALL.len()],
            added_fallback: Color::Default,
            removed_fallback: Color::Default,
        }
    }

    fn set(&mut self, name: &str, color: Color) -> Option<()> {
        let place = match name {
            ADDED_FALLBACK => &mut self.added_fallback,
            REMOVED_FALLBACK => &mut self.removed_fallback,
            _ => self.colors.get_mut(Token::named(name)? as usize)?,
        };
        *place = color;
        Some(())
    }
}

/// A theme as one terminal shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    theme: Theme,
    depth: Depth,
}

impl Palette {
    /// A theme at a depth.
    pub fn new(theme: Theme, depth: Depth) -> Self {
        Self { theme, depth }
    }

    /// Appends the sequence that turns a style on, from the plain one.
    pub fn sgr(&self, style: &Style, out: &mut Vec<u8>) {
        let color = |token| self.theme.resolve(token, self.depth);
        let text = color(style.color.unwrap_or(Token::Text));
        let behind = style.background.map_or(Color::Default, color);
        let selected = (color(Token::SelectedText), color(Token::SelectedBg));
        let (text, behind, reverse) = match selected {
            _ if !style.reverse => (text, behind, false),
            (Color::Default, Color::Default) => (text, behind, true),
            (Color::Default, selected) => (text, selected, false),
            (selected, Color::Default) => (selected, behind, false),
            // Swapped twice, so that it is also told from the rest where only that is looked at.
            (text, behind) => (behind, text, true),
        };
        let flags = [
            (style.bold, 1),
            // What is selected has one brightness.
            (style.dim && !style.reverse, 2),
            (style.italic, 3),
            (style.underline, 4),
            (reverse, 7),
            (style.strike, 9),
        ];
        let mut codes: Vec<u8> = Vec::new();
        for (_, code) in flags.iter().filter(|(on, _)| *on) {
            let _ = write!(codes, ";{code}");
        }
        for (color, ground) in [(text, 3), (behind, 4)] {
            let _ = match color {
                Color::Default => Ok(()),
                Color::Indexed(index @ 0..=7) => write!(codes, ";{ground}{index}"),
                Color::Indexed(index @ 8..=15) => write!(codes, ";{}{}", ground + 6, index - 8),
                Color::Indexed(index) => write!(codes, ";{ground}8;5;{index}"),
                Color::Rgb(r, g, b) => write!(codes, ";{ground}8;2;{r};{g};{b}"),
            };
        }
        if let Some(codes) = codes.get(1..) {
            out.extend_from_slice(b"\x1b[");
            out.extend_from_slice(codes);
            out.push(b'm');
        }
    }
}

fn quoted(names: &[String]) -> String {
    /// Names that one warning lists.
    const SHOWN: usize = 3;
    let mut list: Vec<_> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    list.join(", ")
}

fn parse_color(value: &Value) -> Option<Color> {
    match value {
        Value::Number(index) => Some(Color::Indexed(index.as_u64()?.try_into().ok()?)),
        Value::String(text) if text.is_empty() => Some(Color::Default),
        Value::String(text) => parse_hex(text),
        _ => None,
    }
}

fn parse_hex(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
    Some(Color::Rgb(red, green, blue))
}

#[cfg(test)]
mod tests;
