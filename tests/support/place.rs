//! A sealed place: its own home, workspace, environment and provider. Nothing of the machine's
//! user or of another test shows through.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::provider::Provider;

/// How long a test waits for anything before it fails with what it has seen.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Where a test happens.
pub struct Place {
    root: TempDir,
    /// e's home.
    pub home: PathBuf,
    /// The trusted directory that e runs in.
    pub workspace: PathBuf,
    /// The scripted provider, under the name `mock`.
    pub provider: Provider,
    env: Vec<(OsString, OsString)>,
}

impl Place {
    /// A place whose model `mock/test` speaks chat completions.
    pub fn new() -> Self {
        Self::speaking("openai-completions")
    }

    /// A place whose models speak that dialect.
    pub fn speaking(api: &str) -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let dir = |name: &str| {
            let path = root.path().canonicalize().expect("a real path").join(name);
            std::fs::create_dir(&path).expect("a directory");
            path
        };
        let (home, workspace, user) = (dir("e home"), dir("space"), dir("user"));
        let tmp = dir("tmp");
        std::fs::set_permissions(&home, PermissionsExt::from_mode(0o700)).expect("a mode");
        let provider = Provider::start();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let env = [
            ("PATH", path.as_os_str()),
            ("HOME", user.as_os_str()),
            ("E_HOME", home.as_os_str()),
            ("TMPDIR", tmp.as_os_str()),
            ("LANG", OsStr::new("C.UTF-8")),
            ("NO_PROXY", OsStr::new("127.0.0.1")),
        ];
        let env = env
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec();
        let place = Self {
            root,
            home,
            workspace,
            provider,
            env,
        };
        place.models(api, json!({}));
        place.write_home(
            "auth.json",
            &json!({"mock": {"key": "secret-key-of-mock"}}).to_string(),
        );
        let trust = place.e().args(["trust", "."]).run();
        assert_eq!(trust.status, 0, "{trust:?}");
        place
    }

    /// Writes models.json; `extra` is merged into the model `test`.
    pub fn models(&self, api: &str, extra: Value) {
        let mut test = json!({"id": "test", "effort": ["low", "high"], "context_window": 64000, "image_input": true});
        if let (Value::Object(test), Value::Object(extra)) = (&mut test, extra) {
            test.extend(extra);
        }
        let entry = json!({"base_url": self.base(api), "models": [test]});
        self.server(api, entry);
    }

    /// Where models.json says the scripted provider is.
    pub fn base(&self, api: &str) -> String {
        match api.starts_with("openai") {
            true => format!("{}/v1", self.provider.url()),
            false => self.provider.url().to_string(),
        }
    }

    /// Writes models.json with this entry for the provider `mock`.
    pub fn server(&self, api: &str, mut entry: Value) {
        let plain = json!({"id": "plain", "context_window": 64000, "image_input": false});
        entry["api"] = api.into();
        match entry["models"].as_array_mut() {
            Some(models) => models.push(plain),
            None => entry["models"] = json!(["test", plain]),
        }
        self.write_home(
            "models.json",
            &json!({"providers": {"mock": entry}}).to_string(),
        );
    }

    /// Writes settings.json.
    pub fn settings(&self, settings: Value) {
        self.write_home("settings.json", &settings.to_string());
    }

    /// Writes a file of the home.
    pub fn write_home(&self, name: &str, text: &str) {
        std::fs::write(self.home.join(name), text).expect("a file of the home");
    }

    /// Writes a file of the workspace.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, bytes).expect("a file of the workspace");
        path
    }

    /// Reads a file of the home.
    pub fn read_home(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.join(name)).expect("a file of the home")
    }

    /// Reads a file of the workspace.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.workspace.join(name)).expect("a file of the workspace")
    }

    /// A directory beside the workspace, for whatever.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// All session logs, sidecars left out.
    pub fn logs(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut todo = vec![self.home.join("sessions")];
        while let Some(directory) = todo.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                if path.is_dir() {
                    todo.push(path);
                } else if name.ends_with(".jsonl") && !name.ends_with(".errors.jsonl") {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// The living processes that were started in this place, e's own included.
    pub fn processes(&self) -> Vec<i32> {
        let own = self.root.path().as_os_str().as_encoded_bytes();
        let belongs = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.windows(own.len()).any(|part| part == own)
        };
        let names = std::fs::read_dir("/proc").expect("a /proc").flatten();
        let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(belongs)
            .filter(|pid| super::wait::is_alive(*pid))
            .collect()
    }

    /// Waits until nothing that was started in this place is left.
    #[track_caller]
    pub fn wait_deserted(&self) {
        super::until("the last process is gone", || self.processes().is_empty());
    }

    /// A run of e in the workspace, with nothing on standard input.
    pub fn e(&self) -> Builder {
        self.program(env!("CARGO_BIN_EXE_e"))
    }

    /// A script for bash in the workspace.
    pub fn bash(&self, script: &str) -> Builder {
        self.program("bash").args(["-c", script])
    }

    /// A script for `sh` in the workspace, in which `$E` is e and `$M` names the model.
    pub fn sh(&self, script: &str) -> Builder {
        self.program("/bin/sh")
            .args(["-c", script])
            .env("E", env!("CARGO_BIN_EXE_e"))
            .env("M", "mock/test")
    }

    /// The terminal app with the model `mock/test` and these arguments, for `Pty::start`.
    pub fn app(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_e"));
        let path = std::env::var("PATH").expect("a path");
        command.args(["--model", "mock/test"]).args(args);
        command
            .current_dir(&self.workspace)
            .env_clear()
            .envs(self.env.iter().cloned())
            .env("TERM", "xterm-256color")
            .env("PATH", format!("{}:{path}", self.bin().display()))
            // The same path in every run: `~/space`.
            .env("HOME", self.workspace.parent().expect("a parent"));
        command
    }

    /// Puts a script in the place of a program of the machine, for the terminal app.
    pub fn helper(&self, name: &str, script: &str) {
        std::fs::create_dir_all(self.bin()).expect("a directory");
        let path = self.bin().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a program");
    }

    fn bin(&self) -> PathBuf {
        self.workspace.parent().expect("a parent").join("bin")
    }

    fn program(&self, name: &str) -> Builder {
        let mut command = Command::new(name);
        // A group of its own, so that nothing of it outlives the test.
        command.process_group(0);
        command
            .current_dir(&self.workspace)
            .env_clear()
            .envs(self.env.iter().cloned());
        Builder {
            command,
            stdin: None,
        }
    }

    /// `e -p --model mock/test` with these arguments.
    pub fn p(&self, args: &[&str]) -> Builder {
        self.e().args(["-p", "--model", "mock/test"]).args(args)
    }

    /// `e -p --json --model mock/test` with these arguments.
    pub fn json(&self, args: &[&str]) -> Builder {
        self.p(&["--json"]).args(args)
    }
}

