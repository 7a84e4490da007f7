//! What extensions do to a launch, before e reads its own arguments: their flags, their startup
//! hooks, another environment, a start somewhere else.
//!
//! A startup hook that fails stops the launch. Its flags would otherwise end up in the prompt, and
//! whoever typed them believes that they were obeyed.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::flags::{CommandId, FLAGS, Flag, FlagId};
use super::parse::{ParseFailure, is_given, named_command};
use super::trace::{self, Trace};
use crate::config::chord::Chord;
use crate::config::{Home, Settings};
use crate::error::{Error, Result, io_text};
use crate::extension::discover::Found;
use crate::extension::{
    ExtensionId, HookKind, Host, Launch, Registry, Reserved, Serves, StartupAnswer, Tap, discover,
    flags,
};
use crate::sys::Env;
use crate::tui::command_names;

/// How long a startup hook may take.
const HOOK: Duration = Duration::from_secs(5);
/// Set for a relaunched e, which is not relaunched again. No child sees it.
const RELAUNCHED: &str = "E_RELAUNCHED";

/// A launch as the extensions left it.
pub struct Started {
    /// What is left for e to read, without the program's name.
    pub argv: Vec<OsString>,
    /// The environment.
    pub env: Env,
    /// The extensions, started; none where none are wanted.
    pub extensions: Host,
    /// Starts them once more.
    pub again: Again,
}

/// How the extensions of this run are started.
pub struct Again {
    argv: Vec<OsString>,
    run: Run,
}

impl Again {
    /// Starts the extensions anew and tells them their flags; the launch is over for their startup
    /// hooks.
    pub fn launch(&self, env: &Env) -> Host {
        let Wanted::Everything(serves) = wanted(&self.argv, self.run.trace.is_some()) else {
            return Host::none();
        };
        let run = Run {
            cwd: self.run.cwd.clone(),
            trace: self.run.trace.clone(),
            // The trace goes on behind what it holds already.
            was_relaunched: true,
        };
        match run.launch(&self.argv, env, serves) {
            Ok(mut host) => {
                let flags = flags_of(&self.argv, host.registry()).to_json();
                host.tell_flags(&flags, Instant::now());
                host
            }
            Err(error) => {
                let mut host = Host::none();
                host.add_notice(error.to_string());
                host
            }
        }
    }
}

/// What a command line wants of extensions, as far as it can be told before they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Nothing,
    /// Their flags: for the help text, or because some on the command line may be theirs.
    Declarations,
    Everything(Serves),
}

/// Starts the extensions and lets them have their say. Returns only if e goes on in this process.
pub fn start(argv: Vec<OsString>, mut env: Env) -> Result<Started, ParseFailure> {
    let was_relaunched = env.get(RELAUNCHED).is_some();
    env.remove(RELAUNCHED);
    let failed = |error: Error, argv: &[OsString]| ParseFailure {
        error,
        print: is_given(argv, FlagId::Print),
        json: is_given(argv, FlagId::Json),
    };
    let (trace, argv) = Trace::take(&argv).map_err(|error| failed(error, &[]))?;
    let cwd = std::env::current_dir().unwrap_or_default();
    let run = Run {
        cwd,
        trace,
        was_relaunched,
    };
    match run.start(argv, env) {
        Ok(started) => Ok(started),
        Err(error) => Err(failed(error, argv)),
    }
}

/// What a launch cannot change.
struct Run {
    cwd: PathBuf,
    trace: Option<Trace>,
    was_relaunched: bool,
}

