//! `e -p` as its callers see it: arguments, output, events, exit status.

mod arguments;
mod basics;
mod home;
mod images;
mod instructions;
mod json;
mod limits;
mod network;
mod output;
mod retry;
mod sessions;
mod signals;
mod status;
mod stdin;
mod waves;
