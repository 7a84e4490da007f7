//! Extensions that a test plays itself. What e starts is a stub that passes lines on to the test
//! over a socket; the test looks at them and writes what it likes. Every line of e is checked
//! against its schema.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

use super::Place;
use super::place::PATIENCE;
use super::schema::{assert_fits, fits};

const FROM_E: &str = "extension.schema.json#/$defs/from_e";
const FROM_EXTENSION: &str = "extension.schema.json#/$defs/from_extension";
/// Names the socket to a stub.
const SOCKET: &str = "E_TEST_EXTENSION";
/// The test that the stub runs in this program.
const STUB: &str = "support::extension::stub";

/// The stub: a process that is the extension in e's eyes. Run as a test, it does nothing.
#[test]
fn stub() {
    let Some(socket) = std::env::var_os(SOCKET) else {
        return;
    };
    let mut test = UnixStream::connect(socket).expect("the test listens");
    writeln!(test, "{}", std::process::id()).expect("the test reads");
    let mut to_test = test.try_clone().expect("a handle");
    std::thread::spawn(move || {
        pass(&mut std::io::stdin().lock(), &mut to_test);
        let _ = to_test.shutdown(Shutdown::Write);
    });
    // The test harness has standard output for itself.
    let stdout = OpenOptions::new().write(true).open("/dev/fd/3");
    pass(&mut test, &mut stdout.expect("the real standard output"));
    std::process::exit(0);
}

/// Copies as it comes. The one of the standard library would hold the pipe's lock while it waits.
fn pass(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = [0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..read]).is_err() {
            return;
        }
    }
}

type Handler = Box<dyn FnMut(&Value) -> Value + Send>;

/// An extension being put together. Requests that nothing was said about are answered with `{}`.
pub struct Actor {
    listener: UnixListener,
    handlers: HashMap<String, Handler>,
    held: Vec<String>,
    survives: bool,
}

/// An extension that e may start, and may have started. Dropping it fails the test if a line of e
/// was not as its schema says.
pub struct Played(Arc<Shared>);

#[derive(Default)]
struct Shared {
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Default)]
struct Stage {
    /// Every line of e, of all processes.
    lines: Vec<Value>,
    pids: Vec<i32>,
    /// The way to the process that was started last.
    stream: Option<UnixStream>,
    asked: u64,
    problems: Vec<String>,
}

impl Actor {
    /// An extension in the home's directory with this file name and manifest.
    pub fn new(place: &Place, file: &str, manifest: Value) -> Self {
        let socket = place.root().join(format!("{file}.sock"));
        let program = std::env::current_exe().expect("this program");
        let script = format!(
            "#!/bin/sh\n{SOCKET}='{}' exec '{}' --exact {STUB} --nocapture 3>&1 >/dev/null\n",
            socket.display(),
            program.display()
        );
        place.script(file, &script);
        let actor = Self {
            listener: UnixListener::bind(&socket).expect("a socket"),
            handlers: HashMap::new(),
            held: Vec::new(),
            survives: false,
        };
        actor.on("initialize", move |_| manifest.clone())
    }

    /// Answers requests of this method with what is made of their `params`.
    pub fn on(
        mut self,
        method: &str,
        handler: impl FnMut(&Value) -> Value + Send + 'static,
    ) -> Self {
        self.handlers.insert(method.into(), Box::new(handler));
        self
    }

    /// Answers requests of this method with this.
    pub fn says(self, method: &str, result: Value) -> Self {
        self.on(method, move |_| result.clone())
    }

    /// Leaves requests of this method to the test.
    pub fn holds(mut self, method: &str) -> Self {
        self.held.push(method.into());
        self
    }

    /// Stays when e says `shutdown` and closes the input.
    pub fn survives(mut self) -> Self {
        self.survives = true;
        self
    }

    /// Waits for e to start it, any number of times, on a thread of its own.
    pub fn play(mut self) -> Played {
        let shared = Arc::<Shared>::default();
        let played = Played(shared.clone());
        std::thread::spawn(move || {
            while let Ok((stream, _)) = self.listener.accept() {
                self.serve(stream, &shared);
            }
        });
        played
    }

