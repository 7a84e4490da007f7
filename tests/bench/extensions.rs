//! Extensions: what one costs, how fast it is asked, and what a flood of one does to another. The
//! extensions are this program, started again.

use std::fs;
use std::io::{BufRead, Write};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;

use e::extension::{Hook, Host, HostEvent, Launch, Reserved, Serves, discover};
use e::sys::Env;

use super::rpc::Rpc;
use super::server::Reply;
use super::{Place, ROUNDS, median, row};

/// Asks this program to be an extension.
pub const EXTENSION: &str = "--extension";

const ASKED: usize = 20_000;
const UPDATES: usize = 100_000;

/// The extension's side.
pub fn be(kind: &str) {
    let mut stdout = std::io::stdout().lock();
    let mut flooding = kind == "flood";
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let id = line
            .strip_prefix("{\"id\":")
            .and_then(|rest| rest.split(',').next());
        let Some(id) = id else { continue };
        let mut answer = "{}";
        if line.contains("\"initialize\"") {
            if kind == "slow" {
                std::thread::sleep(Duration::from_millis(200));
            }
            answer = match kind {
                "echo" => r#"{"name":"echo","hooks":["tool_call"],"events":[]}"#,
                "updates" => r#"{"name":"updates","tools":[{"name":"bash"}],"events":[]}"#,
                _ => r#"{"name":"idle","events":[]}"#,
            };
        } else if kind == "updates" {
            let lines = update_line(id).repeat(1000);
            for _ in 0..UPDATES / 1000 {
                stdout.write_all(lines.as_bytes()).expect("e reads");
            }
        }
        writeln!(stdout, "{{\"id\":{id},\"result\":{answer}}}").expect("e reads");
        stdout.flush().expect("e reads");
        if std::mem::take(&mut flooding) {
            std::thread::spawn(|| {
                let line = "{\"method\":\"notify\",\"params\":{\"message\":\"so much to say\"}}\n";
                let lines = line.repeat(1000);
                while std::io::stdout().write_all(lines.as_bytes()).is_ok() {}
                std::process::exit(0);
            });
            // The other thread needs the lock for good.
            drop(stdout);
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            std::process::exit(0);
        }
    }
}

fn update_line(id: &str) -> String {
    let text = "x".repeat(99);
    format!(
        "{{\"method\":\"tool.update\",\"params\":{{\"id\":{id},\"stream\":\"stdout\",\"chunk\":\"{text}\\n\"}}}}\n"
    )
}

/// Puts extensions of these kinds into the home, in this order, in the place of those before.
pub fn install(place: &Place, kinds: &[&str]) {
    let directory = place.root.path().join("home/extensions");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).expect("a directory");
    let program = std::env::current_exe().expect("this program");
    for (number, kind) in kinds.iter().enumerate() {
        let path = directory.join(format!("{number:02}"));
        let script = format!(
            "#!/bin/sh\nexec '{}' {EXTENSION} {kind}\n",
            program.display()
        );
        fs::write(&path, script).expect("an extension");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
}

/// What an idle extension adds to e itself.
pub fn memory(place: &Place) {
    let rss = |kinds: &[&str]| {
        install(place, kinds);
        let mut rpc = Rpc::start(place);
        rpc.call(1, "hello", json!({}));
        rpc.rss()
    };
    let (none, many) = (rss(&[]), rss(&["idle"; 20]));
    println!(
        "{:<58} {:>6} KiB",
        "RSS per idle extension",
        many.saturating_sub(none) / 20
    );
    install(place, &[]);
}

/// Extensions that take their time, all at once.
pub fn start(place: &Place) {
    let mut times = Vec::new();
    install(place, &["slow"; 20]);
    for _ in 0..7 {
        let start = Instant::now();
        let mut rpc = Rpc::start(place);
        rpc.call(1, "hello", json!({}));
        times.push(start.elapsed());
    }
    let floor = Duration::from_millis(200);
    row(
        "start with 20 extensions of 200 ms, against one wait",
        median(&mut times),
        floor,
    );
    install(place, &[]);
}

/// The hook as the host asks it, alone and beside an extension that floods.
pub fn round_trips(place: &Place) {
    let mut alone = round_trip(place, &["echo"]);
    let mut beside = round_trip(place, &["echo", "flood"]);
    let (median_alone, late_alone) = (median(&mut alone), late(&mut alone));
    println!(
        "{:<58} {:>7.1} µs {:>7.1} µs",
        "hook.tool_call round trip, median and 99th",
        micros(median_alone),
        micros(late_alone)
    );
    row(
        "99th of it beside a flood, against alone",
        late(&mut beside),
        late_alone,
    );
    install(place, &[]);
}

fn round_trip(place: &Place, kinds: &[&str]) -> Vec<Duration> {
    install(place, kinds);
    let (files, _) = discover::find(&[place.root.path().join("home/extensions")]);
    let work = place.work();
    let env = Env::capture();
    let mut host = Host::launch(Launch {
        files,
        cwd: &work,
        env: &env,
        config: json!({}),
        serves: Serves::default(),
        tap: None,
    });
    host.wait_until_ready(&Reserved {
        commands: &[],
        options: &[],
        chord: |chord| Ok(chord.to_owned()),
    });
    let mut times = Vec::new();
    for _ in 0..ASKED {
        let start = Instant::now();
        let hook = Hook::ToolCall {
            name: "bash".into(),
            arguments: json!({"command": "echo hi"}),
        };
        let asked = host.ask(hook, start);
        loop {
            match host.next_event() {
                Some(HostEvent::Hooked(ticket, _)) if ticket == asked => break,
                Some(_) => {}
                None => host.wait(),
            }
        }
        times.push(start.elapsed());
    }
    host.shut_down();
    times
}

/// Live output, from the extension to the client.
pub fn updates(place: &Place) {
    place.server.reply(Reply::text("ok"));
    let run = || {
        place.server.script([Reply::bash("x"), Reply::text("ok")]);
        let start = Instant::now();
        assert!(place.p(true).status().expect("e runs").success());
        start.elapsed()
    };
    let timed = |kind: &str| {
        install(place, &[kind]);
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| run()).collect();
        median(&mut times)
    };
    let with = timed("updates");
    let path = place.root.path().join("updates");
    fs::write(&path, update_line("2").repeat(UPDATES)).expect("a file");
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let mut cat = place.command("sh");
            let status = cat.args(["-c", "cat \"$0\" | cat"]).arg(&path).status();
            assert!(status.expect("cat runs").success());
            start.elapsed()
        })
        .collect();
    row(
        "100,000 updates of 100 bytes, --json, against cat | cat",
        with,
        median(&mut times),
    );
    install(place, &[]);
}

/// The 99th of a hundred.
fn late(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() * 99 / 100]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
