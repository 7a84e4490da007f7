//! The commands that are not a run of the agent. Each makes a text or an error; printing is the
//! caller's business.

mod catalog;
mod doctor;
mod ext;
mod trust;
mod version;

pub use catalog::{auth, models, providers};
pub use doctor::doctor;
pub use ext::check;
pub use trust::trust;
pub use version::version;
