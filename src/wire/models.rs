//! The models that can be used, as a listing.

use serde_json::{Value, json};

use crate::config::Settings;
use crate::provider::Catalog;

/// The default and all models, in the order of listings.
pub fn models(catalog: &Catalog, settings: &Settings) -> Value {
    let models: Vec<_> = catalog
        .usable()
        .map(|model| {
            json!({
                "model": model.slug(),
                "provider": model.provider,
                "id": model.id,
                "effort": model.effort,
                "image_input": model.image_input,
                "tools": model.supports_tools,
                "context_window": model.context_window,
            })
        })
        .collect();
    json!({"default": default_model(catalog, settings), "models": models})
}

/// The model of a run that names none.
pub fn default_model(catalog: &Catalog, settings: &Settings) -> Option<String> {
    let (model, _) = catalog.default_model(settings.model.as_deref()).ok()?;
    Some(model.slug())
}
