//! Manual pages, as roff.

use std::fmt::Write;

use crate::cli::flags::{COMMANDS, CommandId, Flag, RUNS};
use crate::config::settings::{KEYS, Kind};
use crate::rpc::METHODS;

const ENVIRONMENT: &[(&str, &str)] = &[
    (
        "E_HOME",
        "the directory that holds settings, credentials and sessions; ~/.e when unset or empty",
    ),
    (
        "HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY",
        "proxies for requests to providers",
    ),
    (
        "SSL_CERT_FILE, SSL_CERT_DIR",
        "certificates to trust instead of those of the system",
    ),
    (
        "NO_COLOR",
        "when set and not empty, messages have no colour",
    ),
    (
        "E_OFFLINE_SCRIPT",
        "the file that the model offline/script plays",
    ),
    (
        "E_RECORD",
        "a file to record provider events to, for offline/script",
    ),
];

const FILES: &[(&str, &str)] = &[
    ("~/.e/settings.json", "settings, see e-settings(5)"),
    ("~/.e/auth.json", "credentials"),
    ("~/.e/trust.json", "directories that e may work in"),
    ("~/.e/models.json", "providers and models of your own"),
    ("~/.e/sessions/", "session logs, one folder per directory"),
];

const STATUS: &[(&str, &str)] = &[
    ("0", "the turn completed, the command did its work"),
    (
        "1",
        "a failure, or a turn that was interrupted or reached a limit",
    ),
    ("2", "a usage problem"),
    ("129, 143", "ended by SIGHUP, SIGTERM"),
    (
        "141",
        "the reader of standard output went away during the turn",
    ),
];

const RPC_STATUS: &[(&str, &str)] = &[
    (
        "0",
        "the client closed standard input or left, or asked for a shutdown",
    ),
    (
        "1",
        "a line over 10 MiB, SIGINT, or serving could not begin",
    ),
    ("2", "a usage problem"),
    ("129, 143", "ended by SIGHUP, SIGTERM"),
];

/// e(1).
pub fn command() -> String {
    let mut page = begin("E", 1, "a coding agent in one small binary", "e");
    page.push_str(".SH SYNOPSIS\n");
    for (form, _) in RUNS {
        let _ = writeln!(page, "{}\n.br", escape(form));
    }
    for command in COMMANDS {
        let _ = writeln!(page, "{}\n.br", escape(&command.usage()));
    }
    section(&mut page, "DESCRIPTION");
    page.push_str(
        "e lets a language model read, search, edit and run things in a directory, and prints \
         what it answers.\nIt works in no directory before you trust it with\n.BR \"e trust\" .\n",
    );
    for (form, help) in RUNS {
        item(&mut page, form, help);
    }
    section(&mut page, "COMMANDS");
    for command in COMMANDS {
        item(&mut page, &command.usage(), command.help);
    }
    section(&mut page, "OPTIONS");
    page.push_str(
        "Options may stand before and after the prompt; after\n.B \\-\\-\neverything is prompt.\n",
    );
    Flag::documented().for_each(|(flag, help)| option(&mut page, flag, help));
    for (title, rows) in [
        ("EXIT STATUS", STATUS),
        ("ENVIRONMENT", ENVIRONMENT),
        ("FILES", FILES),
    ] {
        section(&mut page, title);
        for (term, help) in rows {
            item(&mut page, term, help);
        }
    }
    section(&mut page, "SEE ALSO");
    page.push_str("e\\-rpc(1), e\\-settings(5), e\\-extensions(7). The guides:\n.B e docs\n");
    page
}

/// e-rpc(1).
pub fn rpc() -> String {
    let mut page = begin("E-RPC", 1, "sessions of e over JSON lines", "e-rpc");
    page.push_str(".SH SYNOPSIS\ne rpc [options]\n");
    section(&mut page, "DESCRIPTION");
    page.push_str(
        "Serves many sessions at once to the program that started it. Each line of standard input \
         is one request,\na JSON object with an id, a method and its params.\nEach request gets one \
         response on standard output, with its id and a result or an error.\nA line with a type is \
         an event of a turn.\nA request without a method and with a prompt runs one turn and is \
         answered with its result.\n",
    );
    section(&mut page, "METHODS");
    page.push_str("A parameter with a question mark may be left out.\n");
    for method in METHODS {
        let term = format!("{} {{{}}}", method.name, method.params);
        item(&mut page, &term, method.help);
    }
    section(&mut page, "OPTIONS");
    let applies = |flag: &Flag| flag.applies(Some(CommandId::Rpc));
    Flag::documented()
        .filter(|(flag, _)| applies(flag))
        .for_each(|(flag, help)| option(&mut page, flag, help));
    section(&mut page, "EXIT STATUS");
    for (term, help) in RPC_STATUS {
        item(&mut page, term, help);
    }
    section(&mut page, "SEE ALSO");
    page.push_str("e(1), e\\-settings(5). The guide:\n.B e docs rpc\n");
    page
}

/// e-settings(5).
pub fn settings() -> String {
    let mut page = begin("E-SETTINGS", 5, "settings of e", "e-settings");
    section(&mut page, "DESCRIPTION");
    page.push_str(
        "The file\n.I \\(ti/.e/settings.json\nholds one JSON object. A key that is missing or invalid \
         has its default;\nkeys that e does not know are kept when it writes the file.\n",
    );
    section(&mut page, "KEYS");
    for key in KEYS {
        let kind = match key.kind {
            Kind::Text(_) | Kind::Blankable(_) => "text".into(),
            Kind::Names(_) => "a list of texts".into(),
            Kind::Number {
                min, max, default, ..
            } => format!("a number from {min} to {max}, by default {default}"),
        };
        item(&mut page, key.name, &format!("{} ({kind})", key.help));
    }
    section(&mut page, "SEE ALSO");
    page.push_str("e(1)\n");
    page
}

fn option(page: &mut String, flag: &Flag, help: &str) {
    let value = flag
        .value
        .map_or(String::new(), |value| format!(" <{value}>"));
    item(page, &(flag.spellings().join(", ") + &value), help);
}

pub(super) fn begin(title: &str, section: u8, summary: &str, name: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        ".TH {} {section} \"\" \"e {version}\" \"\"\n.SH NAME\n{} \\- {summary}\n",
        escape(title),
        escape(name)
    )
}

pub(super) fn section(page: &mut String, title: &str) {
    let _ = writeln!(page, ".SH {title}");
}

pub(super) fn item(page: &mut String, term: &str, text: &str) {
    let _ = writeln!(page, ".TP\n.B {}\n{}", escape(term), escape(text));
}

/// Plain text as roff: no character of it is a request.
fn escape(text: &str) -> String {
    let text = text
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('~', "\\(ti")
        .replace('…', "...");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_a_request() {
        assert_eq!(escape(".SH x"), "\\&.SH x");
        assert_eq!(escape("a\\b-c"), "a\\eb\\-c");
        assert_eq!(escape("~/.e"), "\\(ti/.e");
    }

    #[test]
    fn pages_hold_known_requests_alone() {
        for page in [
            command(),
            rpc(),
            settings(),
            super::super::extensions::page(),
        ] {
            assert!(page.starts_with(".TH E"));
            for line in page.lines().filter(|line| line.starts_with('.')) {
                let request = line.split(' ').next().unwrap();
                assert!(
                    [".TH", ".SH", ".TP", ".B", ".BR", ".I", ".br"].contains(&request),
                    "{line}"
                );
            }
        }
    }
}
