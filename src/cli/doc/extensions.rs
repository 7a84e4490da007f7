//! e-extensions(7): every message between e and an extension, one row each.

use super::man::{begin, item, section};

/// What e asks: method and parameters, and what the answer does.
const ASKED: &[(&str, &str)] = &[
    (
        "initialize {protocol, capabilities, ui, e_version, cwd, extensions_config}",
        "the answer is the manifest; within 5 s",
    ),
    (
        "tool_call {name, arguments}",
        "runs a tool: content, is_error?, summary?, display?, format?, session_name?; within 300 s",
    ),
    (
        "command {name, args}",
        "runs a command: notice?, show?, prompt?, session_name?; within 60 s",
    ),
    (
        "command.complete {name, prefix}",
        "items for the picker, each with value, label?, description?; within 3 s",
    ),
    ("shortcut {key}", "as a command; within 60 s"),
    (
        "hook.startup {cwd, argv, flags}",
        "changes how e starts: argv?, env?, relaunch?; within 5 s, or e does not start",
    ),
    (
        "hook.input {text}",
        "takes or rewrites a submitted line: consume?, replace?, notice?",
    ),
    (
        "hook.before_turn {prompt}",
        "adds to a turn: system_suffix?, message?",
    ),
    (
        "hook.tool_call {name, arguments}",
        "stops a call: block, reason?",
    ),
    (
        "hook.tool_result {name, content, is_error}",
        "rewrites what the model reads: content?",
    ),
    (
        "hook.compact_summary {summary}",
        "rewrites a summary: summary?",
    ),
    (
        "hook.render {kind, name, content}",
        "supplies what is shown: body?, format?",
    ),
];

/// What e tells without wanting an answer.
const TOLD: &[(&str, &str)] = &[
    ("event {name, extra}", "an event that the manifest lists"),
    ("flags {flags}", "the declared flags that were passed"),
    ("ui.key {key}", "a key while an interactive panel is open"),
    ("ui.panel_closed", "the panel is gone"),
    (
        "pane.select {pane, section, id}",
        "the cursor is on an item",
    ),
    ("pane.activate {pane, section, id}", "Enter on an item"),
    ("pane.key {pane, key}", "a key that e did not use"),
    ("pane.closed {pane}", "the pane is gone"),
    ("shutdown", "e leaves; 500 ms later it kills"),
];

const EVENTS: &[(&str, &str)] = &[
    ("session_start {reason, path}", "a session began"),
    ("session_shutdown {reason}", "a session is left"),
    ("turn_start {prompt}", "a turn began"),
    ("turn_end {aborted}", "a turn ended"),
    ("tool_start {id, name, arguments}", "a call began"),
    ("tool_end {id, name, outcome, content}", "a call ended"),
    ("compact_start", "a compaction began"),
    ("compact_end {summary}", "a compaction ended"),
    ("model_change {model}", "another model was chosen"),
    ("effort_change {effort}", "another effort was chosen"),
];

/// What an extension may ask of e, and tell it.
const ASKS: &[(&str, &str)] = &[
    ("ui.notify {message, tone?}", "shows a line"),
    (
        "ui.show {title?, body, format}",
        "shows text, markdown or a diff",
    ),
    ("ui.select {title, options}", "asks for one of a list"),
    ("ui.confirm {title, message?}", "asks for yes or no"),
    (
        "ui.input {title, placeholder?, prefill?, secret?}",
        "asks for a line",
    ),
    (
        "ui.editor {title, text?, placeholder?}",
        "asks for several lines",
    ),
    ("ui.status {text, key?}", "sets a slot of the status row"),
    (
        "ui.activity {text, key?}",
        "sets a slot of the activity row",
    ),
    ("ui.compose {text}", "puts text into the composer"),
    (
        "ui.panel {title, lines, interactive?}",
        "opens a panel; null closes it",
    ),
    ("ui.widget {lines, key?}", "sets rows above the composer"),
    (
        "ui.pane {id?, title?, side?, hint?, sections}",
        "opens a pane; null closes it",
    ),
    (
        "session.send {content, internal?, run?, when?}",
        "says something to the model",
    ),
    ("session.info", "tells what the session is"),
    ("session.name {name}", "names the session"),
    ("session.model {model}", "chooses a model"),
    ("session.effort {effort}", "chooses an effort"),
    ("session.tools {names}", "narrows the tools; null restores"),
    ("session.interrupt", "stops the turn"),
    ("session.compact {focus?}", "summarises older messages"),
    ("notify {message}", "a notice; no id and no answer"),
    (
        "tool.update {id, stream, chunk}",
        "live output of a running call; no id and no answer",
    ),
];

/// The page.
pub fn page() -> String {
    let mut page = begin("E-EXTENSIONS", 7, "programs that extend e", "e-extensions");
    section(&mut page, "DESCRIPTION");
    page.push_str(
        "An extension is an executable in\n.I \\(ti/.e/extensions\nor in a package. e starts it and \
         exchanges one JSON object a line with it over standard input and output.\nA request has an \
         id and a method, the answer the same id and a result or an error.\nA parameter with a \
         question mark may be left out.\n",
    );
    for (title, rows) in [
        ("REQUESTS OF E", ASKED),
        ("WHAT E TELLS", TOLD),
        ("EVENTS", EVENTS),
        ("REQUESTS TO E", ASKS),
    ] {
        section(&mut page, title);
        for (term, help) in rows {
            item(&mut page, term, help);
        }
    }
    section(&mut page, "FAILURES");
    page.push_str(
        "A hook has 5 s and fails open: a late or broken one changes nothing, and e says so. The \
         startup hook alone fails closed.\nAn extension that exits is reported and not started \
         again.\n",
    );
    section(&mut page, "SEE ALSO");
    page.push_str("e(1), e\\-rpc(1). The guide:\n.B e docs extensions\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The schema is checked against what e sends, so the page must have what the schema has.
    #[test]
    fn the_page_and_the_schema_have_the_same_messages() {
        let schema = crate::cli::docs::guide("schema-extension").unwrap();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        let listed = |list: &str| -> Vec<&str> {
            let list = schema["$defs"][list]["anyOf"].as_array().unwrap();
            let names = list.iter().map(|entry| entry["$ref"].as_str().unwrap());
            let names = names.map(|name| name.trim_start_matches("#/$defs/"));
            let shapes = ["answer", "refusal", "result", "failure"];
            names.filter(|name| !shapes.contains(name)).collect()
        };
        let mut ours: Vec<_> = ASKED.iter().chain(TOLD).map(name).collect();
        let mut theirs = listed("from_e");
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs);
        let mut ours: Vec<_> = ASKS.iter().map(name).collect();
        let mut theirs = listed("from_extension");
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs);
        for event in EVENTS.iter().map(name) {
            assert!(schema["$defs"][format!("event:{event}")].is_object());
        }
    }

    fn name(row: &(&'static str, &'static str)) -> &'static str {
        row.0.split(' ').next().unwrap()
    }
}
