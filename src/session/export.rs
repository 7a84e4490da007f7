//! A conversation as one HTML page: no script, nothing loaded from anywhere.
//!
//! All of it is foreign text. Text is escaped; markdown goes through a parser whose raw HTML is
//! shown as text; a link keeps its target only where the scheme is harmless. Images become links,
//! so that looking at a page tells nobody.

use std::fmt::Write;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use serde_json::Value;

use super::failures::{PastFailure, failures};
use super::load::Entry;
use super::title::title;
use crate::chat::{Message, Outcome, ToolCall, Voice};
use crate::error::{Error, Result};
use crate::sys::Stage;
use crate::text::one_line;

/// Columns of what is said of a folded call.
const TARGET: usize = 60;

/// The page of a conversation, and its title, which is the name if there is one: what people and the
/// model said, and each call with its result, folded. What failed or was stopped is told where there is
/// a log. Internal messages, reasoning and system texts are left out.
pub fn export_html(
    name: Option<String>,
    entries: &[Entry],
    log: Option<&Path>,
) -> (String, String) {
    let messages: Vec<_> = entries.iter().map(|entry| entry.message.clone()).collect();
    let failures = log.map(|log| failures(log, entries)).unwrap_or_default();
    let title = name.unwrap_or_else(|| title(&messages));
    let page = page(&title, &messages, &failures);
    (title, page)
}

fn page(title: &str, messages: &[Arc<Message>], failures: &[(usize, PastFailure)]) -> String {
    let mut page = String::from(HEAD);
    let title = Escaped(title);
    // Writing to a string does not fail; so everywhere below.
    let _ = write!(
        page,
        "<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let mut failures = failures.iter().peekable();
    let mut rest = messages;
    loop {
        let before = messages.len() - rest.len();
        while let Some((_, failure)) = failures.next_if(|(at, _)| *at <= before) {
            let kind = if failure.is_stop { "" } else { "error: " };
            let message = Escaped(&failure.message);
            let _ = writeln!(page, "<p class=\"note\">{kind}{message}</p>");
        }
        let [message, after @ ..] = rest else {
            break;
        };
        rest = after;
        match &**message {
            Message::User {
                content,
                images,
                voice: Voice::Prompt | Voice::Steered,
            } => person(&mut page, content, images.len()),
            Message::Assistant {
                content,
                tool_calls,
            } => {
                if !content.trim().is_empty() {
                    page.push_str("<section class=\"reply\">\n");
                    markdown(&mut page, content);
                    page.push_str("</section>\n");
                }
                let batch = after.iter().take_while(|message| is_result(message));
                let mut results: Vec<_> = batch.map(|message| &**message).collect();
                rest = &after[results.len()..];
                for made in tool_calls {
                    let result = results.iter().position(|result| answers(result, made));
                    let result = result.map(|n| results.remove(n));
                    call(&mut page, Some(made), result);
                }
                for result in results {
                    call(&mut page, None, Some(result));
                }
            }
            Message::Tool { .. } => call(&mut page, None, Some(message)),
            Message::User { .. } | Message::Reasoning { .. } | Message::System { .. } => {}
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// Writes a page so that a reader sees the old one or the new one. What is there and is no such page is
/// left alone.
pub fn write_page(path: &Path, page: &[u8]) -> Result<()> {
    let context = |error: std::io::Error| {
        Error::from(error).context(format!("cannot write `{}`", path.display()))
    };
    // A link stays; what it names is written.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if let Some(why) = occupied(&target) {
        let message = format!("cannot write `{}`: {why}", path.display());
        return Err(Error::failed(message).remedy("choose another path, or move what is there"));
    }
    let directory = target.parent().unwrap_or(Path::new("/"));
    let stage = Stage::create(directory, 0o644).map_err(context)?;
    stage.file().write_all(page).map_err(context)?;
    stage.replace(&target).map_err(context)
}

/// Why a page must not take the place of what is at `path`.
fn occupied(path: &Path) -> Option<&'static str> {
    let Ok(found) = path.metadata() else {
        return path
            .is_symlink()
            .then_some("it is a link that leads nowhere");
    };
    if !found.is_file() {
        return Some("it is not a regular file");
    }
    let mut start = vec![0; HEAD.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    let is_page = found.len() == 0 || read.is_ok() && start == HEAD.as_bytes();
    (!is_page).then_some("a file that is no page of e is there")
}

fn is_result(message: &Message) -> bool {
    matches!(message, Message::Tool { .. })
}

fn answers(result: &Message, call: &ToolCall) -> bool {
    matches!(result, Message::Tool { call_id, .. } if *call_id == call.id)
}

fn person(page: &mut String, content: &str, images: usize) {
    page.push_str("<section class=\"person\">");
    if !content.is_empty() {
        let _ = write!(page, "<p class=\"literal\">{}</p>", Escaped(content));
    }
    if images > 0 {
        let plural = if images == 1 { "" } else { "s" };
        let _ = write!(page, "<p class=\"note\">{images} image{plural}</p>");
    }
    page.push_str("</section>\n");
}

/// A call and its result, either of which may be missing.
fn call(page: &mut String, call: Option<&ToolCall>, result: Option<&Message>) {
    let name = call.map_or("result", |call| call.name.as_str());
    let _ = write!(
        page,
        "<details><summary><code>{}</code>",
        Escaped(name.trim())
    );
    if let Some(target) = call.and_then(target) {
        let _ = write!(page, " {}", Escaped(&target));
    }
    let Some(Message::Tool {
        content,
        outcome,
        summary,
        ..
    }) = result
    else {
        page.push_str(" <span class=\"note\">not reported</span></summary>\n");
        arguments(page, call);
        page.push_str("</details>\n");
        return;
    };
    if *outcome != Outcome::Completed {
        let outcome = outcome.record_name().replace('_', " ");
        let _ = write!(page, " <span class=\"bad\">{outcome}</span>");
    }
    let summary = Escaped(summary);
    let _ = writeln!(page, " <span class=\"note\">{summary}</span></summary>");
    arguments(page, call);
    // HTML drops one line break at the beginning of a `pre`; this is the one.
    let _ = writeln!(page, "<pre>\n{}</pre>\n</details>", Escaped(content));
}

/// What a call is about, as far as its arguments tell: the first text among them.
fn target(call: &ToolCall) -> Option<String> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let mut values = arguments.as_object()?.values();
    let text = values.find_map(Value::as_str)?;
    Some(one_line(text, Some(TARGET)))
}

fn arguments(page: &mut String, call: Option<&ToolCall>) {
    if let Some(call) = call.filter(|call| !call.arguments.is_empty()) {
        let arguments = Escaped(&call.arguments);
        let _ = writeln!(page, "<pre class=\"arguments\">\n{arguments}</pre>");
    }
}

/// Appends markdown as HTML.
fn markdown(page: &mut String, text: &str) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut links = Links::default();
    let events = Parser::new_ext(text, options).filter_map(|event| links.harmless(event));
    html::push_html(page, events);
}

/// Which of the open links and images became a link of the page.
#[derive(Default)]
struct Links {
    kept: Vec<bool>,
}

impl Links {
    /// The event as the page may hold it.
    fn harmless<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        Some(match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(
                Tag::Link {
                    link_type,
                    dest_url,
                    ..
                }
                | Tag::Image {
                    link_type,
                    dest_url,
                    ..
                },
            ) => {
                // HTML has no links inside links.
                let keep = is_harmless(&dest_url) && !self.kept.contains(&true);
                self.kept.push(keep);
                return keep.then_some(Event::Start(Tag::Link {
                    link_type,
                    dest_url,
                    title: CowStr::Borrowed(""),
                    id: CowStr::Borrowed(""),
                }));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                return (self.kept.pop() == Some(true)).then_some(Event::End(TagEnd::Link));
            }
            other => other,
        })
    }
}

