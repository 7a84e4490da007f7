//! The files of e's home: what broken ones cost, and that reading never changes a byte.

mod files;
mod trust;
