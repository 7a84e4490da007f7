//! Speed, size and wake-ups, each against a floor measured in the same run.
//!
//! `make bench` prints a table; docs/performance.md keeps one with the machine's facts. Names of
//! [`MEASURES`] choose some of it: `cargo bench --bench speed -- load list`. Nothing here fails a
//! build: time on a shared machine is no assertion.

mod extensions;
#[allow(dead_code, reason = "the rows need a part of the kit")]
#[path = "../support/pty.rs"]
mod pty;
mod rpc;
#[allow(dead_code, reason = "the rows need a part of the kit")]
#[path = "../support/screen.rs"]
mod screen;
mod server;
mod surfaces;
mod tui;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use e::chat::Message;
use e::config::Home;
use e::session::{Log, LogSpec, Record};
use server::{Reply, Server};

const ROUNDS: usize = 21;
const DELTAS: usize = 200_000;

/// Asks this program to be the helper of [`peak_rss`].
const RSS: &str = "--peak-rss-of";

fn main() {
    let mut args = std::env::args_os().skip(1);
    let first = args.next().unwrap_or_default();
    if first == extensions::EXTENSION {
        let kind = args.next().expect("a kind of extension");
        let kind = kind.to_string_lossy();
        if !surfaces::be(&kind) {
            extensions::be(&kind);
        }
        return;
    }
    if first == RSS {
        let mut command = Command::new(args.next().expect("a program"));
        command.args(args);
        return print_peak_rss(command);
    }
    // Cargo adds options of its own; what else is named is measured alone.
    let named: Vec<String> = std::env::args().skip(1).collect();
    let only: Vec<&String> = named.iter().filter(|arg| !arg.starts_with('-')).collect();
    let place = Place::new();
    println!("{:<58} {:>10} {:>10} {:>8}", "what", "e", "floor", "ratio");
    for (name, measure) in MEASURES {
        if only.is_empty() || only.iter().any(|one| one == name) {
            measure(&place);
        }
    }
}

