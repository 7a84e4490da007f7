//! `edit`: one exact replacement in a file, on its bytes.
//!
//! Nothing outside the matched span changes, whatever the encoding and the line endings. The one
//! tolerance is the one that `read` makes necessary: it shows `\r\n` as a plain line break, so a
//! line break in `old_string` matches either, and what is inserted takes the ending of its
//! surroundings.

use std::io::Read;
use std::ops::Range;

use super::args::{Args, Parameter};
use super::files::{PathLock, describe};
use super::publish::Target;
use super::undo::{self, Before};
use super::write::count_lines;
use super::{Call, Runtime};
use crate::chat::{Display, Format, ToolResult};
use crate::text::diff_rows;

/// What a call may say.
pub const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "path",
        "string",
        "The file, absolute or relative to the workspace.",
    ),
    Parameter::required(
        "old_string",
        "string",
        "Text that occurs exactly once in the file, copied exactly, without line numbers.",
    ),
    Parameter::required("new_string", "string", "What takes its place."),
];

/// Largest file that is edited, in bytes: it is held in memory.
const MAX_FILE: u64 = 64 << 20;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Runs a call.
pub fn run(runtime: &Runtime, call: &Call<'_>) -> Result<ToolResult, ToolResult> {
    let args = Args::parse(call.arguments, PARAMETERS)?;
    let shown = args.required_path("path")?;
    let old = args.required_string("old_string")?;
    let new = args.required_string("new_string")?;

    let path = runtime.resolve(shown);
    let lock = PathLock::acquire(&path, shown, call.cancel)?;
    let target = Target::open(&path, shown)?;
    let Target::Existing(existing) = &target else {
        return Err(ToolResult::failed(format!(
            "`{shown}` does not exist; create it with `write`"
        )));
    };
    runtime.seen.check(lock.key(), target.stamp(), shown)?;
    let mut bytes = Vec::new();
    (&existing.file)
        .take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ToolResult::failed(describe(shown, &error)))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(ToolResult::failed(format!(
            "`{shown}` is larger than {} MiB; change it with a command in `bash`",
            MAX_FILE >> 20
        )));
    }

    let Replacement { span, with } = plan(&bytes, old, new)
        .map_err(|reason| ToolResult::failed(format!("`{shown}`: {reason}")))?;
    let edited = [&bytes[..span.start], &with, &bytes[span.end..]].concat();
    let display = diff_rows(
        shown,
        &String::from_utf8_lossy(&bytes),
        &String::from_utf8_lossy(&edited),
    );
    let before = match bytes.len() as u64 <= undo::MAX_BYTES {
        true => Before::Bytes(bytes),
        false => Before::TooLarge,
    };
    runtime.publish(&lock, &target, shown, &edited, before, "an edit")?;

    let (added, removed) = (count_lines(new.as_bytes()), count_lines(old.as_bytes()));
    Ok(ToolResult {
        display: Some(Display {
            text: display,
            format: Format::Diff,
        }),
        ..ToolResult::completed(format!("edited `{shown}`"), format!("+{added} -{removed}"))
    })
}

/// Bytes that take the place of a span of the file.
#[derive(Debug, PartialEq, Eq)]
struct Replacement {
    span: Range<usize>,
    with: Vec<u8>,
}

/// Finds what `old` means in `file` and what becomes of it, or says why not.
fn plan(file: &[u8], old: &str, new: &str) -> Result<Replacement, String> {
    if old.is_empty() {
        return Err("`old_string` is empty; quote the text to replace, or use `write`".to_owned());
    }
    if old == new {
        return Err("`old_string` and `new_string` are the same; nothing was changed".to_owned());
    }
    if let Err(error) = std::str::from_utf8(file) {
        if !(old.is_ascii() && new.is_ascii()) {
            return Err(format!(
                "the file is not UTF-8 (byte {}), so only ASCII text can be replaced by ASCII \
                 text; use `bash` for the rest",
                error.valid_up_to()
            ));
        }
    }
    // The mark at the start of a file is no text: it is neither matched nor replaced.
    let skipped = if file.starts_with(MARK) {
        MARK.len()
    } else {
        0
    };
    let body = &file[skipped..];
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let (old, new) = match old.strip_prefix(MARK) {
        Some(rest)
            if skipped > 0
                && !rest.is_empty()
                && plain_lines(body).starts_with(&plain_lines(rest)) =>
        {
            (rest, new.strip_prefix(MARK).unwrap_or(new))
        }
        _ => (old, new),
    };

    let (found, is_text) = locate(body, old)?;
    let old = plain_lines(&body[found.clone()]);
    let new = if is_text {
        new.to_vec()
    } else {
        plain_lines(new)
    };
    if old == new {
        return Err(
            "the change is one of line endings only, which `edit` keeps; convert them \
                    with a command in `bash`"
                .to_owned(),
        );
    }
    let span = narrow(body, &found, &old, &new);
    let shared = (span.prefix, new.len() - span.suffix);
    let ending = ending_near(body, &found, &span.inner);
    Ok(Replacement {
        span: span.inner.start + skipped..span.inner.end + skipped,
        with: with_ending(&new[shared.0..shared.1], ending),
    })
}

