//! What the sequences of terminals mean: the tables behind the parser.
//!
//! xterm, the VT family, rxvt, the Linux console and the kitty protocol spell the same keys in
//! their own ways. What is not in a table is no event.

use super::{Button, InputEvent, Key, KeyPress, Mouse, MouseKind, Reply};

/// Parameters of a control sequence; each may have parts after colons.
struct Params(Vec<Vec<Option<u32>>>);

impl Params {
    fn parse(bytes: &[u8]) -> Self {
        let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
        let parts = |param: &[u8]| param.split(|&byte| byte == b':').map(number).collect();
        Self(bytes.split(|&byte| byte == b';').map(parts).collect())
    }

    /// A part of a parameter, both counted from 0.
    fn part(&self, param: usize, part: usize) -> Option<u32> {
        self.0.get(param)?.get(part).copied().flatten()
    }

    fn get(&self, param: usize) -> Option<u32> {
        self.part(param, 0)
    }
}

/// The key of a control character.
pub fn control(byte: u8) -> KeyPress {
    let key = match byte {
        b'\r' => Key::Enter,
        b'\t' => Key::Tab,
        0x1b => Key::Escape,
        0x7f => Key::Backspace,
        0 => Key::Char(' '),
        1..=26 => Key::Char((byte - 1 + b'a').into()),
        _ => Key::Char((byte | 0x40).into()),
    };
    KeyPress {
        ctrl: matches!(key, Key::Char(_)),
        ..KeyPress::plain(key)
    }
}

/// The event of `CSI params last`.
pub fn control_sequence(params: &[u8], last: u8) -> Option<InputEvent> {
    if let Some((prefix @ b'<'..=b'?', rest)) = params.split_first() {
        let params = Params::parse(rest);
        return match (prefix, last) {
            (b'<', b'M' | b'm') => mouse(&params, last == b'm'),
            _ => None,
        };
    }
    let is_bare = params.is_empty();
    let params = Params::parse(params);
    match last {
        // F3 with a modifier looks like a position in the first row. The position is what e asks for.
        b'R' if !is_bare => {
            let cell = |param| Some(cell_of(params.get(param)?));
            let (row, column) = (cell(0)?, cell(1)?);
            Some(InputEvent::Reply(Reply::Cursor { row, column }))
        }
        // The end of a paste that e never saw begin: evidence of a paste all the same.
        b'~' if params.get(0) == Some(201) => Some(InputEvent::Paste(String::new())),
        // The third event type of the kitty protocol is the release of the key.
        _ if params.part(1, 1) == Some(3) => None,
        _ => key_of(&params, last).map(InputEvent::Key),
    }
}

/// The key of `SS3`, with the digit that says what was held.
pub fn single_shift(modifiers: Option<u8>, last: u8) -> Option<KeyPress> {
    let key = match last {
        b'a'..=b'd' => {
            let press = KeyPress::plain(letter_key(last.to_ascii_uppercase())?);
            return Some(KeyPress {
                ctrl: true,
                ..press
            });
        }
        b'M' => Key::Enter,
        b'I' => Key::Tab,
        b'X' => Key::Char('='),
        b' ' => Key::Char(' '),
        b'j'..=b'y' => Key::Char((last - b'j' + b'*').into()),
        _ => letter_key(last)?,
    };
    Some(with_modifiers(key, modifiers.map(u32::from)))
}

/// The answer in an operating system command.
pub fn operating_system(body: &[u8]) -> Option<Reply> {
    let color = std::str::from_utf8(body).ok()?.strip_prefix("11;")?;
    let hex = match color.strip_prefix('#') {
        Some(hex) => {
            let digits = hex.len() / 3;
            let part = |index: usize| hex.get(index * digits..(index + 1) * digits);
            [part(0)?, part(1)?, part(2)?]
        }
        None => {
            let (_, parts) = color
                .split_once(':')
                .filter(|(kind, _)| matches!(*kind, "rgb" | "rgba"))?;
            let mut parts = parts.split('/');
            [parts.next()?, parts.next()?, parts.next()?]
        }
    };
    let [red, green, blue] = hex.map(component);
    Some(Reply::Background([red?, green?, blue?]))
}

/// One to four hexadecimal digits of a colour as a byte.
fn component(digits: &str) -> Option<u8> {
    let value = u32::from_str_radix(digits, 16).ok()?;
    let max = match digits.len() {
        length @ 1..=4 => (1u32 << (4 * length)) - 1,
        _ => return None,
    };
    u8::try_from(value * 255 / max).ok()
}

fn mouse(params: &Params, is_release: bool) -> Option<InputEvent> {
    let code = params.get(0)?;
    let button = match code & 0b1100_0011 {
        0 => Some(Button::Left),
        1 => Some(Button::Middle),
        2 => Some(Button::Right),
        _ => None,
    };
    let kind = match (code & 0b1100_0011, button) {
        (64, _) => MouseKind::WheelUp,
        (65, _) => MouseKind::WheelDown,
        (_, Some(button)) if is_release => MouseKind::Release(button),
        (_, Some(button)) if code & 32 != 0 => MouseKind::Drag(button),
        (_, Some(button)) => MouseKind::Press(button),
        (_, None) => return None,
    };
    Some(InputEvent::Mouse(Mouse {
        kind,
        column: cell_of(params.get(1)?),
        row: cell_of(params.get(2)?),
    }))
}