/// A run being put together.
pub struct Builder {
    command: Command,
    stdin: Option<Stdin>,
}

enum Stdin {
    Bytes(Vec<u8>),
    Kind(Stdio),
}

impl Builder {
    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Runs it from a shell that has done `prelude` first. For after the last argument.
    pub fn after(mut self, prelude: &str) -> Self {
        let script = format!("{prelude}\nexec \"$0\" \"$@\"");
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(script).arg(self.command.get_program());
        shell.args(self.command.get_args()).env_clear();
        let set = self.command.get_envs();
        shell.envs(set.filter_map(|(name, value)| Some((name, value?))));
        if let Some(directory) = self.command.get_current_dir() {
            shell.current_dir(directory);
        }
        self.command = shell;
        self
    }

    /// Adds an argument.
    pub fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Removes a variable.
    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Starts from an empty environment.
    pub fn without_all(mut self) -> Self {
        self.command.env_clear();
        self
    }

    /// Runs in another directory.
    pub fn in_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.command.current_dir(path);
        self
    }

    /// Sends these bytes on standard input and closes it.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(Stdin::Bytes(bytes.into()));
        self
    }

    /// Uses something else as standard input.
    pub fn stdin_from(mut self, stdio: impl Into<Stdio>) -> Self {
        self.stdin = Some(Stdin::Kind(stdio.into()));
        self
    }

    /// Runs to the end.
    pub fn run(self) -> Run {
        self.start().finish()
    }

    /// Starts it.
    pub fn start(mut self) -> Running {
        self.command.stdout(Stdio::piped());
        self.spawn()
    }

    fn spawn(mut self) -> Running {
        self.command.stderr(Stdio::piped());
        let bytes = match self.stdin.take() {
            None => {
                self.command.stdin(Stdio::null());
                None
            }
            Some(Stdin::Kind(stdio)) => {
                self.command.stdin(stdio);
                None
            }
            Some(Stdin::Bytes(bytes)) => {
                self.command.stdin(Stdio::piped());
                Some(bytes)
            }
        };
        let mut child = self.command.spawn().expect("e starts");
        let mut stdin = child.stdin.take();
        if let Some(bytes) = bytes {
            let stdin = stdin.take();
            std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&bytes)));
        }
        let stdout = child.stdout.take().map(Watched::read).unwrap_or_default();
        let stderr = child.stderr.take().map(Watched::read).unwrap_or_default();
        Running {
            child,
            _stdin: stdin,
            stdout,
            stderr,
            started: Instant::now(),
        }
    }
}

/// Output that is gathered as it comes.
#[derive(Clone, Default)]
pub struct Watched(Arc<(Mutex<Gathered>, Condvar)>);

#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    open: bool,
}

