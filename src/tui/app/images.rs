//! Images that go with a draft: from the clipboard, from pasted paths, from a path that begins a
//! prompt.
//!
//! Files and helpers are read by tasks. What comes for a draft that is gone by then is dropped.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::surface::Kind;
use super::{App, Done};
use crate::agent::read_images;
use crate::chat::Image;
use crate::error::Error;
use crate::extension::AskId;
use crate::provider::Model;
use crate::tui::clipboard::{self, Clip};

/// What is asked about an image that comes without a word.
pub(super) const QUESTION: &str = "What does this image show?";

/// Why images stay out.
pub(super) const NO_INPUT: &str = "this model takes no images; choose another one with /models";

/// Longest paste that may be a list of paths, in bytes.
const MAX_PATHS: usize = 16 * 1024;

/// Who takes what is pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The draft, also one that cannot be seen.
    Draft,
    /// This question.
    Question(AskId),
    /// The filter of this kind of list, or a key that is being entered.
    Surface(Kind),
    /// Nobody.
    Nowhere,
}

/// A read that is on its way.
#[derive(Debug)]
pub(super) struct Reading {
    number: u64,
    place: Place,
    /// Enter was pressed meanwhile.
    submits: bool,
}

impl App {
    /// ctrl+v: an image of the clipboard, else its text.
    pub(super) fn read_clipboard(&mut self, now: Instant) {
        let place = self.paste_place(now);
        if place == Place::Nowhere {
            return;
        }
        let (process, cwd) = (self.process.clone(), self.cwd.clone());
        self.read_for(place, move || {
            clipboard::read(&process.env, &cwd).map_err(|error| error.to_string())
        })
    }

    /// Whether pasted text is a list of image files that can be attached; then they are read.
    pub(super) fn paste_paths(&mut self, text: &str) -> bool {
        let is_free = !self.composer.is_field() && self.reading.is_none();
        let (Some(session), true) = (&self.session, is_free) else {
            return false;
        };
        let Some(paths) = paths(text) else {
            return false;
        };
        let model = session.selection.model.clone();
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.resolve(path)).collect();
        let text = text.to_owned();
        self.read_for(Place::Draft, move || {
            let images = named_images(&paths, &model).map(Clip::Images);
            Ok(images.unwrap_or_else(|why| Clip::Paths(text, why)))
        });
        true
    }

    fn read_for(
        &mut self,
        place: Place,
        work: impl FnOnce() -> Result<Clip, String> + Send + 'static,
    ) {
        if self.reading.is_some() || place == Place::Nowhere {
            return;
        }
        let number = self.next_request().0;
        self.reading = Some(Reading {
            number,
            place,
            submits: false,
        });
        self.task(move || Done::Clip(number, work()));
    }

    /// Whether Enter has to wait for a read; it acts when that ends.
    pub(super) fn enter_waits(&mut self, place: Place) -> bool {
        let reading = self.reading.as_mut();
        let reading = reading.filter(|reading| reading.place == place);
        reading.map(|reading| reading.submits = true).is_some()
    }

    /// A read has ended.
    pub(super) fn clip_read(&mut self, number: u64, clip: Result<Clip, String>, now: Instant) {
        let Some(reading) = self.reading.take_if(|reading| reading.number == number) else {
            return;
        };
        let place = reading.place;
        match clip {
            Ok(Clip::Images(images)) if place == Place::Draft => self.attach(images),
            Ok(Clip::Images(_)) => self.tell("an image cannot go here"),
            Ok(Clip::Text(text)) => self.paste_into(place, &text),
            Ok(Clip::Paths(text, why)) => {
                self.paste_into(place, &text);
                self.tell_why_no_image(why.clone());
                self.told_of_image = why;
            }
            Err(why) => self.tell(&why),
        }
        match place {
            Place::Draft if !reading.submits => self.draft_was_pasted_into(),
            // A field that has come into its place is not what was to be sent.
            Place::Draft if !self.composer.is_field() => self.submit(now),
            Place::Question(ask) if reading.submits && self.open_question() == Some(ask) => {
                self.answer_field()
            }
            Place::Draft | Place::Question(_) | Place::Surface(_) | Place::Nowhere => {}
        }
    }

    fn attach(&mut self, images: Vec<Image>) {
        let takes_images = self.takes_images();
        let held = &self.composer.own_draft().images;
        let size = |images: &[Image]| {
            images
                .iter()
                .map(|image| image.data.len() as u64)
                .sum::<u64>()
        };
        let refusal = if !takes_images {
            NO_INPUT.to_owned()
        } else if held.len() + images.len() > Image::MAX_FILES {
            format!("a prompt carries up to {} images", Image::MAX_FILES)
        } else if (size(held) + size(&images)) / 4 * 3 > Image::MAX_TOTAL {
            let limit = Image::MAX_TOTAL >> 20;
            format!("the images of a prompt may have {limit} MiB together")
        } else {
            for image in images {
                self.composer.attach_image(image);
            }
            return;
        };
        self.tell(&refusal);
    }

    pub(super) fn takes_images(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.selection.model.image_input)
    }

    /// Says why a path stays text, once for what is pasted and then sent.
    pub(super) fn tell_why_no_image(&mut self, why: Option<String>) {
        let told = self.told_of_image.take();
        if let Some(why) = why.filter(|why| told.as_ref() != Some(why)) {
            self.tell(&format!("the path stays text: {why}"));
        }
    }

    /// Reads the image which a prompt begins with, when it seems to; the number of the read.
    pub(super) fn look_for_image(&mut self, text: &str) -> Option<u64> {
        let model = self.session.as_ref()?.selection.model.clone();
        let (path, _) = first_path(text)?;
        let path = self.resolve(&path);
        let number = self.next_request().0;
        self.task(move || Done::Looked(number, named_images(&[path], &model)));
        Some(number)
    }

    fn resolve(&self, path: &str) -> PathBuf {
        let home = self.process.env.path("HOME");
        match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.cwd.join(path),
        }
    }
}