impl Run {
    fn start(self, argv: &[OsString], env: Env) -> Result<Started> {
        let wanted = wanted(argv, self.trace.is_some());
        let mut extensions = match wanted {
            Wanted::Nothing => Host::none(),
            Wanted::Declarations => self.launch(argv, &env, Serves::default())?,
            Wanted::Everything(serves) => self.launch(argv, &env, serves)?,
        };
        let typed = argv.to_vec();
        let (argv, env) = match wanted {
            Wanted::Everything(_) if !extensions.is_empty() => {
                self.hooks(argv.to_vec(), env, &mut extensions)?
            }
            _ if self.trace.is_some() => {
                return Err(trace::usage(
                    "there is nothing to trace: this command starts no extensions",
                ));
            }
            Wanted::Declarations => (flags_of(argv, extensions.registry()).rest, env),
            _ => (argv.to_vec(), env),
        };
        Ok(Started {
            argv,
            env,
            extensions,
            again: Again {
                argv: typed,
                run: self,
            },
        })
    }

    /// Starts the extensions of the home, and the one that is traced.
    fn launch(&self, argv: &[OsString], env: &Env, serves: Serves) -> Result<Host> {
        let home = Home::locate(env, &self.cwd);
        let directories = match given(argv, FlagId::NoExtensions) {
            true => Vec::new(),
            false => directories(&home),
        };
        let (mut files, warnings) = discover::find(&directories);
        let mut tap = None;
        if let Some(trace) = &self.trace {
            // It runs once, also when it is installed.
            let real = |found: &Found| found.path.canonicalize().ok();
            files.retain(|found| real(found) != real(&trace.found));
            tap = Some(trace.tap(ExtensionId(files.len()), self.was_relaunched)?);
            files.push(trace.found.clone());
        }
        if files.is_empty() && warnings.is_empty() {
            return Ok(Host::none());
        }
        let mut host = launch(files, &home, env, &self.cwd, serves, tap);
        warnings
            .into_iter()
            .for_each(|warning| host.add_notice(warning));
        Ok(host)
    }

    /// Tells the flags, runs the startup hooks, and takes the flags out of the command line.
    fn hooks(
        &self,
        mut argv: Vec<OsString>,
        mut env: Env,
        host: &mut Host,
    ) -> Result<(Vec<OsString>, Env)> {
        let registry = host.registry().clone();
        let parse = |argv: &[OsString]| flags_of(argv, &registry);
        host.tell_flags(&parse(&argv).to_json(), Instant::now());
        for id in host.with_hook(HookKind::Startup) {
            let params = json!({
                "cwd": self.cwd.to_string_lossy(),
                "argv": argv.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>(),
                "flags": parse(&argv).to_json(),
            });
            let method = HookKind::Startup.method();
            let ticket = host.call(id, method, &params, HOOK, Instant::now());
            let answer = host
                .wait_for(id, ticket)
                .map_err(|failure| failure.to_string())
                .and_then(|answer| StartupAnswer::parse(&answer));
            let answer = answer.map_err(|why| {
                let name = host.file_name(id);
                Error::failed(format!(
                    "the startup hook of the extension {name} failed, e was not started: {why}"
                ))
                .remedy("repair or remove it, or start with `--no-extensions`")
            })?;
            if let Some(new) = answer.argv {
                argv = new.into_iter().map(OsString::from).collect();
            }
            for (name, value) in answer.env {
                change(&mut env, name, value);
            }
            if let Some(relaunch) = answer.relaunch {
                if self.was_relaunched {
                    let name = host.file_name(id).to_owned();
                    host.add_notice(format!(
                    "extension {name} asked to start e once more after a relaunch, which was not done"
                ));
                    break;
                }
                for (name, value) in relaunch.env {
                    change(&mut env, name, value);
                }
                env.set(RELAUNCHED, "1");
                let words = self.trace.iter().flat_map(Trace::argv).chain(argv);
                let cwd = self.cwd.join(relaunch.cwd);
                return Err(replace_process(words, &env, &cwd, host));
            }
        }
        Ok((parse(&argv).rest, env))
    }
}

/// The flags of the extensions on a command line.
fn flags_of(argv: &[OsString], registry: &Registry) -> flags::Parsed {
    let options: Vec<&str> = options().collect();
    let declared = registry.flags.iter().map(|flag| &flag.item);
    flags::parse(argv, declared, &options)
}