impl Watched {
    fn read(mut from: impl Read + Send + 'static) -> Self {
        let watched = Self::default();
        watched.0.0.lock().expect("the lock").open = true;
        let to = watched.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 64 * 1024];
            loop {
                let read = from.read(&mut buffer).unwrap_or(0);
                let mut gathered = to.0.0.lock().expect("the lock");
                gathered.bytes.extend_from_slice(&buffer[..read]);
                gathered.open = read > 0;
                drop(gathered);
                to.0.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        watched
    }

    /// Everything so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.0.lock().expect("the lock").bytes).into_owned()
    }

    /// Waits until the text is there.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        let there = |gathered: &Gathered| String::from_utf8_lossy(&gathered.bytes).contains(text);
        let gathered = self.wait(there, text);
        let seen = String::from_utf8_lossy(&gathered.bytes);
        assert!(seen.contains(text), "no {text:?} in {seen:?}");
    }

    /// Waits for that many lines, or for the end.
    #[track_caller]
    pub fn wait_lines(&self, count: usize) {
        let lines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
        drop(self.wait(|gathered| lines(&gathered.bytes) >= count, "lines"));
    }

    /// Waits for bytes behind the first `from`; nothing at the end of the output.
    #[track_caller]
    pub fn wait_behind(&self, from: usize) -> Option<Vec<u8>> {
        let gathered = self.wait(|gathered| gathered.bytes.len() > from, "more");
        let bytes = gathered.bytes.get(from..).unwrap_or_default();
        (!bytes.is_empty()).then(|| bytes.to_vec())
    }

    #[track_caller]
    fn wait_end(&self) -> Vec<u8> {
        std::mem::take(&mut self.wait(|_| false, "end").bytes)
    }

    /// Waits until that holds, or for the end of the output.
    #[track_caller]
    fn wait(&self, until: impl Fn(&Gathered) -> bool, what: &str) -> MutexGuard<'_, Gathered> {
        let (gathered, changed) = &*self.0;
        let gathered = gathered.lock().expect("the lock");
        let waits = |gathered: &mut Gathered| gathered.open && !until(gathered);
        let (gathered, timeout) = changed
            .wait_timeout_while(gathered, PATIENCE, waits)
            .expect("the lock");
        if timeout.timed_out() {
            let start = gathered.bytes.len().saturating_sub(4_000);
            let seen = String::from_utf8_lossy(&gathered.bytes[start..]);
            panic!("no {what:?} in what ends with {seen:?}");
        }
        gathered
    }
}

/// A run on its way. Dropping it kills it.
pub struct Running {
    child: Child,
    /// The other end of a pipe that nobody writes to, open as long as this.
    _stdin: Option<ChildStdin>,
    /// Standard output as it comes.
    pub stdout: Watched,
    /// Standard error as it comes.
    pub stderr: Watched,
    started: Instant,
}

impl Running {
    /// The process id.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Sends a signal, by its name for `kill`.
    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .expect("kill runs");
        assert!(sent.success());
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a status").is_none()
    }

    /// Waits for the end.
    pub fn finish(mut self) -> Run {
        let until = Instant::now() + PATIENCE + PATIENCE;
        let pid = self.pid();
        // A watchdog instead of a poll: it kills what does not end, and the status tells.
        let (done, watch) = std::sync::mpsc::channel::<()>();
        let watchdog = std::thread::spawn(move || {
            let left = until.saturating_duration_since(Instant::now());
            if watch.recv_timeout(left) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let _ = Command::new("kill")
                    .args(["-KILL", &pid.to_string()])
                    .status();
            }
        });
        let status = self.child.wait().expect("a status");
        let elapsed = self.started.elapsed();
        drop(done);
        watchdog.join().expect("the watchdog");
        let status = status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let stdout = self.stdout.wait_end();
        let stderr = String::from_utf8_lossy(&self.stderr.wait_end()).into_owned();
        assert_ne!(
            status,
            137,
            "e did not end: {:?} {stderr:?}",
            String::from_utf8_lossy(&stdout)
        );
        Run {
            status,
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr,
            elapsed,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() || self.is_running() {
            let group = format!("-{}", self.pid());
            let _ = Command::new("kill")
                .args(["-KILL", "--", &group])
                .stderr(Stdio::null())
                .status();
        }
        let _ = self.child.wait();
    }
}

/// A finished run.
#[derive(Debug)]
pub struct Run {
    /// The exit status; 128 + n after signal n.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Wall time.
    pub elapsed: Duration,
}

impl Run {
    /// Asserts the status and gives the run back.
    #[track_caller]
    pub fn ends_with(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The JSON lines of standard output, the result line included.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let parse =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The events of one type.
    #[track_caller]
    pub fn events(&self, kind: &str) -> Vec<Value> {
        self.lines()
            .into_iter()
            .filter(|line| line["type"] == kind)
            .collect()
    }

    /// The result line, which is the last.
    #[track_caller]
    pub fn result(&self) -> Value {
        let last = self
            .lines()
            .pop()
            .unwrap_or_else(|| panic!("no output: {self:?}"));
        assert_eq!(last["type"], "result", "{self:?}");
        last
    }
}
