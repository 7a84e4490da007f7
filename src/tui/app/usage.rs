//! `/usage`: what all sessions asked of the models, and what that cost.

use std::sync::Arc;

use super::{App, Done};
use crate::chat::Usage;
use crate::provider::{Catalog, Model};
use crate::session::{self, UsageReport};
use crate::sys::clock;
use crate::text::one_line;
use crate::tui::figures;
use crate::tui::transcript::Block;

/// The periods: their words, the hours, and how each is called. No hours are all there is.
const PERIODS: [(&[&str], Option<u64>, &str); 4] = [
    (&["24h", "day"], Some(24), "the last 24 hours"),
    (&["7d", "week"], Some(7 * 24), "the last 7 days"),
    (&["30d", "month"], Some(30 * 24), "the last 30 days"),
    (&["all"], None, "all sessions"),
];

impl App {
    /// Adds up what was used.
    pub(super) fn usage(&mut self, period: &str) {
        let word = if period.is_empty() { "7d" } else { period };
        let found = PERIODS.iter().find(|(words, ..)| words.contains(&word));
        let Some((_, hours, title)) = found else {
            return self.tell(&format!("`{word}` is no period: use 24h, 7d, 30d or all"));
        };
        let process = self.process.clone();
        self.task(move || {
            let since = hours.map_or(0, |hours| clock::now_ms().saturating_sub(hours * 3_600_000));
            match session::usage(&process.home, since) {
                Err(error) => Done::Notice(error.to_string()),
                Ok(report) => {
                    let catalog = Catalog::load(process.home.dir(), &process.env);
                    let cost = |provider: &str, model: &str, usage: &Usage| {
                        let is_it = |one: &&Arc<Model>| one.provider == provider && one.id == model;
                        let model = catalog.models().find(is_it)?;
                        Some(usage.cost(model.pricing.as_ref()?))
                    };
                    Done::Blocks(format!("Usage of {title}"), blocks(&report, cost))
                }
            }
        })
    }
}

/// The report as a table with a row that sums it up, and what is wrong with logs.
fn blocks(report: &UsageReport, cost: impl Fn(&str, &str, &Usage) -> Option<f64>) -> Vec<Block> {
    let heads = ["model", "requests", "input", "output", "cached", "cost"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let (mut requests, mut sum, mut spent) = (0, Usage::default(), None);
    let row = |name: String, requests: u64, usage: &Usage, cost: Option<f64>| {
        vec![
            name,
            requests.to_string(),
            figures::count(usage.input),
            figures::count(usage.output),
            figures::count(usage.cache_read),
            cost.map_or("-".into(), money),
        ]
    };
    for one in &report.models {
        let cost = cost(&one.provider, &one.model, &one.usage);
        let name = one_line(&format!("{}/{}", one.provider, one.model), Some(50));
        rows.push(row(name, one.requests, &one.usage, cost));
        requests += one.requests;
        sum.add(&one.usage);
        spent = cost.map(|cost| cost + spent.unwrap_or(0.0)).or(spent);
    }
    if rows.len() == 1 {
        return vec![Block::Text("nothing was used".into())];
    }
    rows.push(row("total".into(), requests, &sum, spent));
    let warnings = report.warnings.iter().take(3);
    let warnings = warnings.map(|warning| format!("warning: {}", one_line(warning, None)));
    let more = report.warnings.len().saturating_sub(3);
    let more = (more > 0).then(|| format!("{more} more logs are damaged"));
    let texts = warnings.chain(more).map(Block::Text);
    [Block::Figures(rows)].into_iter().chain(texts).collect()
}

fn money(usd: f64) -> String {
    match figures::cost(usd) {
        text if text.is_empty() => "$0".into(),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::ModelUsage;

    #[test]
    fn the_table_knows_what_it_does_not_know() {
        let used = |model: &str, requests, input| ModelUsage {
            provider: "p".into(),
            model: model.into(),
            requests,
            usage: Usage {
                input,
                ..Usage::default()
            },
        };
        let report = UsageReport {
            models: vec![used("large", 12, 9600), used("s", 1, 10)],
            warnings: vec!["`/log`: damaged".into()],
        };
        let cost = |_: &str, model: &str, _: &Usage| (model == "large").then_some(0.25);
        let blocks = |report: &UsageReport| super::blocks(report, cost);
        let [Block::Figures(rows), Block::Text(warning)] = &blocks(&report)[..] else {
            panic!("{:?}", blocks(&report));
        };
        let rows: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
        let expected = [
            "model requests input output cached cost",
            "p/large 12 9.6k 0 0 $0.2500",
            "p/s 1 10 0 0 -",
            "total 13 9.6k 0 0 $0.2500",
        ];
        assert_eq!(rows, expected);
        assert_eq!(warning, "warning: `/log`: damaged");
        let nothing = [Block::Text("nothing was used".into())];
        assert_eq!(blocks(&UsageReport::default()), nothing);
    }
}
