//! What e keeps in its home between runs: settings, keys, layout, trust, skills, templates, earlier
//! prompts, and how they are read and written.
//!
//! Everything here takes an explicit [`Home`], so that two homes can live in one process. A file
//! that cannot be read costs that file: the caller gets defaults and a warning, and no read ever
//! changes a byte on disk.

pub mod build;
pub mod chord;
pub mod history;
pub mod home;
pub mod keybindings;
pub mod layout;
pub mod resources;
pub mod settings;
pub mod store;
pub mod trust;

pub use chord::Chord;
pub use home::Home;
pub use settings::Settings;
pub use store::{AUTH, SETTINGS, Status, Store, TRUST};
pub use trust::{Decision, Trust};
