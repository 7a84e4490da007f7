//! JSON of a stranger as a value whose size is known: a list of a million empty objects takes many
//! times its length.
//!
//! Lists end early, since what they hold is shown or tried in order and nobody needs the millionth.
//! Fields of objects are never left out, since each may mean something; too many are an error.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Values of one text behind which its lists end.
const KEPT: usize = 200_000;

/// Most values of one text.
const MOST: usize = 250_000;

/// Bytes that a value takes besides its text, about.
const VALUE: usize = 80;

/// A text that was read.
#[derive(Debug)]
pub(super) struct Bounded {
    pub(super) value: Value,
    /// Bytes that it takes, about.
    pub(super) size: usize,
    /// Items of lists that were left out.
    pub(super) left_out: usize,
}

impl Bounded {
    /// Reads one JSON value.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, or that it holds too much.
    pub(super) fn read(json: &str) -> Result<Self, String> {
        let mut counts = Counts::default();
        let mut reader = serde_json::Deserializer::from_str(json);
        // What the text is part of has seen that nothing comes behind.
        let value = Seed(&mut counts).deserialize(&mut reader);
        Ok(Self {
            value: value.map_err(|error| error.to_string())?,
            size: json.len() + counts.values * VALUE,
            left_out: counts.left_out,
        })
    }
}

#[derive(Default)]
struct Counts {
    values: usize,
    left_out: usize,
}

struct Seed<'a>(&'a mut Counts);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.0.values += 1;
        match self.0.values > MOST {
            true => Err(D::Error::custom("it holds more than 250,000 values")),
            false => from.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while self.0.values < KEPT {
            match items.next_element_seed(Seed(self.0))? {
                Some(item) => list.push(item),
                None => return Ok(list.into()),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            self.0.left_out += 1;
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            map.insert(name, fields.next_value_seed(Seed(self.0))?);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_what_it_says() {
        let value = json!({
            "a": [1, -2, 1.5, u64::MAX, true, null, "x\n\u{1F600}", [], {}],
            "b": {"c": {"d": [[[]]]}},
        });
        let read = Bounded::read(&value.to_string()).unwrap();
        assert_eq!((read.value, read.left_out), (value, 0));
        let twice = Bounded::read(r#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(twice.value, json!({"a": 2}));
        for wrong in ["", "[", "{\"a\"}", "1e999", &"[".repeat(200)] {
            assert!(Bounded::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_end_early_and_fields_are_kept() {
        let empties = |count: usize| vec!["{}"; count].join(",");
        let text = format!(
            r#"{{"many": [{}], "after": {{"x": ["gone"]}}, "last": true}}"#,
            empties(3_000_000)
        );
        let read = Bounded::read(&text).unwrap();
        let kept = read.value["many"].as_array().unwrap().len();
        assert_eq!(kept + read.left_out, 3_000_001);
        assert!(kept > KEPT - 10 && read.size < 32 << 20);
        assert_eq!(read.value["after"], json!({"x": []}));
        assert_eq!(read.value["last"], true);
        let fields: Vec<String> = (0..MOST).map(|n| format!("\"{n}\":0")).collect();
        let why = Bounded::read(&format!("{{{}}}", fields.join(","))).unwrap_err();
        assert!(
            why.starts_with("it holds more than 250,000 values"),
            "{why}"
        );
        let nested = format!("[{}]", vec!["[0,0]"; 200_000].join(","));
        assert!(Bounded::read(&nested).unwrap().left_out > 100_000);
        let text = Bounded::read(&json!([",[{".repeat(KEPT)]).to_string()).unwrap();
        assert_eq!(text.left_out, 0);
    }
}
