//! Texts that stay: status and activity slots, and widgets above the composer.
//!
//! Every slot has one owner and maybe a key, so an extension may keep several. Slots show in the
//! order of extension names and keys; two extensions of one name keep theirs apart.

use std::collections::BTreeMap;

use super::SpanRow;
use crate::extension::registry::ExtensionId;

/// Most slots of one kind that one extension keeps.
const MAX_SLOTS: usize = 32;

/// Most widget rows over all extensions.
pub const WIDGET_ROWS: usize = 8;

/// Every slot of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// On the status row.
    pub status: SlotMap<String>,
    /// On the activity row.
    pub activity: SlotMap<String>,
    /// Above the composer.
    pub widgets: SlotMap<Vec<SpanRow>>,
}

impl Slots {
    /// Removes everything of an extension.
    pub fn clear_extension(&mut self, owner: ExtensionId) {
        self.status.clear(owner);
        self.activity.clear(owner);
        self.widgets.clear(owner);
    }

    /// The widget rows of all extensions in order, the first [`WIDGET_ROWS`].
    pub fn widget_rows(&self) -> impl Iterator<Item = &SpanRow> {
        self.widgets.values().flatten().take(WIDGET_ROWS)
    }
}

/// The slots of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotMap<T>(BTreeMap<Slot, T>);

/// What tells slots apart, in the order in which they show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    name: String,
    key: Option<String>,
    owner: ExtensionId,
}

impl<T> Default for SlotMap<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> SlotMap<T> {
    /// Fills the slot of an extension called `name`, or empties it.
    ///
    /// # Errors
    ///
    /// The extension has too many slots already.
    pub fn set(
        &mut self,
        owner: ExtensionId,
        name: &str,
        key: Option<String>,
        value: Option<T>,
    ) -> Result<(), String> {
        let name = name.to_owned();
        let slot = Slot { name, key, owner };
        let Some(value) = value else {
            self.0.remove(&slot);
            return Ok(());
        };
        let owned = self.0.keys().filter(|slot| slot.owner == owner).count();
        if owned >= MAX_SLOTS && !self.0.contains_key(&slot) {
            return Err(format!(
                "there are {MAX_SLOTS} slots already - empty one first"
            ));
        }
        self.0.insert(slot, value);
        Ok(())
    }

    /// All slots in order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    /// The slots of the extensions called `name`, in order.
    pub fn values_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a T> {
        let named = self.0.iter().filter(move |(slot, _)| slot.name == name);
        named.map(|(_, value)| value)
    }

    fn clear(&mut self, owner: ExtensionId) {
        self.0.retain(|slot, _| slot.owner != owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ExtensionId = ExtensionId(0);
    const B: ExtensionId = ExtensionId(1);

    #[test]
    fn slots_are_ordered_kept_apart_and_removed() {
        let mut slots = Slots::default();
        let mut set = |owner, name, key: Option<&str>, text: Option<&str>| {
            let key = key.map(String::from);
            slots
                .status
                .set(owner, name, key, text.map(String::from))
                .unwrap();
            slots.status.values().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(set(B, "b", None, Some("b")), "b");
        assert_eq!(set(A, "a", Some("2"), Some("a2")), "a2 b");
        assert_eq!(set(A, "a", Some("1"), Some("a1")), "a1 a2 b");
        assert_eq!(set(A, "a", None, Some("a")), "a a1 a2 b");
        assert_eq!(set(A, "a", Some("1"), Some("new")), "a new a2 b");
        assert_eq!(set(B, "a", Some("1"), Some("other")), "a new other a2 b");
        assert_eq!(set(A, "a", Some("1"), None), "a other a2 b");
        assert_eq!(set(A, "a", Some("none"), None), "a other a2 b");
        assert_eq!(
            slots.status.values_of("a").collect::<Vec<_>>(),
            ["a", "other", "a2"]
        );
        assert_eq!(slots.status.values_of("c").count(), 0);
        slots.clear_extension(A);
        assert_eq!(slots.status.values().collect::<Vec<_>>(), ["other", "b"]);
    }

    #[test]
    fn widgets_share_their_rows_and_slots_are_bounded() {
        let mut slots = Slots::default();
        for (owner, name, rows) in [(A, "a", 5), (B, "b", 5)] {
            slots
                .widgets
                .set(owner, name, None, Some(vec![SpanRow::new(); rows]))
                .unwrap();
        }
        assert_eq!(slots.widget_rows().count(), WIDGET_ROWS);
        let fill = |slots: &mut Slots, key: usize| {
            slots
                .activity
                .set(A, "a", Some(key.to_string()), Some("x".to_owned()))
        };
        for key in 0..MAX_SLOTS {
            fill(&mut slots, key).unwrap();
        }
        assert!(
            fill(&mut slots, MAX_SLOTS)
                .unwrap_err()
                .contains("32 slots")
        );
        assert_eq!(fill(&mut slots, 3), Ok(()));
        assert_eq!(
            slots.activity.set(B, "a", None, Some(String::new())),
            Ok(())
        );
    }
}
