//! Makes any history sendable: whatever an interrupt, a crash, another model or an edited log
//! left behind, what comes out is a conversation that a strict server accepts.
//!
//! - Every call has exactly one answer, right after the message that made it, and every answer
//!   has a call.
//! - Ids are unique and of a form the dialect allows; names too.
//! - No text is blank, no message is empty, and the last word is not the model's.
//! - Images that the model or the dialect does not take are replaced by a note.
//! - Reasoning goes back only to the model that gave it, ahead of the reply it belongs to.
//!
//! Both dialects use this and differ in [`Rules`] only.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::chat::{Image, Message, Outcome, ToolCall};

/// What a dialect and a model allow.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Whether calls may be on the wire. Without, they become text.
    pub(super) tools: bool,
    /// The form of call ids.
    pub(super) ids: Ids,
    /// Whether images may be sent.
    pub(super) images: bool,
    /// Most base64 characters of one image.
    pub(super) image_size: usize,
    /// Most images of one request; the newest stay.
    pub(super) image_count: usize,
}

/// Which call ids a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Letters, digits, `-` and `_`, up to a length.
    UpTo(usize),
    /// Exactly nine letters or digits.
    Nine,
}

/// One entry of a sendable history.
#[derive(Debug, PartialEq)]
pub(super) enum Entry<'a> {
    /// Somebody spoke. Text and images are never both empty.
    User {
        text: Cow<'a, str>,
        images: Vec<&'a Image>,
    },
    /// The model spoke. Text and calls are never both empty.
    Assistant {
        reasoning: Vec<Cow<'a, str>>,
        text: Cow<'a, str>,
        calls: Vec<Call<'a>>,
    },
    /// One answer for each call of the entry before, in the same order.
    Answers(Vec<Answer<'a>>),
}

/// A call as it goes on the wire.
#[derive(Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    /// A JSON object, as text.
    pub(super) arguments: &'a str,
}

/// What a call came back with.
#[derive(Debug, PartialEq)]
pub(super) struct Answer<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) content: Cow<'a, str>,
    pub(super) failed: bool,
}

/// The answer to a call that has none in the history.
const UNANSWERED: &str = "no result: the call was interrupted and may not have run";
/// Stands where a conversation may not begin or end without a user's words.
const CONTINUE: &str = "Continue.";

/// Turns a history into entries. `reasoning` gives the wire form of an item that belongs to the
/// dialect and the model, and `None` for all others.
pub(super) fn normalise<'a>(
    messages: &'a [Arc<Message>],
    rules: Rules,
    reasoning: &dyn Fn(&'a str) -> Option<Cow<'a, str>>,
) -> Vec<Entry<'a>> {
    let mut entries = Vec::with_capacity(messages.len() + 1);
    let mut ids = IdMaker {
        rules: rules.ids,
        used: HashSet::new(),
    };
    let mut images = Images::new(messages, rules);
    let mut thoughts = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match &**message {
            Message::Reasoning { content } => thoughts.extend(reasoning(content)),
            Message::System { content } => {
                thoughts.clear();
                entries.extend(user(Cow::Borrowed(content), Vec::new()));
            }
            Message::User {
                content,
                images: attached,
                ..
            } => {
                thoughts.clear();
                let (kept, note) = images.choose(attached);
                let text = match note {
                    Some(note) if is_blank(content) => Cow::Owned(note),
                    Some(note) => Cow::Owned(format!("{content}\n\n{note}")),
                    None => Cow::Borrowed(content.as_str()),
                };
                entries.extend(user(text, kept));
            }
            // Looked up by the assistant message it answers.
            Message::Tool { .. } => {}
            Message::Assistant {
                content,
                tool_calls,
            } => {
                let thoughts = std::mem::take(&mut thoughts);
                let answers = Answers::after(&messages[index + 1..]);
                if rules.tools {
                    with_calls(
                        &mut entries,
                        &mut ids,
                        thoughts,
                        content,
                        tool_calls,
                        answers,
                    );
                } else {
                    as_text(&mut entries, thoughts, content, tool_calls, answers);
                }
            }
        }
    }
    if !matches!(entries.first(), Some(Entry::User { .. })) {
        entries.insert(
            0,
            Entry::User {
                text: Cow::Borrowed(CONTINUE),
                images: Vec::new(),
            },
        );
    }
    if matches!(entries.last(), Some(Entry::Assistant { .. })) {
        entries.push(Entry::User {
            text: Cow::Borrowed(CONTINUE),
            images: Vec::new(),
        });
    }
    entries
}

