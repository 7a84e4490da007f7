//! `e rpc` as its clients see it: methods, events, order, bad input, and every way to its end.

mod container;
mod end;
mod examples;
mod limits;
mod lines;
mod methods;
mod oneshot;
mod order;
mod sessions;
mod slow;
mod turns;
