//! Arguments of a call: parsed once, strictly, before anything runs.
//!
//! Text that does not parse never runs, and a parameter the tool does not know is an error, since
//! a misspelt `limit` would otherwise be dropped in silence. Only spellings that cannot be
//! misread are accepted beside the right one: a number as a decimal string, `true` as a string.

use serde_json::{Map, Value, json};

use crate::text::{clip_chars, json, one_line};

/// The longest path that a system opens, in bytes.
const MAX_PATH: usize = 4096;

/// One parameter of a tool, as its schema and its parser see it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name in the arguments object.
    pub name: &'static str,
    /// `string`, `integer` or `boolean`.
    pub kind: &'static str,
    /// Whether a call must have it.
    pub required: bool,
    /// What it means, for the model.
    pub help: &'static str,
}

impl Parameter {
    /// One that a call must have.
    pub const fn required(name: &'static str, kind: &'static str, help: &'static str) -> Self {
        Self {
            name,
            kind,
            required: true,
            help,
        }
    }

    /// One that a call may leave out.
    pub const fn optional(name: &'static str, kind: &'static str, help: &'static str) -> Self {
        Self {
            required: false,
            ..Self::required(name, kind, help)
        }
    }
}

/// The JSON Schema object of a parameter list.
pub fn schema(parameters: &[Parameter]) -> Value {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|p| {
            (
                p.name.to_owned(),
                json!({"type": p.kind, "description": p.help}),
            )
        })
        .collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|p| p.required)
        .map(|p| p.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The arguments of one call. Every error is a sentence for the model.
#[derive(Clone, Debug)]
pub struct Args(Map<String, Value>);

impl Args {
    /// Parses arguments and refuses names that are not those of `parameters`. An empty text and
    /// `null` are no arguments.
    pub fn parse(text: &str, parameters: &[Parameter]) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Map::new()));
        }
        let map = match json::parse(text) {
            Ok(Value::Object(map)) => map,
            Ok(Value::Null) => Map::new(),
            Ok(_) => return Err("the arguments are not a JSON object; nothing was run".to_owned()),
            Err(error) => {
                return Err(format!(
                    "the arguments are not valid JSON ({error}); nothing was run, send the call \
                     again with complete arguments"
                ));
            }
        };
        let known = |name: &&String| parameters.iter().any(|known| known.name == name.as_str());
        match map.keys().find(|name| !known(name)) {
            None => Ok(Self(map)),
            Some(unknown) => Err(format!(
                "unknown parameter `{}`; the parameters are {}",
                one_line(&clip_chars(unknown, 100), None),
                parameters
                    .iter()
                    .map(|known| format!("`{}`", known.name))
                    .collect::<Vec<_>>()
                    .join(", "),
            )),
        }
    }

    /// A string, when given.
    pub fn string(&self, name: &str) -> Result<Option<&str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be a string")),
        }
    }

    /// A string that must be given.
    pub fn required_string(&self, name: &str) -> Result<&str, String> {
        self.string(name)?
            .ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A path, when given. What the system could not open in any case is refused here, before it
    /// is resolved, compared and quoted.
    pub fn path(&self, name: &str) -> Result<Option<&str>, String> {
        match self.string(name)? {
            Some(path) if path.contains('\0') => Err(format!("`{name}` contains a NUL character")),
            Some(path) if path.len() > MAX_PATH => Err(format!(
                "`{name}` is too long, {MAX_PATH} bytes is the most"
            )),
            path => Ok(path),
        }
    }

    /// A path that must be given.
    pub fn required_path(&self, name: &str) -> Result<&str, String> {
        self.path(name)?
            .ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A whole number from 0, when given: an integer, a float without a fraction, or a decimal
    /// string.
    pub fn integer(&self, name: &str) -> Result<Option<u64>, String> {
        let value = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => value,
        };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok()
            }
            _ => None,
        };
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(format!(
                "`{name}` must be a whole number from 0 to {}",
                u64::MAX
            )),
        }
    }

    /// A boolean, `false` when not given.
    pub fn boolean(&self, name: &str) -> Result<bool, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(format!("`{name}` must be true or false")),
        }
    }
}

fn whole(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&number);
    fits.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Args, String> {
        let any = |name| Parameter::optional(name, "string", "");
        Args::parse(text, &["a", "b"].map(any))
    }

    #[test]
    fn only_whole_objects_with_known_names_parse() {
        for text in ["", "  ", "null", "{}", "{\"a\":1}"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        let deep = "[".repeat(10_000);
        for text in [
            "{\"a\":\"x",
            "{\"a\":1",
            "7",
            "[]",
            "\"a\"",
            "{} {}",
            deep.as_str(),
        ] {
            assert!(
                parse(text).unwrap_err().contains("nothing was run"),
                "{text}"
            );
        }
        let error = parse("{\"A\\n\":1}").unwrap_err();
        assert_eq!(error, "unknown parameter `A`; the parameters are `a`, `b`");
    }

    #[test]
    fn integers() {
        let cases = [
            ("5", Some(5)),
            ("5.0", Some(5)),
            ("1e3", Some(1000)),
            ("\"12\"", Some(12)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("\"18446744073709551616\"", None),
            ("-1", None),
            ("1.5", None),
            ("\"\"", None),
            ("\"+1\"", None),
            ("\"1 \"", None),
            ("true", None),
            ("[1]", None),
        ];
        for (text, expected) in cases {
            let args = parse(&format!("{{\"a\":{text}}}")).unwrap();
            match expected {
                Some(number) => assert_eq!(args.integer("a"), Ok(Some(number)), "{text}"),
                None => assert!(args.integer("a").unwrap_err().contains("`a`"), "{text}"),
            }
        }
        assert_eq!(parse("{\"a\":null}").unwrap().integer("a"), Ok(None));
    }

    #[test]
    fn booleans_and_strings() {
        let args = parse("{\"a\":\"TRUE\",\"b\":3}").unwrap();
        assert_eq!(args.boolean("a"), Ok(true));
        assert!(args.boolean("b").is_err());
        assert_eq!(args.required_string("a"), Ok("TRUE"));
        assert!(args.string("b").is_err());
        for (path, fits) in [
            ("/a", true),
            ("a\\u0000b", false),
            (&"x/".repeat(2100), false),
        ] {
            let args = parse(&format!("{{\"a\":\"{path}\"}}")).unwrap();
            assert_eq!(args.path("a").is_ok(), fits, "{path:.20}");
        }
        assert!(
            parse("")
                .unwrap()
                .required_string("a")
                .unwrap_err()
                .contains("`a` is missing")
        );
    }

    #[test]
    fn the_schema_lists_what_is_required() {
        let list = [
            Parameter::required("x", "string", "X."),
            Parameter::optional("y", "integer", "Y."),
        ];
        let schema = schema(&list);
        assert_eq!(schema["required"], json!(["x"]));
        assert_eq!(
            schema["properties"]["y"],
            json!({"type": "integer", "description": "Y."})
        );
    }
}