/// The one place where `old` occurs, and whether a carriage return before a line break in it is
/// text. It is when the file shows one there; else it is the model's way to end a line, and it
/// may tell apart what looks the same, so the bytes themselves are asked last. A match never
/// takes half of a line end.
fn locate(body: &[u8], old: &[u8]) -> Result<(Range<usize>, bool), String> {
    let plain = plain_lines(old);
    let foreign_ends = plain.len() < old.len();
    let mut found = occurrences(body, old, true);
    let is_text = foreign_ends && found.0 > 0;
    if found.0 == 0 && foreign_ends {
        found = occurrences(body, &plain, true);
    }
    if found.0 != 1 && old.contains(&b'\r') {
        let splits = |at: usize| body[..at].ends_with(b"\r") && body[at..].starts_with(b"\n");
        match occurrences(body, old, false) {
            (1, Some(span)) if !splits(span.start) && !splits(span.end) => {
                found = (1, Some(span));
            }
            _ => {}
        }
    }
    match found {
        (1, Some(span)) => Ok((span, is_text)),
        (0, _) | (_, None) => Err(
            "`old_string` does not occur; read the file again and copy the \
                                   text exactly, blanks included"
                .to_owned(),
        ),
        (count, _) => Err(format!(
            "`old_string` occurs {count} times; quote more of the lines around it so that it \
             occurs once"
        )),
    }
}

/// How often `needle` occurs, overlaps included, and where first. With `plain`, `\r\n` in the
/// text is read as `\n`. Linear in both lengths, whatever they contain (Knuth, Morris, Pratt).
fn occurrences(text: &[u8], needle: &[u8], plain: bool) -> (usize, Option<Range<usize>>) {
    let mut borders = vec![0];
    for at in 1..needle.len() {
        let mut length = borders[at - 1];
        while length > 0 && needle[at] != needle[length] {
            length = borders[length - 1];
        }
        borders.push(length + usize::from(needle[at] == needle[length]));
    }
    let (mut count, mut first, mut matched) = (0, None, 0);
    for (at, byte) in text.iter().enumerate() {
        if plain && *byte == b'\r' && text.get(at + 1) == Some(&b'\n') {
            continue;
        }
        while matched > 0 && *byte != needle[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(*byte == needle[matched]);
        if matched == needle.len() {
            count += 1;
            first.get_or_insert(at + 1);
            matched = borders[matched - 1];
        }
    }
    let span = first.map(|end| {
        let start = match plain {
            true => back(text, end, needle.len()),
            false => end - needle.len(),
        };
        start..end
    });
    (count, span)
}

/// The position `count` bytes before `end`, where `\r\n` is one byte.
fn back(text: &[u8], end: usize, count: usize) -> usize {
    (0..count).fold(end, |at, _| match text[..at].ends_with(b"\r\n") {
        true => at - 2,
        false => at - 1,
    })
}

/// The position `count` bytes after `start`, where `\r\n` is one byte.
fn forth(text: &[u8], start: usize, count: usize) -> usize {
    (0..count).fold(start, |at, _| match text[at..].starts_with(b"\r\n") {
        true => at + 2,
        false => at + 1,
    })
}

/// The part of a match that really changes.
struct Narrowed {
    /// Plain bytes that both texts begin with.
    prefix: usize,
    /// Plain bytes that both texts end with.
    suffix: usize,
    /// What lies between, in the file.
    inner: Range<usize>,
}

/// Sets aside what old and new text share at both ends, so that these bytes keep the line
/// endings they have.
fn narrow(body: &[u8], found: &Range<usize>, old: &[u8], new: &[u8]) -> Narrowed {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let suffix = old[prefix..]
        .iter()
        .rev()
        .zip(new[prefix..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let text = &body[found.clone()];
    let inner = found.start + forth(text, 0, prefix)..found.start + back(text, text.len(), suffix);
    Narrowed {
        prefix,
        suffix,
        inner,
    }
}

/// The line ending that belongs at `inner`: that of the text it replaces, else of the rest of
/// the match before and after it, else of the line around it.
fn ending_near(body: &[u8], found: &Range<usize>, inner: &Range<usize>) -> &'static [u8] {
    let first = |range: Range<usize>| {
        body[range.clone()]
            .iter()
            .position(|&b| b == b'\n')
            .map(|at| range.start + at)
    };
    let last = |range: Range<usize>| {
        body[range.clone()]
            .iter()
            .rposition(|&b| b == b'\n')
            .map(|at| range.start + at)
    };
    let at = first(inner.clone())
        .or_else(|| last(found.start..inner.start))
        .or_else(|| first(inner.end..found.end))
        .or_else(|| first(found.end..body.len()))
        .or_else(|| last(0..found.start));
    match at {
        Some(at) if body[..at].ends_with(b"\r") => b"\r\n",
        _ => b"\n",
    }
}

/// The text with `\r\n` as `\n`.
fn plain_lines(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if *byte != b'\r' || text.get(at + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    plain
}

fn with_ending(plain: &[u8], ending: &[u8]) -> Vec<u8> {
    plain
        .split(|&byte| byte == b'\n')
        .collect::<Vec<_>>()
        .join(ending)
}

#[cfg(test)]
mod tests;
