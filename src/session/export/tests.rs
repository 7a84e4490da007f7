//! Pages of ordinary and of hostile conversations, read back with a small tokenizer.

use super::*;

fn page_of(messages: Vec<Message>) -> String {
    let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
    let page = page("a <title> & \"more\"", &messages, &[]);
    check(&page);
    page
}

fn reply(content: &str, calls: &[(&str, &str, &str)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: id.to_string(),
        name: name.to_string(),
        arguments: arguments.to_string(),
        signature: None,
    };
    Message::Assistant {
        content: content.into(),
        tool_calls: calls.iter().map(call).collect(),
    }
}

fn result(id: &str, content: &str, outcome: Outcome) -> Message {
    Message::Tool {
        call_id: id.into(),
        content: content.into(),
        outcome,
        summary: "1 <line>".into(),
    }
}

/// Tags that may be in a page, with their attributes.
const TAGS: &[(&str, &[&str])] = &[
    ("!doctype", &["html"]),
    ("html", &[]),
    ("head", &[]),
    ("meta", &["charset", "name", "content", "http-equiv"]),
    ("title", &[]),
    ("style", &[]),
    ("body", &[]),
    ("section", &["class"]),
    ("details", &[]),
    ("summary", &[]),
    ("span", &["class"]),
    ("a", &["href"]),
    ("p", &["class"]),
    ("pre", &["class"]),
    ("code", &["class"]),
    ("ol", &["start"]),
    ("th", &["style"]),
    ("td", &["style"]),
    ("h1", &[]),
    ("h2", &[]),
    ("h3", &[]),
    ("h4", &[]),
    ("h5", &[]),
    ("h6", &[]),
    ("ul", &[]),
    ("li", &[]),
    ("em", &[]),
    ("strong", &[]),
    ("del", &[]),
    ("blockquote", &[]),
    ("br", &[]),
    ("hr", &[]),
    ("table", &[]),
    ("thead", &[]),
    ("tbody", &[]),
    ("tr", &[]),
];

/// Reads a page the way a browser does, and fails on a tag, an attribute or a target that e does
/// not write.
fn check(page: &str) {
    let style = page.find("<style>").unwrap()..page.find("</style>").unwrap();
    let page = [&page[..style.start], &page[style.end + 8..]].concat();
    let mut rest = page.as_str();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let closing = rest.starts_with('/');
        rest = rest.trim_start_matches('/');
        let end = rest.find([' ', '>', '/', '\n']).expect("a tag ends");
        let (name, mut inside) = rest.split_at(end);
        let allowed = TAGS.iter().find(|(tag, _)| *tag == name);
        let (_, attributes) = allowed.unwrap_or_else(|| panic!("a tag `{name}` in {page}"));
        loop {
            inside = inside.trim_start_matches([' ', '\n', '/']);
            if let Some(after) = inside.strip_prefix('>') {
                rest = after;
                break;
            }
            let end = inside.find(['=', '>', ' ']).expect("an attribute ends");
            let (attribute, after) = inside.split_at(end);
            assert!(
                attributes.contains(&attribute),
                "`{name} {attribute}` in {page}"
            );
            inside = after;
            if let Some(value) = after.strip_prefix("=\"") {
                let (value, after) = value.split_once('"').expect("a value ends");
                inside = after;
                assert!(!value.contains(['<', '>']), "{value}");
                if attribute == "href" {
                    check_target(value);
                }
            }
            assert!(!closing, "{name}");
        }
    }
}

fn check_target(value: &str) {
    let value = value
        .replace("&amp;", "&")
        .replace("&#x27;", "'")
        .replace("&quot;", "\"");
    assert!(!value.contains(|c: char| c.is_control()), "{value:?}");
    let scheme: String = value.chars().take_while(|c| !"/?#".contains(*c)).collect();
    if let Some((scheme, _)) = scheme.split_once(':') {
        let scheme = scheme.to_ascii_lowercase();
        assert!(
            ["http", "https", "mailto"].contains(&scheme.as_str()),
            "{value:?}"
        );
    }
    let slashes = value.trim().replace('\\', "/");
    assert!(!slashes.starts_with("//"), "{value:?}");
}