/// Whether a server would call this text empty.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn user<'a>(text: Cow<'a, str>, images: Vec<&'a Image>) -> Option<Entry<'a>> {
    let text = if is_blank(&text) {
        Cow::Borrowed("")
    } else {
        text
    };
    (!text.is_empty() || !images.is_empty()).then_some(Entry::User { text, images })
}

fn with_calls<'a>(
    entries: &mut Vec<Entry<'a>>,
    ids: &mut IdMaker,
    reasoning: Vec<Cow<'a, str>>,
    content: &'a str,
    tool_calls: &'a [ToolCall],
    mut found: Answers<'a>,
) {
    let text = if is_blank(content) { "" } else { content };
    if text.is_empty() && tool_calls.is_empty() {
        return;
    }
    let mut answers = Vec::with_capacity(tool_calls.len());
    let calls: Vec<Call<'_>> = tool_calls
        .iter()
        .map(|call| {
            let id = ids.make(&call.id);
            let (content, failed) = found.take(&call.id);
            answers.push(Answer {
                id: id.clone(),
                content,
                failed,
            });
            Call {
                id,
                name: tool_name(&call.name),
                arguments: object_text(&call.arguments),
            }
        })
        .collect();
    entries.push(Entry::Assistant {
        reasoning,
        text: Cow::Borrowed(text),
        calls,
    });
    if !answers.is_empty() {
        entries.push(Entry::Answers(answers));
    }
}

/// The same without calls on the wire, for a request that offers no tools: several servers
/// refuse calls in a conversation that has none to offer.
fn as_text<'a>(
    entries: &mut Vec<Entry<'a>>,
    reasoning: Vec<Cow<'a, str>>,
    content: &'a str,
    tool_calls: &'a [ToolCall],
    mut found: Answers<'a>,
) {
    let mut text = Cow::Borrowed(if is_blank(content) { "" } else { content });
    let mut results = String::new();
    for call in tool_calls {
        let text = text.to_mut();
        let gap = if text.is_empty() { "" } else { "\n\n" };
        let _ = write!(text, "{gap}[called {} with {}]", call.name, call.arguments);
        let gap = if results.is_empty() { "" } else { "\n\n" };
        let _ = write!(
            results,
            "{gap}[result of {}]\n{}",
            call.name,
            found.take(&call.id).0
        );
    }
    if !text.is_empty() {
        entries.push(Entry::Assistant {
            reasoning,
            text,
            calls: Vec::new(),
        });
    }
    entries.extend(user(Cow::Owned(results), Vec::new()));
}

/// The results between one reply and the next, by the id they answer.
struct Answers<'a> {
    by_id: HashMap<&'a str, VecDeque<(&'a str, Outcome)>>,
}

impl<'a> Answers<'a> {
    fn after(messages: &'a [Arc<Message>]) -> Self {
        let mut by_id: HashMap<_, VecDeque<_>> = HashMap::new();
        for message in messages {
            match &**message {
                Message::Tool {
                    call_id,
                    content,
                    outcome,
                    ..
                } => {
                    by_id
                        .entry(call_id.as_str())
                        .or_default()
                        .push_back((content.as_str(), *outcome));
                }
                Message::Assistant { .. } => break,
                Message::User { .. } | Message::Reasoning { .. } | Message::System { .. } => {}
            }
        }
        Self { by_id }
    }