/// A name that asks for it alone, and what measures it.
type Measure = (&'static str, fn(&Place));

/// Every measurement, in its order.
const MEASURES: &[Measure] = &[
    ("version", version),
    ("turn", turn),
    ("tool", tool_round_trip),
    ("stream", streaming),
    ("memory", memory),
    ("quiet", quiet),
    ("append", log_append),
    ("load", log_load),
    ("hello", rpc::hello),
    ("idle", rpc::idle),
    ("prompt", rpc::prompt),
    ("latency", rpc::latency),
    ("turns", rpc::memory),
    ("crowd", rpc::crowd),
    ("list", rpc::list),
    ("start", tui::start),
    ("echo", tui::echo),
    ("frame", tui::frame),
    ("pace", tui::pace),
    ("paste", tui::paste),
    ("ext-memory", extensions::memory),
    ("ext-start", extensions::start),
    ("ext-updates", extensions::updates),
    ("ext-key", surfaces::game),
    ("ext-storm", surfaces::storm),
    ("ext-pane", surfaces::pane_rows),
    // The last one: it starts e's own reaping in this process, which takes every child that ends.
    ("ext-hook", extensions::round_trips),
    ("size", size),
];

/// A throw-away home and workspace with the model `bench/m` on a local server.
struct Place {
    root: tempfile::TempDir,
    e: PathBuf,
    server: Server,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        for name in ["home", "work"] {
            fs::create_dir(root.path().join(name)).expect("a directory");
        }
        let server = Server::start();
        let models = format!(
            r#"{{"providers":{{"bench":{{"base_url":"{}/v1","models":[{{"id":"m","context_window":1000000000}}]}}}}}}"#,
            server.url()
        );
        fs::write(root.path().join("home/models.json"), models).expect("models.json");
        Self {
            root,
            e: env!("CARGO_BIN_EXE_e").into(),
            server,
        }
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.work()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("HOME", self.root.path())
            .env("E_HOME", self.root.path().join("home"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn p(&self, json: bool) -> Command {
        let mut command = self.command(&self.e);
        command
            .args(["-p", "--trust", "-m", "bench/m"])
            .args(json.then_some("--json"))
            .arg("hi");
        command
    }

    /// The same exchange without an agent. The body is about as long as e's own.
    fn curl(&self) -> Command {
        let mut command = self.command("curl");
        let body = format!(
            r#"{{"model":"m","stream":true,"pad":"{}"}}"#,
            "x".repeat(8_000)
        );
        command.args(["-sN", "-H", "content-type: application/json", "-d", &body]);
        command.arg(format!("{}/v1/chat/completions", self.server.url()));
        command
    }
}

fn version(place: &Place) {
    let e = || place.command(&place.e).arg("--version").status();
    let floor = || place.command("/bin/true").status();
    compare("e --version, against /bin/true", e, floor);
}

fn turn(place: &Place) {
    place.server.reply(Reply::text("ok"));
    compare(
        "one turn answered \"ok\", against curl",
        || place.p(false).status(),
        || place.curl().status(),
    );
}

fn tool_round_trip(place: &Place) {
    let e = || {
        place
            .server
            .script([Reply::bash("echo hi"), Reply::text("ok")]);
        place.p(false).status()
    };
    let floor = || {
        place
            .server
            .script([Reply::bash("echo hi"), Reply::text("ok")]);
        place.curl().status()?;
        place.command("bash").args(["-c", "echo hi"]).status()?;
        place.curl().status()
    };
    compare(
        "one tool round trip, against curl twice and bash -c",
        e,
        floor,
    );
}

fn streaming(place: &Place) {
    place.server.reply(Reply::deltas(DELTAS));
    compare(
        "200,000 deltas, plain, against curl",
        || place.p(false).status(),
        || place.curl().status(),
    );
    compare(
        "200,000 deltas, --json, against curl",
        || place.p(true).status(),
        || place.curl().status(),
    );
}

fn memory(place: &Place) {
    for (name, reply) in [
        ("peak RSS of a small turn", Reply::text("ok")),
        ("peak RSS of the 200,000-delta turn", Reply::deltas(DELTAS)),
    ] {
        place.server.reply(reply);
        let peak = peak_rss(&place.p(false));
        println!("{name:<58} {:>6.2} MiB", peak as f64 / 1024.0);
        let peak = peak_rss(&place.p(true));
        println!(
            "{:<58} {:>6.2} MiB",
            format!("{name}, --json"),
            peak as f64 / 1024.0
        );
    }
}

/// Context switches of all threads while a tool sleeps: each is a wake-up.
fn quiet(place: &Place) {
    place
        .server
        .script([Reply::bash("touch started; sleep 12"), Reply::text("ok")]);
    let mut child = place.p(false).spawn().expect("e starts");
    let started = place.work().join("started");
    while !started.exists() {
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(500));
    let (threads, before) = switches(child.id());
    std::thread::sleep(Duration::from_secs(10));
    let (_, after) = switches(child.id());
    println!(
        "{:<58} {:>10}",
        "wake-ups in 10 s while a tool sleeps",
        after - before
    );
    println!("{:<58} {threads:>10}", "threads meanwhile");
    let _ = child.wait();
}

fn log_append(place: &Place) {
    let spec = LogSpec {
        home: Home::at(place.root.path().join("home")),
        workspace: place.work(),
        id: "0192f0c1-0000-7000-8000-000000000000".into(),
        created: 1,
        model: "bench/m".into(),
    };
    let mut log = Log::create(&spec).expect("a log");
    let mut parent: Option<String> = None;
    let mut times = Vec::new();
    for index in 0..20_000u32 {
        let id = format!("r{index}");
        let message = Arc::new(Message::user("a line of some length, as they are"));
        let record = Record::Message {
            id: id.clone(),
            parent: parent.replace(id),
            timestamp: 1,
            response: None,
            message,
        };
        let start = Instant::now();
        log.append(&record).expect("an append");
        times.push(start.elapsed());
    }
    let (first, last) = (
        median(&mut times[..2_000].to_vec()),
        median(&mut times[18_000..].to_vec()),
    );
    row(
        "log append: the last of 20,000 records, against the first",
        last,
        first,
    );
}

/// A log of 100 MB, all of it alive, against `jq` looking at the types of its lines.
fn log_load(place: &Place) {
    let spec = LogSpec {
        home: Home::at(place.root.path().join("home")),
        workspace: place.work(),
        id: "0192f0c1-0000-7000-8000-000000000001".into(),
        created: 2,
        model: "bench/m".into(),
    };
    let mut log = Log::create(&spec).expect("a log");
    let mut parent: Option<String> = None;
    for index in 0..50_000u32 {
        let id = format!("r{index}");
        let text = "fn main() { println!(\"hello\"); }\n".repeat(48);
        let record = Record::Message {
            id: id.clone(),
            parent: parent.replace(id),
            timestamp: 1,
            response: None,
            message: Arc::new(Message::user(text)),
        };
        log.append(&record).expect("an append");
    }
    let path = log.path().to_path_buf();
    drop(log);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let start = Instant::now();
        let loaded = e::session::load(&path).expect("a log");
        ours.push(start.elapsed());
        assert_eq!(loaded.messages.len(), 50_000);
        drop(loaded);
        let start = Instant::now();
        let mut jq = place.command("jq");
        if jq.args(["-c", ".type"]).arg(&path).status().is_err() {
            return println!("jq is not installed: loading is not compared");
        }
        theirs.push(start.elapsed());
    }
    let name = "loading a log of 100 MB, against jq -c .type";
    row(name, median(&mut ours), median(&mut theirs));
    fs::remove_file(path).expect("the log");
}

fn size(place: &Place) {
    let size = fs::metadata(&place.e).expect("the binary").len();
    let mib = size as f64 / (1 << 20) as f64;
    println!("{:<58} {mib:>6.2} MiB", "stripped release binary");
}

/// Runs both in turns and prints the medians.
fn compare(
    name: &str,
    mut e: impl FnMut() -> std::io::Result<ExitStatus>,
    mut floor: impl FnMut() -> std::io::Result<ExitStatus>,
) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (one, two) = (time(name, &mut e), time(name, &mut floor));
        // The first round warms caches.
        if round > 0 {
            ours.push(one);
            theirs.push(two);
        }
    }
    row(name, median(&mut ours), median(&mut theirs));
}

