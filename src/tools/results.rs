//! Results that are too long for the model: cut to the cap, the whole kept for `read_result`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::RESULT_CAP;
use super::args::{Args, Parameter};
use super::{Call, Runtime};
use crate::chat::{Keep, ToolResult};
use crate::sys::lock;
use crate::text::{clip_bytes, clip_start, floor_char};

/// What a call of `read_result` may say.
pub const PARAMETERS: &[Parameter] = &[
    Parameter::required("id", "integer", "The id from the notice of a cut result."),
    Parameter::optional("offset", "integer", "First byte to show, from 0."),
    Parameter::optional("limit", "integer", "Most bytes to show."),
    Parameter::optional(
        "query",
        "string",
        "Show only lines that contain this text, with their line numbers.",
    ),
];

/// Most results that are kept.
const MAX_RESULTS: usize = 32;

/// Most bytes that are kept over all results.
const MAX_BYTES: usize = 16 << 20;

/// Room for a notice that names no id, in bytes.
const NOTICE: usize = 128;

/// Longest line that a query shows, in bytes.
const MAX_HIT: usize = 4096;

/// The long results of a session, oldest dropped first.
#[derive(Debug, Default)]
pub struct KeptResults(Mutex<Store>);

#[derive(Debug, Default)]
struct Store {
    results: VecDeque<(u64, Arc<str>)>,
    bytes: usize,
    last_id: u64,
}

impl KeptResults {
    /// Cuts `content` to [`RESULT_CAP`] bytes, the notice of what was cut included, and keeps the
    /// whole. `lost` bytes were produced before `content` and are kept nowhere. Without
    /// `may_read_more` nothing is kept and the notice does not speak of `read_result`.
    pub fn fit(&self, content: String, keep: Keep, lost: u64, may_read_more: bool) -> String {
        if content.len() <= RESULT_CAP && lost == 0 {
            return content;
        }
        let content: Arc<str> = content.into();
        let whole = content.len() + NOTICE <= RESULT_CAP;
        let id = match may_read_more && !whole {
            true => self.keep(content.clone()),
            false => None,
        };
        let total = content.len() as u64 + lost;
        let notice = |shown: usize| {
            let end = if keep == Keep::Head { "first" } else { "last" };
            let mut notice = format!("[cut: {total} bytes in all, the {end} {shown} shown");
            if let Some(id) = id {
                notice += &format!("; `read_result` with id {id} reads the rest");
            }
            if lost > 0 {
                notice += &format!("; the first {lost} bytes were not kept");
            }
            notice + "]"
        };
        // The number shown has at most as many digits as the cap.
        let room = RESULT_CAP - notice(RESULT_CAP).len() - 1;
        match keep {
            Keep::Head => {
                let head = clip_bytes(&content, room);
                format!("{head}\n{}", notice(head.len()))
            }
            Keep::Tail => {
                let tail = clip_start(&content, room);
                format!("{}\n{tail}", notice(tail.len()))
            }
        }
    }

    /// The id under which a text is kept, or `None` when it is too large for that.
    fn keep(&self, content: Arc<str>) -> Option<u64> {
        if content.len() > MAX_BYTES {
            return None;
        }
        let mut store = lock(&self.0);
        store.last_id += 1;
        store.bytes += content.len();
        let id = store.last_id;
        store.results.push_back((id, content));
        while store.results.len() > MAX_RESULTS || store.bytes > MAX_BYTES {
            match store.results.pop_front() {
                Some((_, oldest)) => store.bytes -= oldest.len(),
                None => break,
            }
        }
        Some(id)
    }

    fn get(&self, id: u64) -> Option<Arc<str>> {
        let store = lock(&self.0);
        store
            .results
            .iter()
            .find(|(kept, _)| *kept == id)
            .map(|(_, content)| content.clone())
    }
}

/// Runs a call of `read_result`.
pub fn run(runtime: &Runtime, call: &Call<'_>) -> Result<ToolResult, ToolResult> {
    Ok(read(&runtime.results, call.arguments)?)
}

