//! Images with the prompt.

use std::fs::File;
use std::io::Write;

use serde_json::{Value, json};

use crate::support::Place;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const MIB: u64 = 1 << 20;

/// The image parts of the last user message.
fn parts(place: &Place) -> Vec<Value> {
    let request = place.provider.received().pop().expect("a request");
    let messages = request.body["messages"]
        .as_array()
        .expect("messages")
        .clone();
    let content = messages.last().expect("a message")["content"].clone();
    let parts = content.as_array().cloned().unwrap_or_default();
    parts
        .into_iter()
        .filter(|part| part["type"] != "text")
        .collect()
}

/// Asserts a usage problem that says all of `said`.
#[track_caller]
fn refuses(place: &Place, images: &[&str], said: &[&str]) {
    let images: Vec<&str> = images.iter().flat_map(|image| ["--image", image]).collect();
    let run = place.p(&["hi"]).args(images).run().ends_with(2);
    for said in said {
        assert!(run.stderr.contains(said), "{said:?} {run:?}");
    }
    assert_eq!(run.stdout, "");
    assert_eq!(place.provider.received().len(), 0);
    assert_eq!(place.logs().len(), 0);
}

/// A file that begins like a PNG and takes no room on the disk.
fn sparse(place: &Place, name: &str, size: u64) {
    let mut file = File::create(place.workspace.join(name)).expect("a file");
    file.write_all(PNG).expect("written");
    file.set_len(size).expect("a length");
}

#[test]
fn the_type_is_told_by_the_content_and_not_by_the_name() {
    for (bytes, media_type) in [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0 jpeg", "image/jpeg"),
        (b"GIF89a rest", "image/gif"),
        (b"GIF87a rest", "image/gif"),
        (b"RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"),
    ] {
        let place = Place::new();
        place.write("picture.txt", bytes);
        place
            .p(&["what is this", "--image", "picture.txt"])
            .run()
            .ends_with(0);
        let url = parts(&place)[0]["image_url"]["url"].clone();
        let url = url.as_str().expect("a URL");
        assert!(
            url.starts_with(&format!("data:{media_type};base64,")),
            "{url}"
        );
        assert_eq!(place.provider.received()[0].last_user(), "what is this");
    }
}

#[test]
fn the_other_dialect_has_its_own_form() {
    let place = Place::speaking("anthropic-messages");
    place.write("a.png", PNG);
    place.p(&["-i", "a.png", "hi"]).run().ends_with(0);
    let source = json!({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="});
    assert_eq!(parts(&place)[0]["source"], source);
}

#[test]
fn ten_are_sent_in_order_and_eleven_refused() {
    let place = Place::new();
    let names: Vec<String> = (0..11u8).map(|number| format!("{number}.png")).collect();
    for (number, name) in names.iter().enumerate() {
        place.write(name, [PNG, &[number as u8]].concat());
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    refuses(&place, &names, &["11 images", "10"]);
    let args = names[..10].iter().flat_map(|name| ["-i", name]);
    place.p(&["hi"]).args(args).run().ends_with(0);
    let ends = parts(&place).into_iter().map(|part| {
        let url = part["image_url"]["url"]
            .as_str()
            .expect("a URL")
            .to_string();
        url.rsplit(',').next().expect("data").to_string()
    });
    let ends: Vec<String> = ends.collect();
    assert_eq!(ends.len(), 10);
    assert!(ends.is_sorted(), "{ends:?}");
}

#[test]
fn sizes_are_limited_one_by_one_and_together() {
    let place = Place::new();
    sparse(&place, "over.png", 20 * MIB + 1);
    refuses(&place, &["over.png"], &["`over.png`", "20 MiB"]);
    sparse(&place, "a.png", 20 * MIB);
    sparse(&place, "b.png", 20 * MIB);
    sparse(&place, "c.png", 8);
    refuses(
        &place,
        &["a.png", "b.png", "c.png"],
        &["together", "40 MiB"],
    );
    sparse(&place, "huge.png", 1 << 40);
    refuses(&place, &["huge.png"], &["20 MiB"]);
}

#[test]
fn what_is_no_image_is_refused_by_name() {
    let place = Place::new();
    place.write("note.png", "just text");
    place.write("empty.png", "");
    place.write("dir/a", "");
    refuses(
        &place,
        &["note.png"],
        &["`note.png`", "not a PNG, JPEG, GIF or WebP"],
    );
    refuses(&place, &["empty.png"], &["`empty.png`"]);
    refuses(&place, &["none.png"], &["`none.png`", "no such file"]);
    refuses(&place, &["dir"], &["`dir`"]);
    refuses(&place, &["/dev/zero"], &["`/dev/zero`"]);
    place.sh("mkfifo fifo").run().ends_with(0);
    refuses(&place, &["fifo"], &["`fifo`"]);
}

#[test]
fn a_model_without_eyes_is_sent_none() {
    let place = Place::new();
    place.write("a.png", PNG);
    let args = ["-p", "-m", "mock/plain", "-i", "a.png", "hi"];
    let run = place.e().args(args).run().ends_with(2);
    assert!(
        run.stderr.contains("`mock/plain` takes no image input"),
        "{run:?}"
    );
}

#[test]
fn an_image_needs_a_prompt_beside_it() {
    let place = Place::new();
    place.write("a.png", PNG);
    let run = place.p(&["-i", "a.png"]).run().ends_with(2);
    assert!(run.stderr.contains("needs a prompt"), "{run:?}");
}