fn time(name: &str, run: &mut impl FnMut() -> std::io::Result<ExitStatus>) -> Duration {
    let start = Instant::now();
    let status = run().unwrap_or_else(|error| panic!("{name}: {error}"));
    let elapsed = start.elapsed();
    assert!(status.success(), "{name}: {status}");
    elapsed
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn row(name: &str, ours: Duration, floor: Duration) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{name:<58} {:>7.3} ms {:>7.3} ms {:>7.2}×",
        ms(ours),
        ms(floor),
        ms(ours) / ms(floor)
    );
}

/// The most memory a run ever held, in KiB, as the kernel counts it. A process inherits the peak
/// of the one that forked it, so a small helper does the forking.
fn peak_rss(run: &Command) -> i64 {
    let mut helper = Command::new(std::env::current_exe().expect("this program"));
    helper
        .arg(RSS)
        .arg(run.get_program())
        .args(run.get_args())
        .env_clear();
    helper.envs(
        run.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    helper
        .current_dir(run.get_current_dir().expect("a directory"))
        .stdin(Stdio::null());
    let output = helper.output().expect("the helper runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim()
        .parse()
        .unwrap_or_else(|_| panic!("no peak in {text:?}"))
}

/// The helper's side: runs a command and prints its peak.
fn print_peak_rss(mut command: Command) {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().expect("the run starts").success());
    // SAFETY: rusage is plain data, and getrusage only writes to the place it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    println!("{}", usage.ru_maxrss);
}

/// Threads of a process, and how often they were switched to and from.
fn switches(pid: u32) -> (usize, u64) {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the threads");
    let counts: Vec<u64> = tasks
        .flatten()
        .map(|task| {
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
            counts
                .filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok())
                .sum()
        })
        .collect();
    (counts.len(), counts.iter().sum())
}
