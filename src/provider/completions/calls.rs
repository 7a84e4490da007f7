//! Putting tool calls together from their pieces, whatever a server forgets or mixes up.
//!
//! By the book every piece carries an `index`, and the first one of a call its id and name. In
//! the wild indexes are missing or always 0, ids are missing or come twice, names are repeated
//! with every piece, and arguments are an object. Two calls must never be glued into one.

use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::chat::ToolCall;

/// One element of `delta.tool_calls`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Piece<'a> {
    index: Option<u64>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct Function<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The calls of one reply so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// Adds a piece and returns how many bytes of arguments it brought.
    pub(super) fn add(&mut self, piece: Piece<'_>) -> usize {
        let id = piece.id.unwrap_or_default();
        let function = piece.function.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let arguments = function.arguments.map(text_of).unwrap_or_default();
        let slot = match self.find(piece.index, &id, &name, &arguments) {
            Some(position) => &mut self.slots[position],
            None => {
                self.slots.push(Slot {
                    index: piece.index,
                    ..Slot::default()
                });
                let last = self.slots.len() - 1;
                &mut self.slots[last]
            }
        };
        if !id.is_empty() {
            slot.id = id;
        }
        // A name comes whole, in pieces, or whole with every piece.
        if slot.name != name {
            slot.name.push_str(&name);
        }
        slot.arguments.push_str(&arguments);
        arguments.len()
    }

    /// The calls in order, each with an id of its own. Calls without a name are dropped. Absent
    /// arguments mean none, unless the reply was `cut`: then they were still to come, and the
    /// empty text keeps the call from running.
    pub(super) fn finish(&mut self, cut: bool) -> Vec<ToolCall> {
        let mut calls: Vec<ToolCall> = Vec::with_capacity(self.slots.len());
        for slot in std::mem::take(&mut self.slots) {
            if slot.name.trim().is_empty() {
                continue;
            }
            let taken = slot.id.trim().is_empty() || calls.iter().any(|call| call.id == slot.id);
            let id = if taken {
                format!("call_{}", Uuid::new_v4().simple())
            } else {
                slot.id
            };
            let absent = slot.arguments.trim().is_empty() && !cut;
            let arguments = if absent {
                "{}".to_owned()
            } else {
                slot.arguments
            };
            calls.push(ToolCall {
                id,
                name: slot.name,
                arguments,
                signature: None,
            });
        }
        calls
    }

    /// The slot that a piece continues, or `None` when it begins a new call.
    fn find(&self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Option<usize> {
        let position = match index {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == index),
            None if !id.is_empty() => self.slots.iter().rposition(|slot| slot.id == id),
            None => self.slots.len().checked_sub(1),
        }?;
        let slot = &self.slots[position];
        let other_id = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
        let names_again = !name.is_empty() && !slot.name.is_empty();
        // Asked last and seldom: it reads all the arguments there are.
        let full = || is_object(&slot.arguments);
        // Another id is another call when it brings a name, or when the one at hand is complete.
        // The same id, or none, is another call when one with arguments is named once more and
        // the arguments at hand cannot go on.
        let begins = if other_id {
            !name.is_empty() || full()
        } else {
            names_again && !arguments.is_empty() && full()
        };
        (!begins).then_some(position)
    }
}

