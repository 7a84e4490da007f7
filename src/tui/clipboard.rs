//! Reading the clipboard, by the helpers that desktops have for it.

use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crossbeam_channel::bounded;

use crate::chat::Image;
use crate::error::{Error, Result};
use crate::sys::Env;
use crate::sys::process::{Owner, Spawn, Stdin, spawn};

/// How long all helpers together may take.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, PartialEq)]
pub enum Clip {
    Images(Vec<Image>),
    Text(String),
    /// Paths of images that cannot be attached, and why.
    Paths(String, Option<String>),
}

/// Programs with their arguments: for an image, and for text.
const HELPERS: &[[&[&str]; 2]] = &[
    [
        &["wl-paste", "--no-newline", "--type", "image/png"],
        &["wl-paste", "--no-newline"],
    ],
    [
        &["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
        &["xclip", "-selection", "clipboard", "-o"],
    ],
    [&["pngpaste", "-"], &["pbpaste"]],
];

/// Reads an image, else text. Takes up to three seconds; what hangs is ended.
pub fn read(env: &Env, cwd: &Path) -> Result<Clip> {
    let deadline = Instant::now() + PATIENCE;
    for [image, text] in HELPERS {
        let bytes = run(image, env, cwd, deadline).unwrap_or_default();
        if let Some(media_type) = Image::media_type_of(&bytes) {
            if bytes.len() as u64 > Image::MAX_FILE {
                let limit = Image::MAX_FILE >> 20;
                return Err(Error::failed(format!("the image is over {limit} MiB")));
            }
            return Ok(Clip::Images(vec![Image {
                media_type: media_type.into(),
                data: BASE64.encode(&bytes),
            }]));
        }
        let bytes = run(text, env, cwd, deadline).unwrap_or_default();
        if !bytes.is_empty() {
            return Ok(Clip::Text(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    match Instant::now() < deadline {
        true => Err(Error::failed("the clipboard is empty or cannot be read")
            .remedy("install wl-clipboard, xclip or pngpaste, or paste with your terminal's key")),
        false => Err(Error::failed("the clipboard did not answer within 3 s")),
    }
}

/// What a helper wrote, when it ended well.
fn run(words: &[&str], env: &Env, cwd: &Path, deadline: Instant) -> Option<Vec<u8>> {
    let (program, args) = words.split_first()?;
    let child = spawn(Spawn {
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        cwd: cwd.to_owned(),
        env: env.clone(),
        stdin: Stdin::Null,
        owner: Owner::new(),
    })
    .ok()?;
    let (sender, read) = bounded(1);
    let stdout = child.stdout;
    thread::Builder::new()
        .name("clipboard".into())
        .spawn(move || {
            let mut bytes = Vec::new();
            let result = stdout.take(Image::MAX_FILE + 1).read_to_end(&mut bytes);
            let _ = sender.send(result.map(|_| bytes));
        })
        .ok()?;
    // Dropping the handle of a helper that is late ends its group, and the reader with it.
    let bytes = read.recv_deadline(deadline).ok()?.ok()?;
    let exit = child.process.exit().recv_deadline(deadline).ok()?;
    exit.status?.success().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// What is read when these are the helpers: names and shell scripts.
    fn with(helpers: &[(&str, &str)]) -> std::result::Result<Clip, String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, script) in helpers {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut env = Env::default();
        env.set("PATH", format!("{}:/usr/bin:/bin", dir.path().display()));
        read(&env, dir.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn images_come_before_text_and_the_first_helper_that_knows_wins() {
        let png = r"case $* in *image*) printf '\211PNG\r\n\032\n1234';; *) printf text;; esac";
        let Ok(Clip::Images(images)) = with(&[("wl-paste", png)]) else {
            panic!("an image");
        };
        assert_eq!(images[0].media_type, "image/png");
        let text = "case $* in *image*) exit 1;; *) printf 'a\\nb';; esac";
        let expected = Ok(Clip::Text("a\nb".into()));
        assert_eq!(with(&[("wl-paste", "exit 1"), ("xclip", text)]), expected);
        let nothing = with(&[("wl-paste", "exit 1")]).unwrap_err();
        assert!(nothing.starts_with("the clipboard is empty"), "{nothing}");
    }

    #[test]
    fn a_helper_that_hangs_is_given_up() {
        let before = Instant::now();
        let late = with(&[("wl-paste", "exec sleep 60")]).unwrap_err();
        assert_eq!(late, "the clipboard did not answer within 3 s");
        assert!(before.elapsed() < PATIENCE * 2);
    }
}
