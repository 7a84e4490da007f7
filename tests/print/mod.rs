//! `e -p` as its callers see it: arguments, output, events, exit status.

mod basics;
