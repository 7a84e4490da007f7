//! Parameters with their types checked. `null` is absent; what nobody asks for is accepted.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::agent::Limits;
use crate::error::{Error, Result};

/// The parameters of one request.
#[derive(Debug, Default)]
pub struct Params {
    map: Map<String, Value>,
    /// The object they are in, where that is not the request itself: `limits.`.
    prefix: &'static str,
}

impl Params {
    /// Those of an object.
    pub fn new(map: Map<String, Value>) -> Self {
        Self { map, prefix: "" }
    }

    /// A string.
    pub fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "a string")),
        }
    }

    /// The path of something that is to exist.
    pub fn path(&mut self, name: &str) -> Result<Option<PathBuf>> {
        match self.text(name)? {
            Some(text) if text.is_empty() => {
                Err(Error::usage(format!("`{name}` must not be empty")))
            }
            text => Ok(text.map(PathBuf::from)),
        }
    }

    /// A string that must be there.
    pub fn required(&mut self, name: &str) -> Result<String> {
        self.text(name)?.ok_or_else(|| self.missing(name))
    }

    /// A string that must be there and say something.
    pub fn words(&mut self, name: &str) -> Result<String> {
        let text = self.required(name)?;
        match text.trim().is_empty() {
            true => Err(Error::usage(format!("`{name}` must not be empty"))),
            false => Ok(text),
        }
    }

    /// A boolean, `false` when absent.
    pub fn flag(&mut self, name: &str) -> Result<bool> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    /// A list of strings.
    pub fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        let wrong = || self.wrong(name, "a list of strings");
        let items = match self.map.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(wrong()),
        };
        let text = |item: &Value| item.as_str().map(String::from).ok_or_else(wrong);
        items.iter().map(text).collect::<Result<_>>().map(Some)
    }

    /// A whole number that must be there.
    pub fn integer(&mut self, name: &str) -> Result<u64> {
        let value = self.take(name).ok_or_else(|| self.missing(name))?;
        value
            .as_u64()
            .ok_or_else(|| self.wrong(name, "a whole number"))
    }

    /// A value of any type; null counts as none.
    pub fn any(&mut self, name: &str) -> Option<Value> {
        self.take(name)
    }

    /// What a turn may use up.
    pub fn limits(&mut self) -> Result<Limits> {
        let map = match self.take("limits") {
            None => return Ok(Limits::default()),
            Some(Value::Object(map)) => map,
            Some(_) => return Err(self.wrong("limits", "an object")),
        };
        let mut limits = Params {
            map,
            prefix: "limits.",
        };
        Ok(Limits {
            steps: limits.above_zero("steps", |value| value.as_u64()?.try_into().ok())?,
            seconds: limits.above_zero("seconds", Value::as_u64)?,
            cost_usd: limits.above_zero("cost_usd", Value::as_f64)?,
        })
    }

    fn above_zero<T: Default + PartialOrd>(
        &mut self,
        name: &str,
        read: fn(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = read(&value).filter(|number| *number > T::default());
        let what = match name {
            "cost_usd" => "a number above zero",
            _ => "a whole number above zero",
        };
        number.map(Some).ok_or_else(|| self.wrong(name, what))
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        // Not `remove`, which would look for the last entry to put in its place.
        self.map
            .get_mut(name)
            .map(Value::take)
            .filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, what: &str) -> Error {
        Error::usage(format!("`{}{name}` must be {what}", self.prefix))
    }

    fn missing(&self, name: &str) -> Error {
        Error::usage(format!("`{}{name}` is missing", self.prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(value: Value) -> Params {
        match value {
            Value::Object(map) => Params::new(map),
            _ => Params::default(),
        }
    }

    #[test]
    fn null_is_absent_and_a_wrong_type_names_the_parameter() {
        let mut good = params(json!({"a": null, "b": "x", "c": ["y"], "d": true, "e": 7}));
        assert_eq!(good.text("a").unwrap(), None);
        assert_eq!(good.text("b").unwrap().as_deref(), Some("x"));
        assert_eq!(good.texts("a").unwrap(), None);
        assert_eq!(good.texts("c").unwrap(), Some(vec!["y".into()]));
        assert!(!good.flag("a").unwrap() && good.flag("d").unwrap());
        assert_eq!(good.integer("e").unwrap(), 7);
        for value in [json!(1), json!(false), json!([1]), json!({}), json!(1.5)] {
            let errors = [
                params(json!({"p": value})).text("p").unwrap_err(),
                params(json!({"p": value})).texts("p").unwrap_err(),
            ];
            for error in errors {
                assert!(error.to_string().starts_with("`p` must be "), "{error}");
            }
        }
        assert!(params(json!({"p": "true"})).flag("p").is_err());
        assert!(params(json!({"p": -1})).integer("p").is_err());
        let missing = params(json!({"p": null})).required("p").unwrap_err();
        assert_eq!(missing.to_string(), "`p` is missing");
        assert!(params(json!({"p": " \n"})).words("p").is_err());
    }

    #[test]
    fn limits_are_numbers_above_zero() {
        let limits = params(json!({"limits": {"steps": 3, "seconds": null, "cost_usd": 0.5}}))
            .limits()
            .unwrap();
        assert_eq!(
            (limits.steps, limits.seconds, limits.cost_usd),
            (Some(3), None, Some(0.5))
        );
        for bad in [
            json!([]),
            json!({"steps": 0}),
            json!({"steps": 1.5}),
            json!({"steps": u64::MAX}),
            json!({"seconds": "9"}),
            json!({"cost_usd": -1}),
        ] {
            let error = params(json!({"limits": bad})).limits().unwrap_err();
            assert!(error.to_string().starts_with("`limits"), "{error}");
        }
    }
}
