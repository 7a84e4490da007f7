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

use super::flags::{CommandId, FLAGS, FlagId};
use super::parse::{ParseFailure, is_given, named_command};
use crate::config::chord::Chord;
use crate::config::{Home, Settings};
use crate::error::{Error, Result, io_text};
use crate::extension::{
    HookKind, Host, Launch, Reserved, Serves, StartupAnswer, Tap, discover, flags,
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
}

/// What a command line wants of extensions, as far as it can be told before they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Nothing,
    /// Their flags, for the help text.
    Declarations,
    Everything(Serves),
}

/// Starts the extensions and lets them have their say. Returns only if e goes on in this process.
pub fn start(argv: Vec<OsString>, mut env: Env) -> Result<Started, ParseFailure> {
    let was_relaunched = env.get(RELAUNCHED).is_some();
    env.remove(RELAUNCHED);
    let wanted = wanted(&argv);
    let cwd = std::env::current_dir().unwrap_or_default();
    let mut extensions = match wanted {
        Wanted::Nothing => Host::none(),
        Wanted::Declarations => launch(&env, &cwd, Serves::default(), None),
        Wanted::Everything(serves) => launch(&env, &cwd, serves, None),
    };
    if extensions.is_empty() || wanted == Wanted::Declarations {
        return Ok(Started {
            argv,
            env,
            extensions,
        });
    }
    let failed = |error: Error, argv: &[OsString]| ParseFailure {
        error,
        print: is_given(argv, FlagId::Print),
        json: is_given(argv, FlagId::Json),
    };
    match hooks(argv.clone(), env, &cwd, was_relaunched, &mut extensions) {
        Ok((rest, env)) => Ok(Started {
            argv: rest,
            env,
            extensions,
        }),
        Err(error) => Err(failed(error, &argv)),
    }
}

/// Starts the extensions of a home and waits until they are ready.
pub fn launch(env: &Env, cwd: &Path, serves: Serves, tap: Option<Tap>) -> Host {
    let home = Home::locate(env, cwd);
    let directories: Vec<PathBuf> = home
        .dir()
        .map(|dir| dir.join("extensions"))
        .into_iter()
        .collect();
    let (files, warnings) = discover::find(&directories);
    if files.is_empty() && warnings.is_empty() {
        return Host::none();
    }
    let mut host = Host::launch(Launch {
        files,
        cwd,
        env,
        config: Settings::extensions(&home),
        serves,
        tap,
    });
    warnings
        .into_iter()
        .for_each(|warning| host.add_notice(warning));
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

fn wanted(argv: &[OsString]) -> Wanted {
    let end = argv.iter().position(|arg| arg == "--");
    let before = &argv[..end.unwrap_or(argv.len())];
    let given = |id| is_given(before, id);
    if given(FlagId::NoExtensions) || given(FlagId::Version) || given(FlagId::Generate) {
        return Wanted::Nothing;
    }
    if given(FlagId::Help) {
        return Wanted::Declarations;
    }
    if given(FlagId::Print) {
        return Wanted::Everything(Serves {
            ui: false,
            session: true,
        });
    }
    // What manages e must work with the worst of extensions.
    match named_command(before)
        .filter(|_| end.is_none())
        .map(|command| command.id)
    {
        Some(CommandId::Help) => Wanted::Declarations,
        Some(CommandId::Rpc) => Wanted::Everything(Serves {
            ui: true,
            session: false,
        }),
        Some(_) => Wanted::Nothing,
        None => Wanted::Everything(Serves {
            ui: true,
            session: true,
        }),
    }
}

/// Tells the flags, runs the startup hooks, and takes the flags out of the command line.
fn hooks(
    mut argv: Vec<OsString>,
    mut env: Env,
    cwd: &Path,
    was_relaunched: bool,
    host: &mut Host,
) -> Result<(Vec<OsString>, Env)> {
    let registry = host.registry().clone();
    let options: Vec<&str> = options().collect();
    let parse = |argv: &[OsString]| {
        let declared = registry.flags.iter().map(|flag| &flag.item);
        flags::parse(argv, declared, &options)
    };
    host.tell_flags(&parse(&argv).to_json(), Instant::now());
    for id in host.with_hook(HookKind::Startup) {
        let params = json!({
            "cwd": cwd.to_string_lossy(),
            "argv": argv.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>(),
            "flags": parse(&argv).to_json(),
        });
        let method = HookKind::Startup.method();
        let ticket = host.call(id, method, &params, HOOK, Instant::now());
        let answer = host
            .wait_for(ticket)
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
            if was_relaunched {
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
            return Err(replace_process(&argv, &env, &cwd.join(relaunch.cwd), host));
        }
    }
    Ok((parse(&argv).rest, env))
}

fn change(env: &mut Env, name: String, value: Option<String>) {
    match value {
        Some(value) => env.set(name, value),
        None => env.remove(&name),
    }
}

/// Starts the same e in another directory, in the place of this one. Returns why it could not.
fn replace_process(argv: &[OsString], env: &Env, cwd: &Path, host: &mut Host) -> Error {
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