/// The text of a JSON string, or any other value as it is written. `null` is nothing.
fn text_of(raw: &RawValue) -> String {
    match raw.get() {
        "null" => String::new(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_default(),
        text => text.to_owned(),
    }
}

fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds each piece and returns `id name arguments` of each call, a made-up id as `*`.
    fn assemble(pieces: &[&str]) -> Vec<String> {
        let mut calls = Calls::default();
        for piece in pieces {
            calls.add(serde_json::from_str(piece).unwrap());
        }
        let made_up = |id: &str| id.len() == 37 && id.starts_with("call_");
        calls
            .finish(false)
            .into_iter()
            .map(|call| {
                let id = if made_up(&call.id) { "*" } else { &call.id };
                format!("{id} {} {}", call.name, call.arguments)
            })
            .collect()
    }

    #[test]
    fn pieces_of_every_kind() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            (
                "by the book",
                &[
                    r#"{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":""}}"#,
                    r#"{"index":0,"function":{"arguments":"{\"k\""}}"#,
                    r#"{"index":1,"id":"b","function":{"name":"y","arguments":"{}"}}"#,
                    r#"{"index":0,"function":{"arguments":":1}"}}"#,
                ],
                &[r#"a x {"k":1}"#, "b y {}"],
            ),
            (
                "index 0 reused with a new id",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":1}"}}"#,
                    r#"{"index":0,"id":"b","function":{"name":"x","arguments":"{\"k\":2}"}}"#,
                ],
                &[r#"a x {"k":1}"#, r#"b x {"k":2}"#],
            ),
            (
                "index 0 reused, pieces",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}}"#,
                    r#"{"index":0,"function":{"arguments":":1}"}}"#,
                    r#"{"index":0,"id":"b","function":{"name":"y","arguments":""}}"#,
                    r#"{"index":0,"function":{"arguments":"{}"}}"#,
                ],
                &[r#"a x {"k":1}"#, "b y {}"],
            ),
            (
                "missing index",
                &[
                    r#"{"id":"a","function":{"name":"x","arguments":"{\"k\""}}"#,
                    r#"{"function":{"arguments":":1}"}}"#,
                    r#"{"id":"b","function":{"name":"y","arguments":"{}"}}"#,
                ],
                &[r#"a x {"k":1}"#, "b y {}"],
            ),
            (
                "missing id",
                &[
                    r#"{"index":0,"function":{"name":"x","arguments":"{}"}}"#,
                    r#"{"index":1,"function":{"name":"y","arguments":"{}"}}"#,
                ],
                &["* x {}", "* y {}"],
            ),
            (
                "missing index and id",
                &[
                    r#"{"function":{"name":"x","arguments":"{\"k\":1}"}}"#,
                    r#"{"function":{"name":"x","arguments":"{\"k\":2}"}}"#,
                ],
                &[r#"* x {"k":1}"#, r#"* x {"k":2}"#],
            ),
            (
                "same id twice",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}"#,
                    r#"{"index":1,"id":"a","function":{"name":"y","arguments":"{}"}}"#,
                ],
                &["a x {}", "* y {}"],
            ),
            (
                "same id and index twice",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}"#,
                    r#"{"index":0,"id":"a","function":{"name":"y","arguments":"{}"}}"#,
                ],
                &["a x {}", "* y {}"],
            ),
            (
                "name and id with every piece",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"c"}}"#,
                    r#"{"index":0,"id":"a","function":{"name":"bash","arguments":"\":1}"}}"#,
                ],
                &[r#"a bash {"c":1}"#],
            ),
            (
                "name in pieces",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"ba"}}"#,
                    r#"{"index":0,"function":{"name":"sh","arguments":"{}"}}"#,
                ],
                &["a bash {}"],
            ),
            (
                "another id with every piece",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k"}}"#,
                    r#"{"index":0,"id":"b","function":{"arguments":"\":1}"}}"#,
                ],
                &[r#"b x {"k":1}"#],
            ),
            (
                "arguments as an object",
                &[r#"{"index":0,"id":"a","function":{"name":"x","arguments":{"k":[1]}}}"#],
                &[r#"a x {"k":[1]}"#],
            ),
            (
                "arguments absent, null and empty",
                &[
                    r#"{"index":0,"id":"a","function":{"name":"x"}}"#,
                    r#"{"index":1,"id":"b","function":{"name":"x","arguments":null}}"#,
                    r#"{"index":2,"id":"c","function":{"name":"x","arguments":""}}"#,
                ],
                &["a x {}", "b x {}", "c x {}"],
            ),
            (
                "no name",
                &[
                    r#"{"index":0,"id":"a","function":{"arguments":"{}"}}"#,
                    r#"{"index":1}"#,
                    "{}",
                ],
                &[],
            ),
        ];
        for (name, pieces, expected) in cases {
            assert_eq!(assemble(pieces), *expected, "{name}");
        }
    }

    #[test]
    fn many_pieces_cost_no_more_than_their_sum() {
        let mut calls = Calls::default();
        let first = r#"{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":\""}}"#;
        calls.add(serde_json::from_str(first).unwrap());
        let begun = std::time::Instant::now();
        for _ in 0..50_000 {
            let piece = r#"{"index":0,"function":{"arguments":"{}"}}"#;
            calls.add(serde_json::from_str(piece).unwrap());
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(10));
        assert_eq!(calls.finish(false)[0].arguments.len(), 6 + 100_000);
    }

    #[test]
    fn a_cut_call_has_no_invented_arguments() {
        let mut calls = Calls::default();
        calls.add(serde_json::from_str(r#"{"index":0,"id":"a","function":{"name":"x"}}"#).unwrap());
        assert_eq!(calls.finish(true)[0].arguments, "");
    }
}