#[test]
fn a_conversation_becomes_a_page() {
    let page = page_of(vec![
        Message::System {
            content: "rules".into(),
        },
        Message::User {
            content: "look at\n  <b>this</b>".into(),
            images: vec![],
            voice: Voice::Prompt,
        },
        Message::internal("hidden note"),
        Message::steered("and the rest"),
        Message::Reasoning {
            content: "hidden thought".into(),
        },
        reply(
            "# Plan\n\n- *one*\n- `two`\n\n|a|b|\n|-|:-:|\n|1|2|\n\n<script>alert(1)</script>",
            &[
                ("c1", "read", "{\"path\":\"a\"}"),
                ("c2", "bash", "{}"),
                ("c3", "grep", "{}"),
            ],
        ),
        result("c2", "\n<img src=x onerror=alert(1)>", Outcome::TimedOut),
        result("c1", "fn main() {}", Outcome::Completed),
        result("lost", "an answer to nothing", Outcome::Completed),
    ]);
    for text in [
        "<h1>a &lt;title&gt; &amp; &quot;more&quot;</h1>",
        "look at\n  &lt;b&gt;this&lt;/b&gt;",
        "<em>one</em>",
        "<code>two</code>",
        "<td style=\"text-align: center\">2</td>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<pre class=\"arguments\">\n{&quot;path&quot;:&quot;a&quot;}</pre>\n<pre>\nfn main() {}</pre>",
        "<code>read</code> a <span",
        "<code>bash</code> <span class=\"bad\">timed out</span>",
        "<pre>\n\n&lt;img src=x onerror=alert(1)&gt;</pre>",
        "<code>grep</code> <span class=\"note\">not reported</span>",
        "<code>result</code>",
        "an answer to nothing",
        "and the rest",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    for hidden in ["rules", "hidden", "<script", "<img"] {
        assert!(!page.contains(hidden), "{hidden} in {page}");
    }
    assert!(page.find("fn main").unwrap() < page.find("onerror").unwrap());
}

#[test]
fn images_are_counted_and_pages_may_be_empty() {
    let image = || crate::chat::Image {
        media_type: "image/png".into(),
        data: "SECRET".into(),
    };
    for (images, text) in [
        (vec![image()], "1 image<"),
        (vec![image(), image()], "2 images<"),
    ] {
        let page = page_of(vec![Message::User {
            content: String::new(),
            images,
            voice: Voice::Prompt,
        }]);
        assert!(page.contains(text) && !page.contains("SECRET"), "{page}");
    }
    assert!(page_of(vec![]).ends_with("</html>\n"));
}

#[test]
fn targets_of_links_are_harmless() {
    for target in [
        "http://x.org/a?b#c",
        "HTTPS://x.org",
        "mailto:a@x.org",
        "#part",
        "src/main.rs",
        "../up",
        "/root",
        "?q=a:b",
        "a/b:c",
        "",
    ] {
        assert!(is_harmless(target), "{target:?}");
    }
    for target in [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "\u{1}javascript:alert(1)",
        "\u{200b}javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:x",
        "//evil.org",
        "/\\evil.org",
        "\\\\evil.org\\share",
        " //evil.org",
        "http:evil",
        "http:///evil",
        "http:\u{0}//x",
        ":x",
        "x:y",
    ] {
        assert!(!is_harmless(target), "{target:?}");
    }
    let links = "[a](https://x.org/?a=1&b=\"2\") [b](javascript:alert(1)) ![c](https://x.org/i.png) \
                 ![d](data:image/png;base64,AA) [![e](i.png)](up) <https://y.org> <me@x.org> \
                 [f](javascript&#58;alert(1)) [g](java&Tab;script:alert(1)) [h][ref]\n\n\
                 [ref]: javascript:alert(2) \"t\"";
    let page = page_of(vec![reply(links, &[])]);
    for text in [
        ">a</a> b <a href=\"https://x.org/i.png\">c</a> d <a href=\"up\">e</a>",
        "<a href=\"https://y.org\">https://y.org</a>",
        "<a href=\"mailto:me@x.org\">me@x.org</a>",
        "f g h",
    ] {
        assert!(page.contains(text), "{text} in {page}");
    }
    assert!(!page.contains("script:"), "{page}");
}

/// A small generator: the same numbers in every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

#[test]
fn no_text_makes_markup_of_its_own() {
    const PIECES: &[&str] = &[
        "<",
        ">",
        "\"",
        "'",
        "&",
        "=",
        "/",
        "\\",
        "`",
        "```",
        "\n",
        "\n\n",
        " ",
        "    ",
        "[",
        "]",
        "(",
        ")",
        "![",
        "](",
        "<script>",
        "</pre>",
        "</title>",
        "</style>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<img src=x onerror=alert(1)>",
        "javascript:",
        "data:",
        "//h",
        "https://x",
        "&#106;",
        "&lt;",
        "&Tab;",
        "\0",
        "\r",
        "\u{2028}",
        "\u{202e}",
        "é",
        "|",
        "|-|\n",
        "- ",
        "> ",
        "# ",
        "1. ",
        "***",
        "~~",
        "[r]: ",
        "<a href=\"",
        "\" onclick=\"",
        "a@b.c",
        "<?",
        "<!x",
        "html",
        "\t",
        "``` a\" b=\"<\n",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..3000 {
        let mut text = || -> String {
            let count = random(&mut state) % 24;
            (0..count)
                .map(|_| PIECES[random(&mut state) % PIECES.len()])
                .collect()
        };
        let (name, arguments, id) = (text(), text(), text());
        let messages = [
            Message::user(text()),
            reply(&text(), &[(&id, &name, &arguments)]),
            result(&id, &text(), Outcome::Failed),
            Message::Tool {
                call_id: text(),
                content: text(),
                outcome: Outcome::Completed,
                summary: text(),
            },
        ];
        let failure = PastFailure {
            message: text(),
            is_stop: false,
        };
        check(&page(&text(), &messages.map(Arc::new), &[(1, failure)]));
    }
}

#[test]
fn deep_and_long_markdown_is_no_trouble() {
    for text in [
        "> ".repeat(5000),
        "[".repeat(20_000),
        "*a ".repeat(20_000),
        "- ".repeat(3000),
        "<a ".repeat(9000),
    ] {
        page_of(vec![reply(&text, &[])]);
    }
}
