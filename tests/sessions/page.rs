//! The exported page in a real browser: it is readable in light and in dark, runs nothing and asks
//! nobody for anything.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::support::{Place, Rpc, call, say};

/// What the browser is known as, by the ways it is packaged.
const BROWSERS: [&str; 5] = [
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "chrome-headless-shell",
    "google-chrome",
];

/// Holds the page in a frame, where its own rules still count, and writes down what became of it.
const FRAME: &str = r##"<!doctype html><title>wait</title><iframe width="900" src="/page.html"></iframe><pre id="told"></pre>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => setTimeout(() => {
  const page = frame.contentDocument, style = frame.contentWindow.getComputedStyle(page.body);
  const handlers = [...page.querySelectorAll("*")].flatMap(e => [...e.attributes]).filter(a => a.name.startsWith("on"));
  document.querySelector("#told").textContent = JSON.stringify({
    title: page.title, text: page.body.innerText, bold: page.querySelector("strong")?.textContent,
    foreign: page.querySelectorAll("script, img, iframe, link, object, form").length + handlers.length,
    ran: frame.contentWindow.ran ?? null, page: style.backgroundColor, ink: style.color,
    folded: [...page.querySelectorAll("details")].every(e => !e.open && e.offsetHeight < 60),
  }).replaceAll("<", "\\u003c").replaceAll("&", "\\u0026").replaceAll(">", "\\u003e");
}, 50);
</script>"##;

const HOSTILE: &str = "<script>window.ran=1;document.title='ran'</script>\
    <img src=/stolen.png onerror=\"window.ran=1\"><link rel=stylesheet href=/stolen.css>\
    <iframe src=/stolen.html></iframe><style>@import '/stolen.css';</style>";

/// Serves the page and its frame; tells which paths were asked for.
fn serve(page: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = asked.clone();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut head = BufReader::new(connection.try_clone().unwrap()).lines();
            let Some(Ok(first)) = head.next() else {
                continue;
            };
            while head
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let path = first.split(' ').nth(1).unwrap_or_default().to_string();
            let body = match path.as_str() {
                "/" => FRAME,
                "/page.html" => &page,
                _ => "",
            };
            notes.lock().unwrap().push(path);
            let length = body.len();
            let _ = write!(
                connection,
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    (address, asked)
}

fn browser() -> Option<&'static str> {
    let runs = |name: &&str| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    BROWSERS.into_iter().find(runs)
}

#[test]
fn a_browser_shows_the_page_in_light_and_dark_and_runs_nothing() {
    let Some(browser) = browser() else {
        return println!("skipped: there is no Chromium on PATH");
    };
    let place = Place::new();
    place.provider.script([
        call(
            "bash",
            json!({"command": "seq 1 500; echo '<script>window.ran=1</script>'"}),
        ),
        say(&format!("**told** you ![i](/stolen.png) {HOSTILE}")),
    ]);
    let mut rpc = Rpc::start(&place, &[]);
    let session = rpc.create(json!({}));
    rpc.prompt(&session, &format!("asked {HOSTILE}"));
    rpc.call(
        "session.export",
        json!({"session": session, "path": "page.html"}),
    );
    let (address, asked) = serve(place.read("page.html"));
    for (scheme, page, ink) in [
        ("1", "rgb(255, 255, 255)", "rgb(28, 28, 28)"),
        ("0", "rgb(22, 22, 22)", "rgb(228, 228, 228)"),
    ] {
        let output = Command::new("timeout")
            .args(["60", browser, "--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--virtual-time-budget=5000", "--dump-dom"])
            .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
            .arg(format!(
                "--user-data-dir={}",
                place.root().join("profile").display()
            ))
            .arg(format!("{address}/"))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let told = dom.split_once("<pre id=\"told\">").expect("a frame").1;
        let told: serde_json::Value =
            serde_json::from_str(told.split("</pre>").next().unwrap()).expect(&dom);
        assert_eq!((&told["page"], &told["ink"]), (&json!(page), &json!(ink)));
        assert_eq!(
            (&told["foreign"], &told["ran"]),
            (&json!(0), &json!(null)),
            "{told}"
        );
        assert_eq!(
            (&told["bold"], &told["folded"]),
            (&json!("told"), &json!(true))
        );
        assert!(
            told["title"]
                .as_str()
                .unwrap()
                .starts_with("asked <script>")
        );
        assert!(
            told["text"]
                .as_str()
                .unwrap()
                .contains("asked <script>window.ran=1")
        );
    }
    let mut asked = asked.lock().unwrap().clone();
    asked.retain(|path| path != "/favicon.ico");
    assert_eq!(asked, ["/", "/page.html", "/", "/page.html"]);
}
