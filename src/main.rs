//! The binary: argv in, exit status out. Everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let argv = std::env::args_os().skip(1).collect();
    ExitCode::from(e::cli::run(argv, e::sys::Env::capture()))
}
