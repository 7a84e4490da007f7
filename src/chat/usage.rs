//! Token counters and what they cost.

/// Disjoint token counters of one request, or a sum over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens, without cache reads and writes.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens served from a cache.
    pub cache_read: u64,
    /// Input tokens written to the five-minute cache.
    pub cache_write_5m: u64,
    /// Input tokens written to the one-hour cache.
    pub cache_write_1h: u64,
}

/// Prices in USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pricing {
    /// Plain input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Cache reads; the input price when unknown.
    pub cache_read: Option<f64>,
    /// Five-minute cache writes; the input price when unknown.
    pub cache_write_5m: Option<f64>,
    /// One-hour cache writes; the input price when unknown.
    pub cache_write_1h: Option<f64>,
}

impl Usage {
    /// All that the model read: input, cache reads and cache writes.
    pub fn prompt(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write_5m)
            .saturating_add(self.cache_write_1h)
    }

    /// Adds another request's counters, saturating.
    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write_5m = self.cache_write_5m.saturating_add(other.cache_write_5m);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
    }

    /// The price of these tokens in USD.
    pub fn cost(&self, pricing: &Pricing) -> f64 {
        let rate = |rate: Option<f64>| rate.unwrap_or(pricing.input);
        (self.input as f64 * pricing.input
            + self.output as f64 * pricing.output
            + self.cache_read as f64 * rate(pricing.cache_read)
            + self.cache_write_5m as f64 * rate(pricing.cache_write_5m)
            + self.cache_write_1h as f64 * rate(pricing.cache_write_1h))
            / 1e6
    }
}