    /// The next answer to this id, and whether it counts as a failure.
    fn take(&mut self, id: &str) -> (Cow<'a, str>, bool) {
        match self.by_id.get_mut(id).and_then(VecDeque::pop_front) {
            Some((content, outcome)) => {
                let content = if is_blank(content) {
                    "(no output)"
                } else {
                    content
                };
                (Cow::Borrowed(content), outcome != Outcome::Completed)
            }
            None => (Cow::Borrowed(UNANSWERED), true),
        }
    }
}

/// Hands out ids: the given one when it will do, else one derived from it, so that the same
/// history always looks the same to a server that caches by prefix.
struct IdMaker {
    rules: Ids,
    used: HashSet<String>,
}

impl IdMaker {
    fn make<'a>(&mut self, given: &'a str) -> Cow<'a, str> {
        if self.allows(given) && self.used.insert(given.to_owned()) {
            return Cow::Borrowed(given);
        }
        let mut round = 0_u64;
        loop {
            let digest = Sha256::new()
                .chain_update(given)
                .chain_update(round.to_le_bytes())
                .finalize();
            let mut id = match self.rules {
                Ids::UpTo(_) => "call_".to_owned(),
                Ids::Nine => String::new(),
            };
            let length = id.len() + 9;
            for byte in digest {
                let _ = write!(id, "{byte:02x}");
            }
            id.truncate(length);
            if self.used.insert(id.clone()) {
                return Cow::Owned(id);
            }
            round += 1;
        }
    }

    fn allows(&self, id: &str) -> bool {
        match self.rules {
            Ids::UpTo(most) => !id.is_empty() && id.len() <= most && id.bytes().all(is_name_byte),
            Ids::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// A tool's name as every server takes it; a model may have made up any other.
fn tool_name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    if !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_name_byte) {
        return Cow::Borrowed(name);
    }
    let clean = |c: char| {
        if c.is_ascii() && is_name_byte(c as u8) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().take(LONGEST).map(clean).collect();
    Cow::Owned(if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    })
}

/// The arguments when they are a JSON object of reasonable depth, else an empty one. Servers
/// parse them even where the wire has text, and refuse the whole conversation if they cannot.
fn object_text(arguments: &str) -> &str {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments) {
        Ok(_) => arguments.trim(),
        Err(_) => "{}",
    }
}

/// The same as JSON to embed.
pub(super) fn object(arguments: &str) -> Option<&RawValue> {
    serde_json::from_str(arguments).ok()
}

/// Decides which images go along.
struct Images {
    rules: Rules,
    /// How many of the oldest must stay behind.
    surplus: usize,
}

impl Images {
    fn new(messages: &[Arc<Message>], rules: Rules) -> Self {
        let mut count = 0;
        for message in messages {
            if let Message::User { images, .. } = &**message {
                count += images.iter().filter(|image| fits(image, rules)).count();
            }
        }
        Self {
            rules,
            surplus: count.saturating_sub(rules.image_count),
        }
    }

    fn choose<'a>(&mut self, images: &'a [Image]) -> (Vec<&'a Image>, Option<String>) {
        let mut kept = Vec::new();
        for image in images {
            if !fits(image, self.rules) {
                continue;
            }
            if self.surplus > 0 {
                self.surplus -= 1;
                continue;
            }
            kept.push(image);
        }
        let note = match (images.len() - kept.len(), self.rules.images) {
            (0, _) => None,
            (count, false) => Some(format!(
                "[{count} image(s) left out: this model takes no images]"
            )),
            (count, true) => Some(format!(
                "[{count} image(s) left out: too large, too many or of no known type]"
            )),
        };
        (kept, note)
    }
}

fn fits(image: &Image, rules: Rules) -> bool {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    rules.images
        && !image.data.is_empty()
        && image.data.len() <= rules.image_size
        && known.contains(&image.media_type.as_str())
}

#[cfg(test)]
mod tests;
