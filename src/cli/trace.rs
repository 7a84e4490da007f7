//! `e ext trace`: a run of e with one more extension, whose lines are written down with their time.
//!
//! It stands before everything else on the command line, and what follows is e's own: so it works
//! with every way to run e, and with whatever that extension makes of the arguments.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::flags::TO;
use super::output;
use crate::error::{Error, Result, io_text};
use crate::extension::discover::{self, Found};
use crate::extension::{Direction, ExtensionId, Tap};
use crate::sys::lock;
use crate::text::one_line;

/// The words it begins with.
const WORDS: [&str; 2] = ["ext", "trace"];

/// A traced run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The extension.
    pub found: Found,
    /// Where its lines go; none is standard error.
    to: Option<PathBuf>,
}

impl Trace {
    /// Takes it off a command line. Gives what is left for e.
    pub fn take(argv: &[OsString]) -> Result<(Option<Self>, &[OsString])> {
        if !argv.iter().take(2).eq(WORDS.iter()) {
            return Ok((None, argv));
        }
        let (mut rest, mut path, mut to) = (&argv[2..], None, None);
        while let Some((word, behind)) = rest.split_first() {
            let spelled = word.as_bytes().strip_prefix(b"--").unwrap_or_default();
            if let Some(file) = spelled.strip_prefix(format!("{TO}=").as_bytes()) {
                (to, rest) = (Some(OsString::from_vec(file.to_vec())), behind);
            } else if spelled == TO.as_bytes() {
                let value = behind.split_first();
                let (file, behind) =
                    value.ok_or_else(|| usage(format!("`--{TO}` requires a value")))?;
                (to, rest) = (Some(file.clone()), behind);
            } else if path.is_none() && !word.as_bytes().starts_with(b"-") {
                (path, rest) = (Some(word), behind);
            } else {
                break;
            }
        }
        let path = path.ok_or_else(|| usage("`e ext trace` needs the path of an extension"))?;
        let found = discover::one(path.as_ref()).map_err(Error::usage)?;
        let to = to.map(|to| std::path::absolute(to).map_err(Error::from));
        let to = to.transpose()?;
        let rest = rest.strip_prefix(&[OsString::from("--")]).unwrap_or(rest);
        Ok((Some(Self { found, to }), rest))
    }

    /// The words that start the same trace from another directory.
    pub fn argv(&self) -> impl Iterator<Item = OsString> {
        let to = self.to.iter().flat_map(|to| {
            [
                OsString::from(format!("--{TO}")),
                to.clone().into_os_string(),
            ]
        });
        let words = WORDS.iter().map(OsString::from);
        words
            .chain(to)
            .chain([self.found.path.clone().into_os_string(), "--".into()])
    }

    /// Writes down what this extension and e say to each other, behind what is there when e goes
    /// on in another process.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened.
    pub fn tap(&self, traced: ExtensionId, goes_on: bool) -> Result<Tap> {
        let file = self.to.as_ref().map(|to| {
            let mut options = OpenOptions::new();
            options
                .create(true)
                .append(goes_on)
                .write(true)
                .truncate(!goes_on);
            options.open(to).map_err(|error| {
                let to = one_line(&to.to_string_lossy(), None);
                Error::failed(format!("cannot write to `{to}`: {}", io_text(&error)))
            })
        });
        let started = Instant::now();
        let out = Mutex::new(file.transpose()?);
        Ok(Tap(Arc::new(move |extension, direction, line| {
            if extension == traced {
                write(&mut lock(&out), started, direction, line);
            }
        })))
    }
}

/// The command line cannot be understood.
pub fn usage(problem: impl Into<String>) -> Error {
    Error::usage(problem).remedy("usage: e ext trace [--to <file>] <path> [arguments of e…]")
}

/// One line: seconds since the start, the direction, what was said. As it is in a file, clean
/// where a terminal may show it.
fn write(file: &mut Option<File>, started: Instant, direction: Direction, line: &[u8]) {
    let mark = match direction {
        Direction::ToExtension => '>',
        Direction::FromExtension => '<',
        Direction::Diagnostic => '!',
    };
    let mut text = format!("{:9.3} {mark} ", started.elapsed().as_secs_f64()).into_bytes();
    match file {
        None => {
            text.extend_from_slice(one_line(&String::from_utf8_lossy(line), None).as_bytes());
            text.push(b'\n');
            // Nobody is left to tell when standard error is gone.
            let _ = io::stderr().write_all(&text);
        }
        Some(to) => {
            text.extend_from_slice(line);
            text.push(b'\n');
            if let Err(error) = to.write_all(&text) {
                let problem = format!(
                    "the trace goes on here, its file failed: {}",
                    io_text(&error)
                );
                output::warn(problem);
                *file = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn what_follows_is_for_e() {
        let to = std::path::absolute("f").unwrap();
        for (words, file, rest) in [
            (
                &["-p", "ext", "trace", "sh"][..],
                None,
                &["-p", "ext", "trace", "sh"][..],
            ),
            (&["ext", "trace", "/bin/sh"], None, &[]),
            (&["ext", "trace", "/bin/sh", "-p", "x"], None, &["-p", "x"]),
            (&["ext", "trace", "/bin/sh", "--", "rpc"], None, &["rpc"]),
            (&["ext", "trace", "/bin/sh", "rpc"], None, &["rpc"]),
            (
                &["ext", "trace", "--to", "f", "/bin/sh", "-p"],
                Some(&to),
                &["-p"],
            ),
            (
                &["ext", "trace", "/bin/sh", "--to=f", "-p", "--", "x"],
                Some(&to),
                &["-p", "--", "x"],
            ),
        ] {
            let argv = os(words);
            let (trace, left) = Trace::take(&argv).unwrap();
            assert_eq!(left, os(rest), "{words:?}");
            assert_eq!(
                trace.as_ref().and_then(|trace| trace.to.as_ref()),
                file,
                "{words:?}"
            );
            if let Some(trace) = trace {
                let again: Vec<_> = trace.argv().chain(left.iter().cloned()).collect();
                let (same, left) = Trace::take(&again).unwrap();
                assert_eq!(
                    (same.unwrap().to.as_ref(), left),
                    (file, &os(rest)[..]),
                    "{again:?}"
                );
            }
        }
        for words in [
            &["ext", "trace"][..],
            &["ext", "trace", "-p", "x"],
            &["ext", "trace", "--to"],
            &["ext", "trace", "/nowhere"],
            &["ext", "trace", "/etc/passwd"],
            &["ext", "trace", "/bin/sh", "--to"],
        ] {
            assert_eq!(
                Trace::take(&os(words)).unwrap_err().status(),
                2,
                "{words:?}"
            );
        }
    }
}
