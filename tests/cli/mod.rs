//! The command line around the runs: commands, options, slips, and scripts for shells.

mod commands;
mod completion;
mod ext;
mod guides;
mod options;
