//! The rule of surfaces that show once over all extensions: a panel, a pane. Who comes later
//! takes the place, and who had it is named so that it can be told.

use super::{Pane, Panel};
use crate::extension::registry::ExtensionId;

/// The place for one panel or one pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single<T>(Option<(ExtensionId, T)>);

impl<T> Default for Single<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Single<T> {
    /// What is shown, and whose it is.
    pub fn shown(&self) -> Option<(ExtensionId, &T)> {
        self.0.as_ref().map(|(owner, shown)| (*owner, shown))
    }

    /// Closes what `caller` shows, and nothing of another extension. Nobody needs to be told.
    pub fn close(&mut self, caller: ExtensionId) {
        self.0.take_if(|(owner, _)| *owner == caller);
    }

    /// Closes it for the person; its owner is to be told.
    pub fn dismiss(&mut self) -> Option<(ExtensionId, T)> {
        self.0.take()
    }

    /// Shows `next`. What was shown comes back when its owner is to be told: unless `next` is
    /// `caller`'s own and only draws it anew.
    fn put(
        &mut self,
        caller: ExtensionId,
        next: T,
        anew: impl Fn(&T, &T) -> bool,
    ) -> Option<(ExtensionId, T)> {
        let old = self.0.take();
        let redraw = old
            .as_ref()
            .is_some_and(|(owner, old)| *owner == caller && anew(old, &next));
        self.0 = Some((caller, next));
        old.filter(|_| !redraw)
    }
}

impl Single<Panel> {
    /// Shows a panel. The panel of another extension that it replaces comes back: its owner is
    /// to be told.
    pub fn show(&mut self, caller: ExtensionId, panel: Panel) -> Option<(ExtensionId, Panel)> {
        self.put(caller, panel, |_, _| true)
    }
}

impl Single<Pane> {
    /// Shows a pane. Another pane that it replaces comes back: its owner is to be told. One of
    /// the same extension with the same id is drawn anew.
    pub fn show(&mut self, caller: ExtensionId, pane: Pane) -> Option<(ExtensionId, Pane)> {
        self.put(caller, pane, |old, new| old.id == new.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const A: ExtensionId = ExtensionId(0);
    const B: ExtensionId = ExtensionId(1);

    #[test]
    fn only_who_lost_a_panel_is_told() {
        let panel = |title: &str| Panel::parse(&json!({"title": title})).unwrap().unwrap();
        let mut place = Single::<Panel>::default();
        assert_eq!(place.show(A, panel("1")), None);
        assert_eq!(place.show(A, panel("2")), None);
        assert_eq!(place.show(B, panel("3")), Some((A, panel("2"))));
        place.close(A);
        assert_eq!(place.shown(), Some((B, &panel("3"))));
        assert_eq!(place.dismiss(), Some((B, panel("3"))));
        assert_eq!(place.dismiss(), None);
        place.show(A, panel("4"));
        place.close(A);
        assert_eq!(place.shown(), None);
    }

    #[test]
    fn a_pane_with_another_id_is_another_pane() {
        let pane = |id: &str| {
            let params = json!({"id": id, "sections": [{"kind": "text", "body": "x"}]});
            Pane::parse(&params).unwrap().unwrap()
        };
        let mut place = Single::<Pane>::default();
        assert_eq!(place.show(A, pane("x")), None);
        assert_eq!(place.show(A, pane("x")), None);
        assert_eq!(place.show(A, pane("y")), Some((A, pane("x"))));
        assert_eq!(place.show(B, pane("y")), Some((A, pane("y"))));
    }
}
