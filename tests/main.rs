//! Black-box tests: the built binary in a sealed place, against a provider that is scripted.

mod layers;
mod packaging;
mod print;
mod sessions;
mod support;
mod tools;
