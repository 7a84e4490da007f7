//! Whether the arguments of a call fit the tool.

use serde_json::Value;

use super::{Tool, quoted};
use crate::extension::fields::{LINE_COLUMNS, line};

impl Tool {
    /// Checks the arguments of a call against the top level of `parameters`: required names and
    /// JSON types. What is deeper is the extension's own business.
    ///
    /// # Errors
    ///
    /// A sentence for the model that names the parameter.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        let Value::Object(arguments) = arguments else {
            return Err("the arguments are not a JSON object; nothing was run".to_owned());
        };
        let required = self.parameters.get("required").and_then(Value::as_array);
        let mut names = required.into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = names.find(|name| !arguments.contains_key(*name)) {
            return Err(format!("{} is missing; nothing was run", quoted(missing)));
        }
        for (name, value) in arguments {
            let property = self
                .parameters
                .get("properties")
                .and_then(|list| list.get(name));
            let types = match property.and_then(|property| property.get("type")) {
                Some(Value::String(one)) => vec![one.as_str()],
                Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
                _ => continue,
            };
            if !types.is_empty() && !types.iter().any(|kind| has_type(value, kind)) {
                let types = line(&types.join(" or "), LINE_COLUMNS);
                return Err(format!(
                    "{} must be of type {types}; nothing was run",
                    quoted(name)
                ));
            }
        }
        Ok(())
    }
}

/// Whether a value has a type of JSON Schema. A type it does not know fits everything.
fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => true,
    }
}