/// Reads the images that a text names, or says why not. Of files that are not there nothing is
/// said.
fn named_images(paths: &[PathBuf], model: &Model) -> Result<Vec<Image>, Option<String>> {
    let there = |error: Error| {
        let is_there = paths.iter().any(|path| path.exists());
        is_there.then(|| error.to_string())
    };
    read_images(paths, model).map_err(there)
}

/// The text behind the image path that it begins with.
pub(super) fn without_path(text: &str) -> &str {
    first_path(text).map_or(text, |(_, rest)| rest)
}

/// The paths of a text that consists of image paths and nothing else.
fn paths(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim();
    if rest.is_empty() || rest.len() > MAX_PATHS {
        return None;
    }
    if !rest.contains(['\n', '\'', '"', '\\']) && is_absolute(rest) && is_image_path(rest) {
        // One path with blanks in it, as some terminals paste it.
        let words = rest.split_whitespace();
        if words.filter(|word| is_image_path(word)).count() == 1 {
            return Some(vec![decoded(rest)]);
        }
    }
    let mut paths = Vec::new();
    while !rest.is_empty() {
        let (path, behind) = first_path(rest)?;
        paths.push(path);
        rest = behind;
    }
    Some(paths)
}

/// The image path that a text begins with, and what follows it.
fn first_path(text: &str) -> Option<(String, &str)> {
    let (word, rest) = first_word(text.trim_start())?;
    is_image_path(&word).then(|| (decoded(&word), rest.trim_start()))
}

/// The first word as a shell reads it: quotes and backslashes keep blanks.
fn first_word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => word.extend(chars.next().map(|(_, c)| c)),
            (None, c) if c.is_whitespace() => return Some((word, &text[at..])),
            (_, c) => word.push(c),
        }
    }
    (quote.is_none() && !word.is_empty()).then_some((word, ""))
}

fn is_absolute(path: &str) -> bool {
    ["/", "~/", "file://"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// Whether a path has the name of an image. What it is, its bytes tell.
fn is_image_path(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|name| name.to_str());
    let known = ["png", "jpg", "jpeg", "gif", "webp"];
    extension.is_some_and(|name| known.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// The path that a `file:` URL names; other texts are paths.
fn decoded(path: &str) -> String {
    let Some(url) = path.strip_prefix("file://") else {
        return path.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = url.strip_prefix("localhost").unwrap_or(url).as_bytes();
    while let [first, behind @ ..] = rest {
        let hex = behind
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            (first, _) => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_image_paths_are_told_from_text() {
        for (text, expected) in [
            ("/a/b.png", &["/a/b.png"][..]),
            (" '/a/b c.PNG' \"x y.gif\"\n", &["/a/b c.PNG", "x y.gif"]),
            ("/a/b\\ c.jpeg ~/d.webp", &["/a/b c.jpeg", "~/d.webp"]),
            ("/a/My Shot.png", &["/a/My Shot.png"]),
            ("file:///a/b%20c.png", &["/a/b c.png"]),
            ("file://localhost/a/%zz.png", &["/a/%zz.png"]),
            ("look at /a/b.png", &[]),
            ("/a/b.png please", &[]),
            ("/a/b.txt", &[]),
            ("'/a/b.png", &[]),
            ("", &[]),
            ("\\", &[]),
        ] {
            let found = paths(text).unwrap_or_default();
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(without_path("/a/b.png  what is it?"), "what is it?");
        assert_eq!(without_path("what is /a/b.png"), "what is /a/b.png");
    }
}
