//! The binary: argv in, exit status out. Everything else is in the library.

fn main() {}
