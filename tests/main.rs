//! Black-box tests: the built binary in a sealed place, against a provider that is scripted.

mod cli;
mod config;
mod extensions;
mod layers;
mod packaging;
mod print;
mod provider;
mod rpc;
mod schemas;
mod sessions;
mod support;
mod tools;
mod tui;