/// A position that a terminal counts from 1.
fn cell_of(number: u32) -> u16 {
    u16::try_from(number.saturating_sub(1)).unwrap_or(u16::MAX)
}

fn key_of(params: &Params, last: u8) -> Option<KeyPress> {
    let modifiers = params.get(1);
    match last {
        b'u' => code_point(params, modifiers),
        b'~' => match params.get(0)? {
            27 => other_key(params.get(2)?, modifiers),
            number => Some(with_modifiers(number_key(number)?, modifiers)),
        },
        // rxvt: shift, ctrl, both.
        b'$' => Some(with_modifiers(number_key(params.get(0)?)?, Some(2))),
        b'^' => Some(with_modifiers(number_key(params.get(0)?)?, Some(5))),
        b'@' => Some(with_modifiers(number_key(params.get(0)?)?, Some(6))),
        b'a'..=b'd' => Some(with_modifiers(
            letter_key(last.to_ascii_uppercase())?,
            Some(2),
        )),
        b'Z' => {
            let press = with_modifiers(Key::Tab, modifiers);
            Some(KeyPress {
                shift: true,
                ..press
            })
        }
        _ => Some(with_modifiers(letter_key(last)?, modifiers)),
    }
}

/// A key that is a letter at the end of `CSI` and `SS3`.
fn letter_key(letter: u8) -> Option<Key> {
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'P'..=b'S' => Key::F(letter - b'P' + 1),
        _ => return None,
    })
}

/// A key that is a number before `~`.
fn number_key(number: u32) -> Option<Key> {
    Some(match number {
        1 | 7 => Key::Home,
        2 => Key::Insert,
        3 => Key::Delete,
        4 | 8 => Key::End,
        5 => Key::PageUp,
        6 => Key::PageDown,
        11..=15 => Key::F((number - 10) as u8),
        17..=21 => Key::F((number - 11) as u8),
        23 | 24 => Key::F((number - 12) as u8),
        _ => return None,
    })
}

/// `CSI code;modifiers u` of the kitty protocol. The code is the one of the key without shift,
/// perhaps followed by the shifted one.
fn code_point(params: &Params, modifiers: Option<u32>) -> Option<KeyPress> {
    let code = params.get(0)?;
    let key = match code {
        // Keypad, in the numbering of the protocol.
        57399..=57408 => Key::Char(char::from_digit(code - 57399, 10)?),
        57409 => Key::Char('.'),
        57410 => Key::Char('/'),
        57411 => Key::Char('*'),
        57412 => Key::Char('-'),
        57413 => Key::Char('+'),
        57414 => Key::Enter,
        57415 => Key::Char('='),
        57416 => Key::Char(','),
        57417 => Key::Left,
        57418 => Key::Right,
        57419 => Key::Up,
        57420 => Key::Down,
        57421 => Key::PageUp,
        57422 => Key::PageDown,
        57423 => Key::Home,
        57424 => Key::End,
        57425 => Key::Insert,
        57426 => Key::Delete,
        // Lock keys, media keys and modifiers alone.
        0xe000..=0xf8ff => return None,
        _ => plain_key(code)?,
    };
    let mut press = with_modifiers(key, modifiers);
    if let (Key::Char(c), true) = (press.key, press.shift && !press.ctrl && !press.alt) {
        let shifted = params.part(0, 1).and_then(char::from_u32);
        let mut upper = c.to_uppercase();
        press.key = match (shifted, upper.next(), upper.next()) {
            (Some(shifted), ..) if !shifted.is_control() => Key::Char(shifted),
            (_, Some(upper), None) => Key::Char(upper),
            _ => press.key,
        };
    }
    Some(press)
}

/// `CSI 27;modifiers;code ~` of xterm, whose code is the character that shift gave.
fn other_key(code: u32, modifiers: Option<u32>) -> Option<KeyPress> {
    let mut press = with_modifiers(plain_key(code)?, modifiers);
    if matches!(press.key, Key::Char(c) if !c.is_alphabetic() && c != ' ') {
        press.shift = false;
    }
    Some(press)
}

/// The key of a code point.
fn plain_key(code: u32) -> Option<Key> {
    match code {
        0..=0x1f | 0x7f => match control(code as u8) {
            KeyPress { ctrl: true, .. } => None,
            press => Some(press.key),
        },
        _ => char::from_u32(code)
            .filter(|c| !c.is_control())
            .map(Key::Char),
    }
}

/// Adds what was held, as terminals number it: one more than the sum of shift 1, alt 2, ctrl 4,
/// super 8, hyper 16 and meta 32.
fn with_modifiers(key: Key, number: Option<u32>) -> KeyPress {
    let bits = number.unwrap_or(1).saturating_sub(1);
    let press = KeyPress {
        key,
        shift: bits & 1 != 0,
        alt: bits & 2 != 0,
        ctrl: bits & 4 != 0,
        command: bits & 0b11_1000 != 0,
    };
    // Where there is no protocol these are one key each, so they are everywhere.
    let same = match key {
        Key::Char('i') => Key::Tab,
        Key::Char('m') => Key::Enter,
        Key::Char('[') => Key::Escape,
        _ => return press,
    };
    match press
        == (KeyPress {
            ctrl: true,
            ..KeyPress::plain(key)
        }) {
        true => KeyPress::plain(same),
        false => press,
    }
}
