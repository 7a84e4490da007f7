//! Reading an error body, whatever shape it has: JSON of a dozen kinds, an HTML page, plain text.

use serde_json::Value;

use super::wording;

/// What an error body says.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The text for a person, possibly empty.
    pub(super) message: String,
    /// The code to show: the most specific one.
    pub(super) code: Option<String>,
    /// All codes, types and statuses in lower case.
    pub(super) codes: Vec<String>,
    /// The whole body in lower case, for phrases.
    pub(super) all: String,
    /// Whether the body calls itself an error.
    pub(super) is_error: bool,
}

impl Report {
    pub(super) fn of_body(body: &str) -> Self {
        let body = body.trim();
        let mut report = Self {
            all: body.to_lowercase(),
            ..Self::default()
        };
        match serde_json::from_str::<Value>(body) {
            Ok(value) => report.read(&value),
            Err(_) if body.starts_with('<') => report.message = page_title(body),
            Err(_) => report.message = body.to_owned(),
        }
        report.code = report.codes.first().cloned();
        for code in &mut report.codes {
            code.make_ascii_lowercase();
        }
        report
    }

    pub(super) fn mentions(&self, phrases: wording::Phrases) -> bool {
        phrases
            .iter()
            .any(|parts| parts.iter().all(|part| self.all.contains(part)))
    }

    pub(super) fn is_overflow(&self) -> bool {
        self.has_code(wording::OVERFLOW_CODES) || self.mentions(wording::OVERFLOW)
    }

    pub(super) fn is_quota_code(&self) -> bool {
        self.has_code(wording::QUOTA_CODES)
    }

    fn has_code(&self, list: &[&str]) -> bool {
        self.codes.iter().any(|code| list.contains(&code.as_str()))
    }

    fn read(&mut self, value: &Value) {
        let object = match value {
            Value::Array(items) => return items.first().map_or((), |first| self.read(first)),
            Value::String(text) => return self.say(text),
            Value::Object(object) => object,
            Value::Null | Value::Bool(_) | Value::Number(_) => return,
        };
        let inner = object.get("error").filter(|error| !error.is_null());
        if let Some(inner) = inner {
            self.is_error = true;
            self.read(inner);
        }
        for name in ["code", "type", "status"] {
            match object.get(name) {
                // `{"type": "error", "error": {…}}` names no class.
                Some(Value::String(code)) if code != "error" => self.codes.push(code.clone()),
                Some(Value::Number(code)) => self.codes.push(code.to_string()),
                _ => {}
            }
        }
        // A gateway's own text is often a shell around what the model's server said.
        if let Some(raw) = object
            .get("metadata")
            .and_then(|data| data.get("raw"))
            .and_then(Value::as_str)
        {
            let inner = Report::of_body(raw);
            self.codes.extend(inner.codes);
            self.say(&inner.message);
        }
        for name in ["message", "detail", "msg", "errors", "error_description"] {
            if let Some(value) = object.get(name) {
                self.is_error |= name != "message";
                self.read(value);
            }
        }
    }

    /// The innermost text comes first and stays.
    fn say(&mut self, text: &str) {
        if self.message.is_empty() {
            text.trim().clone_into(&mut self.message);
        }
    }
}

/// A page is named by its title; markup helps nobody.
fn page_title(page: &str) -> String {
    // ASCII lower-casing keeps every offset as it was.
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|open| {
        let start = open + lower[open..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(page[start..end].trim())
    });
    match title {
        Some(title) if !title.is_empty() => format!("an HTML page, \"{title}\""),
        _ => "an HTML page".to_owned(),
    }
}