fn read(results: &KeptResults, arguments: &str) -> Result<ToolResult, String> {
    let args = Args::parse(arguments, PARAMETERS)?;
    let id = args.integer("id")?.ok_or("`id` is missing")?;
    let offset = args.integer("offset")?.unwrap_or(0);
    let largest = RESULT_CAP - NOTICE;
    let limit = match args.integer("limit")? {
        None | Some(0) => largest,
        Some(limit) => usize::try_from(limit).map_or(largest, |limit| limit.min(largest)),
    };
    let content = results.get(id).ok_or_else(|| {
        format!("no result with id {id} is kept (only the newest are); run the call again")
    })?;
    let start = usize::try_from(offset)
        .ok()
        .filter(|start| *start <= content.len());
    let start = start.ok_or_else(|| {
        format!(
            "offset {offset} is past the end; the result has {} bytes",
            content.len()
        )
    })?;
    let start = floor_char(&content, start);
    Ok(
        match args.string("query")?.filter(|query| !query.is_empty()) {
            None => window(&content, start, limit),
            Some(query) => search(&content, start, limit, query),
        },
    )
}

fn window(content: &str, start: usize, limit: usize) -> ToolResult {
    let rest = &content[start..];
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let shown = match clip_bytes(rest, limit) {
        "" => &rest[..first],
        shown => shown,
    };
    let (end, total) = (start + shown.len(), content.len());
    let next = match end == total {
        true => "the end".to_owned(),
        false => format!("go on with offset {end}"),
    };
    ToolResult::completed(
        format!("{shown}\n[bytes {start}-{end} of {total}; {next}]"),
        format!("{} bytes", shown.len()),
    )
}