/// Whether a target is `http`, `https`, `mailto`, a fragment or a path relative to the page.
fn is_harmless(target: &str) -> bool {
    // Browsers drop control characters inside a scheme and read `\` as `/`.
    if target.chars().any(char::is_control) {
        return false;
    }
    let target = target.trim().replace('\\', "/");
    let end = target.find([':', '/', '?', '#']);
    match end.map(|end| target.split_at(end)) {
        Some((scheme, rest)) if rest.starts_with(':') => {
            let web = rest.starts_with("://") && !rest.starts_with(":///");
            match scheme.to_ascii_lowercase().as_str() {
                "http" | "https" => web,
                "mailto" => true,
                _ => false,
            }
        }
        // The name of another host behind the page's own scheme.
        _ => !target.starts_with("//"),
    }
}

/// Text that is no markup, wherever it is put.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\0']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                b'\'' => "&#39;",
                _ => "\u{fffd}",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

const HEAD: &str = "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"referrer\" content=\"no-referrer\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"script-src 'none'; img-src 'none'; \
    media-src 'none'; font-src 'none'; connect-src 'none'; frame-src 'none'; object-src 'none'; \
    base-uri 'none'; form-action 'none'\">\n";

const STYLE: &str = "
:root { color-scheme: light dark; --text: #1c1c1c; --dim: #666; --page: #fff; --box: #f4f4f2; --bad: #b3261e; --link: #0b57d0 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --dim: #999; --page: #161616; --box: #242424; --bad: #f2877f; --link: #8ab4f8 }
}
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); overflow-wrap: anywhere }
h1 { font-size: 1.3rem }
a { color: var(--link) }
pre, .person, details { background: var(--box); border-radius: .4rem; padding: .6rem .8rem }
pre, code { font-family: ui-monospace, monospace; font-size: .875rem }
pre { white-space: pre-wrap }
.literal { white-space: pre-wrap; margin: 0 }
.person { margin: 1.5rem 0 }
details { margin: .4rem 0; padding: .3rem .8rem }
details pre { padding: .3rem 0; max-height: 30rem; overflow: auto }
summary { cursor: pointer }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--dim) }
table { border-collapse: collapse }
th, td { border: 1px solid var(--dim); padding: .2rem .5rem }
.note, .arguments { color: var(--dim) }
.note { font-size: .875rem }
.bad { color: var(--bad) }
";

#[cfg(test)]
mod tests;
