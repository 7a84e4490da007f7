//! What stands around the transcript: activity, status, pickers, panels.
//!
//! Each is a small state with transitions that know no key, and a function from it to rows. Nothing
//! here keeps what can be computed.

pub mod activity;
pub mod login;
pub mod pane;
pub mod panel;
pub mod picker;
pub mod question;
pub mod queue;
pub mod settings;
pub mod status;
pub mod surface;
pub mod trust;
pub mod widget;