/// The lines from `start` on that contain `query`.
fn search(content: &str, start: usize, limit: usize, query: &str) -> ToolResult {
    let (mut text, mut count, mut at) = (String::new(), 0, 0);
    for (index, line) in content.split_inclusive('\n').enumerate() {
        let line_start = at;
        at += line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        if at <= start || !line.contains(query) {
            continue;
        }
        let hit = format!("{}\t{}\n", index + 1, clip_bytes(line, MAX_HIT));
        if count > 0 && text.len() + hit.len() > limit {
            text += &format!("[there are more; go on with offset {line_start}]");
            return ToolResult::completed(text, format!("{count}+ lines"));
        }
        text += &hit;
        count += 1;
    }
    match count {
        0 => ToolResult::completed("[no line contains the query]", "0 lines"),
        _ => ToolResult::completed(text.trim_end_matches('\n'), format!("{count} lines")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use unicode_segmentation::UnicodeSegmentation;

    fn query(results: &KeptResults, arguments: serde_json::Value) -> Result<String, String> {
        read(results, &arguments.to_string()).map(|result| result.content)
    }

    #[test]
    fn what_fits_is_left_alone() {
        let results = KeptResults::default();
        let text = "x".repeat(RESULT_CAP);
        assert_eq!(results.fit(text.clone(), Keep::Tail, 0, true), text);
        assert!(results.get(1).is_none());
    }

    #[test]
    fn a_cut_result_has_its_notice_and_can_be_read_whole() {
        let results = KeptResults::default();
        let text: String = (0..9000).map(|n| format!("{n} 日本\n")).collect();
        let head = results.fit(text.clone(), Keep::Head, 0, true);
        let tail = results.fit(text.clone(), Keep::Tail, 77, true);
        let (shown, notice) = head.rsplit_once('\n').unwrap();
        let (total, len) = (text.len(), shown.len());
        assert!(text.starts_with(shown) && len > RESULT_CAP - 200);
        assert_eq!(
            notice,
            format!(
                "[cut: {total} bytes in all, the first {len} shown; `read_result` with id 1 reads the rest]"
            )
        );
        let (notice, shown) = tail.split_once('\n').unwrap();
        assert!(text.ends_with(shown));
        assert!(notice.contains(&format!(
            "{} bytes in all, the last {} shown",
            total + 77,
            shown.len()
        )));
        assert!(
            notice.ends_with("id 2 reads the rest; the first 77 bytes were not kept]"),
            "{notice}"
        );

        let (mut whole, mut offset) = (String::new(), 0);
        while offset < total {
            let part = query(&results, json!({"id": 1, "offset": offset, "limit": 9999})).unwrap();
            let (part, _) = part.rsplit_once("\n[bytes ").unwrap();
            whole += part;
            offset += part.len();
        }
        assert_eq!(whole, text);
    }

    #[test]
    fn without_read_result_the_notice_does_not_name_it() {
        let results = KeptResults::default();
        let cut = results.fit("x".repeat(RESULT_CAP + 1), Keep::Tail, 0, false);
        assert!(cut.starts_with("[cut: ") && !cut.contains("read_result"));
        assert!(cut.len() <= RESULT_CAP);
        let short = results.fit("x".to_owned(), Keep::Tail, 5, true);
        assert_eq!(
            short,
            "[cut: 6 bytes in all, the last 1 shown; the first 5 bytes were not kept]\nx"
        );
    }

    #[test]
    fn every_length_is_cut_between_graphemes() {
        let unit = "e\u{301}日👨\u{200d}👩\u{200d}👧🇩🇪a";
        let text = unit.repeat(RESULT_CAP / unit.len() + 9);
        let graphemes: Vec<&str> = unit.graphemes(true).collect();
        for pad in 0..unit.len() * 2 {
            for keep in [Keep::Head, Keep::Tail] {
                let content = match keep {
                    Keep::Head => format!("{}{text}", "p".repeat(pad)),
                    Keep::Tail => format!("{text}{}", "p".repeat(pad)),
                };
                let cut = KeptResults::default().fit(content, keep, 0, true);
                assert!(cut.len() <= RESULT_CAP && cut.len() > RESULT_CAP - 64);
                let edge = match keep {
                    Keep::Head => cut.rsplit_once('\n').unwrap().0.graphemes(true).next_back(),
                    Keep::Tail => cut.split_once('\n').unwrap().1.graphemes(true).next(),
                };
                assert!(graphemes.contains(&edge.unwrap()), "{pad} {edge:?}");
            }
        }
    }

    #[test]
    fn the_store_is_bounded() {
        let results = KeptResults::default();
        for _ in 0..40 {
            results.keep("x".into());
        }
        assert!(results.get(8).is_none() && results.get(9).is_some());
        results.keep("x".repeat(MAX_BYTES).into());
        assert_eq!(lock(&results.0).results.len(), 1);
        assert_eq!(results.keep("x".repeat(MAX_BYTES + 1).into()), None);
    }

    #[test]
    fn windows_and_queries() {
        let results = KeptResults::default();
        results.keep("日本\none\ntwo one\r\n".into());
        let cases = [
            (
                json!({"id": 1, "limit": 1}),
                "日\n[bytes 0-3 of 20; go on with offset 3]",
            ),
            (
                json!({"id": 1, "offset": 4, "limit": 3}),
                "本\n[bytes 3-6 of 20; go on with offset 6]",
            ),
            (
                json!({"id": 1, "offset": 18, "limit": 0}),
                "\r\n\n[bytes 18-20 of 20; the end]",
            ),
            (
                json!({"id": 1, "offset": 20}),
                "\n[bytes 20-20 of 20; the end]",
            ),
            (json!({"id": 1, "query": "one"}), "2\tone\n3\ttwo one"),
            (
                json!({"id": 1, "query": "one", "limit": 1}),
                "2\tone\n[there are more; go on with offset 11]",
            ),
            (json!({"id": 1, "query": "one", "offset": 11}), "3\ttwo one"),
            (
                json!({"id": 1, "query": "none"}),
                "[no line contains the query]",
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(
                query(&results, arguments.clone()).as_deref(),
                Ok(expected),
                "{arguments}"
            );
        }
        for arguments in [json!({"id": 2}), json!({"id": 1, "offset": 21}), json!({})] {
            assert!(query(&results, arguments).is_err());
        }
    }
}