/// Where the extensions of a home are.
pub fn directories(home: &Home) -> Vec<PathBuf> {
    let dir = home.dir().map(|dir| dir.join("extensions"));
    dir.into_iter().collect()
}

/// Starts extensions and waits until they are ready.
pub fn launch(
    files: Vec<Found>,
    home: &Home,
    env: &Env,
    cwd: &Path,
    serves: Serves,
    tap: Option<Tap>,
) -> Host {
    let mut host = Host::launch(Launch {
        files,
        cwd,
        env,
        config: Settings::extensions(home),
        serves,
        tap,
    });
    let options: Vec<&str> = options().collect();
    let commands: Vec<&str> = command_names().collect();
    host.wait_until_ready(&Reserved {
        commands: &commands,
        options: &options,
        chord: |text| {
            Chord::parse_shortcut(text)
                .map(|chord| chord.to_string())
                .map_err(|error| error.to_string())
        },
    });
    host
}

/// The long names of e's own options.
fn options() -> impl Iterator<Item = &'static str> {
    FLAGS
        .iter()
        .flat_map(|flag| [Some(flag.long), flag.alias])
        .flatten()
}

/// Looks for an option before `--`.
fn given(argv: &[OsString], id: FlagId) -> bool {
    let end = argv.iter().position(|arg| arg == "--");
    is_given(&argv[..end.unwrap_or(argv.len())], id)
}

/// Whether there are options that are not e's own, on a command line without `--`.
fn has_foreign(argv: &[OsString]) -> bool {
    let names = argv
        .iter()
        .filter_map(|arg| arg.to_str()?.strip_prefix("--"));
    let mut names = names.map(|name| name.split('=').next().unwrap_or(name));
    names.any(|name| Flag::by_long(name).is_none())
}

fn wanted(argv: &[OsString], traced: bool) -> Wanted {
    let given = |id| given(argv, id);
    // Without the others, the one that is traced runs alone.
    if given(FlagId::NoExtensions) && !traced || given(FlagId::Version) || given(FlagId::Generate) {
        return Wanted::Nothing;
    }
    if given(FlagId::Help) {
        return Wanted::Declarations;
    }
    if given(FlagId::Print) {
        return Wanted::Everything(Serves::Session);
    }
    // What manages e must work with the worst of extensions.
    let is_prompt = argv.iter().any(|arg| arg == "--");
    let command = named_command(argv).filter(|_| !is_prompt);
    match command.map(|command| command.id) {
        Some(CommandId::Help) => Wanted::Declarations,
        Some(CommandId::Rpc) => Wanted::Everything(Serves::Client { answers: false }),
        Some(_) if has_foreign(argv) => Wanted::Declarations,
        Some(_) => Wanted::Nothing,
        None => Wanted::Everything(Serves::Everything),
    }
}

fn change(env: &mut Env, name: String, value: Option<String>) {
    match value {
        Some(value) => env.set(name, value),
        None => env.remove(&name),
    }
}

/// Starts the same e in another directory, in the place of this one. Returns why it could not.
fn replace_process(
    argv: impl Iterator<Item = OsString>,
    env: &Env,
    cwd: &Path,
    host: &mut Host,
) -> Error {
    std::mem::replace(host, Host::none()).shut_down();
    crate::sys::process::end_all(Duration::ZERO);
    // This names the running program also when its file was replaced.
    let running = Path::new("/proc/self/exe");
    let program = match running.exists() {
        true => running.to_path_buf(),
        false => std::env::current_exe().unwrap_or_else(|_| "e".into()),
    };
    let name = std::env::args_os().next();
    let mut command = Command::new(program);
    command.arg0(name.as_deref().unwrap_or(OsStr::new("e")));
    command
        .args(argv)
        .current_dir(cwd)
        .env_clear()
        .envs(env.iter());
    let error = command.exec();
    let message = format!(
        "e cannot be started in `{}`: {}",
        cwd.display(),
        io_text(&error)
    );
    Error::failed(message)
}