    /// Plays one process to its end.
    fn serve(&mut self, stream: UnixStream, shared: &Shared) {
        let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
        let pid = lines.next().and_then(Result::ok).unwrap_or_default();
        shared.change(|stage| {
            stage.pids.extend(pid.parse::<i32>());
            stage.stream = stream.try_clone().ok();
        });
        for line in lines.map_while(Result::ok) {
            let text = line;
            let line: Value = serde_json::from_str(&text).unwrap_or_default();
            let method = line["method"].as_str().unwrap_or_default().to_owned();
            let is_good = fits(FROM_E, &line);
            shared.change(|stage| {
                stage.problems.extend((!is_good).then_some(text));
                stage.lines.push(line.clone());
            });
            if method == "shutdown" && !self.survives {
                break;
            }
            if method.is_empty() || line.get("id").is_none() || self.held.contains(&method) {
                continue;
            }
            let result = match self.handlers.get_mut(&method) {
                Some(handler) => handler(&line["params"]),
                None => json!({}),
            };
            shared.send(&json!({"id": line["id"], "result": result}));
        }
        if !self.survives {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Played {
    /// Waits for the first line of e that has this method.
    #[track_caller]
    pub fn wait(&self, method: &str) -> Value {
        self.wait_nth(method, 0)
    }

    /// Waits for one more line with this method, after that many.
    #[track_caller]
    pub fn wait_nth(&self, method: &str, before: usize) -> Value {
        self.wait_for(method, |lines| {
            let is_it = |line: &&Value| line["method"] == method;
            lines.iter().filter(is_it).nth(before).cloned()
        })
    }

    /// Waits for something in the lines of e.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, find: impl Fn(&[Value]) -> Option<T>) -> T {
        let stage = self.0.stage.lock().expect("the lock");
        let waits = |stage: &mut Stage| find(&stage.lines).is_none();
        let (stage, _) = self
            .0
            .changed
            .wait_timeout_while(stage, PATIENCE, waits)
            .expect("the lock");
        find(&stage.lines).unwrap_or_else(|| panic!("no {what} in {:#?}", stage.lines))
    }

    /// Asks e something and waits for the answer, `result` or `error`.
    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer_to(&id)
    }

    /// Asks e something that is no request and sees that it is refused without being looked at.
    #[track_caller]
    pub fn is_refused(&self, method: &str, params: Value) {
        self.send(&json!({"id": ["odd", method], "method": method, "params": params}));
        let answer = self.answer_to(&json!(["odd", method]));
        assert_eq!(answer, json!({"error": "no ui"}), "{method}");
    }

    /// Asks e something and returns the id.
    pub fn begin(&self, method: &str, params: Value) -> Value {
        let id = self.change(|stage| {
            stage.asked += 1;
            json!(format!("q{}", stage.asked))
        });
        let line = json!({"id": id, "method": method, "params": params});
        assert_fits(FROM_EXTENSION, &line);
        self.send(&line);
        id
    }

    /// Waits for e's answer to a request.
    #[track_caller]
    pub fn answer_to(&self, id: &Value) -> Value {
        let is_it = |line: &&Value| line["id"] == *id && line.get("method").is_none();
        let mut line = self.wait_for("answer", |lines| lines.iter().find(is_it).cloned());
        let fields = line.as_object_mut().expect("an object");
        fields.remove("id");
        line
    }

    /// Answers a request of e that was left to the test.
    pub fn answer(&self, request: &Value, result: Value) {
        self.send(&json!({"id": request["id"], "result": result}));
    }

    /// Writes one object. A process that has ended takes nothing.
    pub fn send(&self, line: &Value) {
        self.0.send(line);
    }

    /// Ends its process.
    pub fn exit(&self) {
        let stream = self.change(|stage| stage.stream.take());
        stream.map(|stream| stream.shutdown(Shutdown::Both));
    }

    /// The lines of e with this method so far: their params.
    pub fn params(&self, method: &str) -> Vec<Value> {
        let lines = self.lines();
        let lines = lines.iter().filter(|line| line["method"] == method);
        lines.map(|line| line["params"].clone()).collect()
    }

    /// The names of the events so far.
    pub fn events(&self) -> Vec<String> {
        let name = |params: &Value| params["name"].as_str().expect("a name").to_owned();
        self.params("event").iter().map(name).collect()
    }

    /// The extra of the first event of that name.
    #[track_caller]
    pub fn event(&self, name: &str) -> Value {
        let mut events = self.params("event").into_iter();
        let event = events.find(|event| event["name"] == name);
        event.unwrap_or_else(|| panic!("no event {name}"))["extra"].clone()
    }

    /// Every line of e so far.
    pub fn lines(&self) -> Vec<Value> {
        self.change(|stage| stage.lines.clone())
    }

    /// The processes so far.
    pub fn pids(&self) -> Vec<i32> {
        self.change(|stage| stage.pids.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Stage) -> T) -> T {
        self.0.change(change)
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let problems = self.change(|stage| std::mem::take(&mut stage.problems));
            assert!(problems.is_empty(), "not as the schema says: {problems:#?}");
        }
    }
}

impl Shared {
    fn change<T>(&self, change: impl FnOnce(&mut Stage) -> T) -> T {
        let result = change(&mut self.stage.lock().expect("the lock"));
        self.changed.notify_all();
        result
    }

    fn send(&self, line: &Value) {
        self.send_raw(format!("{line}\n").as_bytes());
    }

    fn send_raw(&self, bytes: &[u8]) {
        let stream = self.change(|stage| stage.stream.as_ref().map(UnixStream::try_clone));
        if let Some(Ok(mut stream)) = stream {
            let _ = stream.write_all(bytes);
        }
    }
}

impl Place {
    /// Writes an executable file into the home's directory of extensions.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.join("extensions").join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        // Another thread may fork while this one has a file open, and what is open for writing
        // somewhere cannot be run. So a process of its own writes it.
        let mut writer = Command::new("sh")
            .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell");
        let stdin = writer.stdin.take().expect("its input");
        { stdin }.write_all(text.as_bytes()).expect("an extension");
        assert!(writer.wait().expect("a status").success());
        path
    }
}
