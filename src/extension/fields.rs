//! Fields of a JSON object that an extension sent, with their types checked.
//!
//! `null` is absent, what nobody asks for is accepted, and an error names the field by its whole
//! path (`tools[2].label.running`). Text is cut before it is cleaned: a field of 10 MiB costs no
//! more than what is kept of it.

use serde_json::{Map, Value};

use crate::text::{clip_bytes, one_line, sanitize};

/// Columns of titles, labels, names and one-line descriptions.
pub const LINE_COLUMNS: usize = 60;

/// Longest identifier that is kept to be sent back, in bytes.
pub const MAX_ID: usize = 1024;

/// Most bytes of a line that are looked at. Enough for any line of text; only a line full of
/// escape sequences loses more than its bound says.
pub const RAW_LINE: usize = 4 * 1024;

/// The last line of a text that was cut.
const CUT: &str = "[cut]";

/// One object and where it stands.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    map: &'a Map<String, Value>,
    /// What comes before a field's name in errors.
    prefix: String,
}

impl<'a> Fields<'a> {
    /// The fields of a whole message; an error calls it `what`.
    pub fn of(value: &'a Value, what: &str) -> Result<Self, String> {
        match value {
            Value::Object(map) => Ok(Self {
                map,
                prefix: String::new(),
            }),
            _ => Err(format!("{what} is not an object")),
        }
    }

    /// The value of a field, unless it is absent or null.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Whether the field is there, be it null.
    pub fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// A string.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, String> {
        self.typed(name, "a string", Value::as_str)
    }

    /// A string that must be there.
    pub fn required(&self, name: &str) -> Result<&'a str, String> {
        self.text(name)?
            .ok_or_else(|| format!("`{}` is missing", self.path(name)))
    }

    /// A string that must be there and say something.
    pub fn words(&self, name: &str) -> Result<&'a str, String> {
        let text = self.required(name)?;
        match text.trim().is_empty() {
            true => Err(format!("`{}` must not be blank", self.path(name))),
            false => Ok(text),
        }
    }

    /// One line of at most [`LINE_COLUMNS`] columns; empty when absent.
    pub fn line(&self, name: &str) -> Result<String, String> {
        Ok(line(self.text(name)?.unwrap_or_default(), LINE_COLUMNS))
    }

    /// The same, and nothing when it is absent or blank.
    pub fn some_line(&self, name: &str) -> Result<Option<String>, String> {
        Ok(Some(self.line(name)?).filter(|text| !text.is_empty()))
    }

    /// An identifier that is sent back as it came: at most [`MAX_ID`] bytes.
    pub fn id(&self, name: &str) -> Result<Option<String>, String> {
        match self.text(name)? {
            Some(id) if id.len() > MAX_ID => {
                Err(format!("`{}` is over {MAX_ID} bytes", self.path(name)))
            }
            id => Ok(id.map(String::from)),
        }
    }

    /// True or false.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, String> {
        self.typed(name, "true or false", Value::as_bool)
    }

    /// An object.
    pub fn object(&self, name: &str) -> Result<Option<Fields<'a>>, String> {
        let map = self.typed(name, "an object", Value::as_object)?;
        Ok(map.map(|map| Fields {
            map,
            prefix: format!("{}.", self.path(name)),
        }))
    }

    /// The items of a list; none when absent.
    pub fn list(&self, name: &str) -> Result<&'a [Value], String> {
        let items = self.typed(name, "a list", Value::as_array)?;
        Ok(items.map(Vec::as_slice).unwrap_or_default())
    }

    /// A list of strings, when there is one.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<&'a str>>, String> {
        if self.get(name).is_none() {
            return Ok(None);
        }
        let text = |(index, item): (usize, &'a Value)| {
            item.as_str()
                .ok_or_else(|| format!("`{}[{index}]` must be a string", self.path(name)))
        };
        let items = self.list(name)?.iter().enumerate().map(text);
        items.collect::<Result<_, _>>().map(Some)
    }

    /// The item `index` of the list `name` as an object.
    pub fn item(&self, name: &str, index: usize, item: &'a Value) -> Result<Self, String> {
        Self::at(item, &format!("{}[{index}]", self.path(name)))
    }

    /// The fields of the object at `path`.
    pub fn at(value: &'a Value, path: &str) -> Result<Self, String> {
        match value {
            Value::Object(map) => Ok(Self {
                map,
                prefix: format!("{path}."),
            }),
            _ => Err(format!("`{path}` must be an object")),
        }
    }

    /// The whole path of a field.
    pub fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn typed<T>(
        &self,
        name: &str,
        what: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => match read(value) {
                Some(typed) => Ok(Some(typed)),
                None => Err(format!("`{}` must be {what}", self.path(name))),
            },
        }
    }
}

/// A text as one clean line.
pub fn line(text: &str, columns: usize) -> String {
    one_line(clip_bytes(text, RAW_LINE), Some(columns))
}

/// A text of several lines, clean and of at most `max` bytes; a longer one ends with a line that
/// says so.
pub fn block(text: &str, max: usize) -> String {
    if text.len() <= max {
        return sanitize(text);
    }
    let kept = sanitize(whole_lines(text, max.saturating_sub(CUT.len() + 1)));
    format!("{kept}\n{CUT}")
}

/// The lines of a text that fit `max` bytes, without the last line break; of a text whose first
/// line is longer, the beginning.
pub fn whole_lines(text: &str, max: usize) -> &str {
    let kept = clip_bytes(text, max);
    kept.rfind('\n').map_or(kept, |end| &kept[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_the_whole_path() {
        let value = json!({"a": {"b": 1, "n": null}, "l": ["x", 2], "o": [{"t": []}]});
        let fields = Fields::of(&value, "the message").unwrap();
        let a = fields.object("a").unwrap().unwrap();
        let item = &fields.list("o").unwrap()[0];
        let errors = [
            (a.text("b").unwrap_err(), "`a.b` must be a string"),
            (a.boolean("b").unwrap_err(), "`a.b` must be true or false"),
            (a.required("n").unwrap_err(), "`a.n` is missing"),
            (fields.texts("l").unwrap_err(), "`l[1]` must be a string"),
            (fields.text("l").unwrap_err(), "`l` must be a string"),
            (fields.list("a").unwrap_err(), "`a` must be a list"),
            (fields.object("l").unwrap_err(), "`l` must be an object"),
            (
                fields.item("o", 0, item).unwrap().text("t").unwrap_err(),
                "`o[0].t` must be a string",
            ),
            (
                fields.item("l", 1, &json!(2)).unwrap_err(),
                "`l[1]` must be an object",
            ),
            (
                Fields::of(&json!([]), "the message").unwrap_err(),
                "the message is not an object",
            ),
        ];
        for (error, expected) in errors {
            assert_eq!(error, expected);
        }
        assert_eq!(a.text("n"), Ok(None));
        assert_eq!(fields.texts("none"), Ok(None));
        assert!(
            Fields::of(&json!({"w": " \n"}), "")
                .unwrap()
                .words("w")
                .is_err()
        );
    }

    #[test]
    fn text_is_cut_and_cleaned() {
        assert_eq!(line("a\x1b[31mb\nc", 60), "ab c");
        assert_eq!(line(&"x".repeat(10 << 20), 5), "xxxx…");
        assert_eq!(block("a\x1b]0;t\x07\nb\r\n", 100), "a\nb\n");
        let cut = block(&"line\n".repeat(1000), 64);
        assert!(cut.len() <= 64 && cut.ends_with("\n[cut]"), "{cut}");
        assert_eq!(block("ééé", 5), "\n[cut]");
    }
}
