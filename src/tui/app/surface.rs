//! What stands below the composer: one surface at a time.

use crate::tui::style::Row;
use crate::tui::view::trust::Trust;

/// The open surface.
#[derive(Debug)]
pub enum Surface {
    /// Whether the directory is trusted.
    Trust(Trust),
}

impl Surface {
    /// Its rows, its hint included, in at most `height` rows where that is possible.
    pub fn rows(&mut self, trust_hint: &str, columns: usize, height: usize) -> Vec<Row> {
        match self {
            Surface::Trust(trust) => trust.rows(trust_hint, columns, height),
        }
    }

    /// Whether the composer takes no keys meanwhile.
    pub fn takes_keys(&self) -> bool {
        match self {
            Surface::Trust(_) => true,
        }
    }
}
