//! The screen as rows, from the state as it is.

use std::time::Instant;

use super::turn::{Phase, seconds_left};
use super::{App, Turn};
use crate::config::layout::expand;
use crate::text::{one_line, width};
use crate::tui::figures;
use crate::tui::frame::{Caret, InlineFrame, Size};
use crate::tui::rich::clipped;
use crate::tui::style::Row;
use crate::tui::transcript::View;
use crate::tui::view::activity::{self, Activity};
use crate::tui::view::surface::{dim, divider};
use crate::tui::view::{
    queue,
    status::{self, EFFORT, widest},
};

/// Columns of a path in the status row.
const CWD: usize = 40;

/// Rows that a panel has in any case: its frame and a few lines.
const PANEL: usize = 8;

/// The rows below the transcript.
struct Below {
    rows: Vec<Row>,
    caret: Option<Caret>,
}

impl App {
    /// What the main screen shall show. Rows that have settled are in one frame only, and again
    /// when they are still on the screen, as `on_screen` of them are, and the width or a setting is
    /// another one.
    pub fn inline_frame(
        &mut self,
        size: Size,
        on_screen: usize,
        now: Instant,
        late: bool,
    ) -> InlineFrame {
        let columns = usize::from(size.columns);
        let height = usize::from(size.rows);
        let below = self.below(columns, height, now, late);
        let replace = self.transcript.take_back(on_screen, columns);
        let settled = self.transcript.settled_rows(columns);
        let room = height.saturating_sub(below.rows.len());
        self.scroll.drawn_at_end(View::chat(columns), room);
        let mut live = self.transcript.live_rows(columns, room);
        let above = live.len();
        let caret = below.caret.map(|caret| Caret {
            row: caret.row + above,
            ..caret
        });
        live.extend(below.rows);
        InlineFrame {
            replace,
            settled,
            live,
            caret,
        }
    }

    /// The conversation in a part of the screen that e has to itself, with the composer at its
    /// bottom, and where the caret is: exactly `height` rows.
    pub(super) fn conversation(
        &mut self,
        columns: usize,
        height: usize,
        now: Instant,
        late: bool,
    ) -> (Vec<Row>, Option<Caret>) {
        let Below { rows, caret } = self.below(columns, height, now, late);
        let most = rows.len().saturating_sub(height);
        let cut = caret.map_or(most, |caret| most.min(caret.row));
        let room = height.saturating_sub(rows.len());
        let view = View::chat(columns);
        let mut all = self.scroll.rows(&self.transcript, view, room);
        all.resize(room, Row::default());
        all.extend(rows.into_iter().skip(cut).take(height));
        let caret = caret.map(|caret| Caret {
            row: caret.row - cut + room,
            ..caret
        });
        (all, caret)
    }

    fn below(&mut self, columns: usize, height: usize, now: Instant, late: bool) -> Below {
        let mut above = Vec::new();
        match self.running() {
            Some(turn) => above.extend(self.activity(turn, columns, now, late)),
            None => {
                let text = self.activity_slots();
                if !text.is_empty() {
                    let label = Activity::Label {
                        text: &text,
                        lit: None,
                    };
                    above.extend(activity::rows(&label, late, columns));
                }
            }
        }
        let mut widgets = self.widgets(columns);
        if above.is_empty() && !widgets.is_empty() {
            widgets.insert(0, Row::default());
        }
        let mut rows = Vec::new();
        let attachments = self.composer.attachments();
        if above.is_empty() && widgets.is_empty() && attachments.is_some() {
            rows.push(Row::default());
        }
        rows.extend(attachments);
        match self.queue.band() {
            band if band.waiting == 0 => rows.push(Row::default()),
            band => {
                rows.push(divider(columns));
                rows.extend(queue::rows(band, columns));
            }
        }
        let mut view = self.composer.view(columns, (height / 2 + 1).max(3));
        if let Some(text) = self.field_placeholder() {
            let room = columns.saturating_sub(view.caret.1);
            view.rows[0].spans.extend(clipped(text, dim(), room).spans);
        }
        let caret = Caret {
            row: rows.len() + view.caret.0,
            column: view.caret.1,
        };
        let surface = self.surface.as_ref();
        let typed_into = surface.and_then(|surface| surface.caret(columns));
        let caret = match typed_into {
            Some((row, column)) => Caret {
                row: rows.len() + row,
                column,
            },
            None => {
                rows.extend(view.rows);
                caret
            }
        };
        let hint = self.settings.trust_scroll_hint.clone();
        let hint = hint.as_deref().unwrap_or("pgup/pgdn scroll");
        let takes_keys = match &self.surface {
            Some(surface) => surface.takes_keys(),
            None => self.extension_takes_keys(),
        };
        // Widgets give way to what has the keys, and to a part of what is only looked at.
        let room = height.saturating_sub(above.len() + rows.len());
        let is_first = self.surface.is_some() || self.has_question() || takes_keys;
        let room = match is_first {
            true => room,
            false => room.saturating_sub(widgets.len()).max(room.min(PANEL)),
        };
        match &mut self.surface {
            Some(surface) => rows.extend(surface.rows(hint, columns, room)),
            None => match self.extension_surface(columns, room) {
                Some(surface) => rows.extend(surface),
                None => {
                    rows.push(Row::default());
                    rows.push(self.status(columns, now));
                }
            },
        }
        if let Some(hint) = rows.pop() {
            rows.push(self.with_question(hint, columns));
        }
        widgets.truncate(height.saturating_sub(above.len() + rows.len()));
        above.extend(widgets);
        let caret = Caret {
            row: caret.row + above.len(),
            ..caret
        };
        above.extend(rows);
        Below {
            rows: above,
            caret: Some(caret).filter(|_| !takes_keys || typed_into.is_some()),
        }
    }

    fn activity(&self, turn: &Turn, columns: usize, now: Instant, late: bool) -> Vec<Row> {
        let label;
        let activity = match &turn.phase {
            Phase::Retrying {
                attempt,
                limit,
                at,
                reason,
            } => Activity::Retry {
                attempt: *attempt,
                limit: *limit,
                seconds: seconds_left(*at, now),
                reason,
            },
            Phase::Recovered {
                attempt,
                limit,
                until,
            } if now < *until => Activity::Recovered {
                attempt: *attempt,
                limit: *limit,
            },
            phase => {
                label = self.with_hint(turn, self.activity_text(turn, now), columns);
                let lit = (*phase != Phase::Replying).then(|| turn.is_lit(now));
                Activity::Label { text: &label, lit }
            }
        };
        activity::rows(&activity, late, columns)
    }

    fn activity_text(&self, turn: &Turn, now: Instant) -> String {
        let elapsed = now.saturating_duration_since(turn.started);
        expand(&self.layout.activity, |token| match token {
            "phase" if turn.stopping => "Stopping".into(),
            "phase" if turn.phase == Phase::Compacting => "Compacting context".into(),
            "phase" if turn.phase == Phase::Command => "Running".into(),
            "phase" => "Thinking".into(),
            "elapsed" => format!("({})", figures::clock(elapsed)),
            "tokens" if turn.phase == Phase::Command => String::new(),
            "tokens" => self.transcript.tokens().text(),
            "activity" => self.activity_slots(),
            _ => String::new(),
        })
    }

    /// What the turn is doing, and that Esc stops it, when it does and there is room to say so.
    fn with_hint(&self, turn: &Turn, text: String, columns: usize) -> String {
        let interrupts = self.surface.is_none()
            && !self.extension_takes_escape()
            && self.queue.band().editing.is_none();
        if turn.stopping || !interrupts {
            return text;
        }
        let room = columns.saturating_sub(2 + width(&text));
        text + widest(&[" · esc to interrupt", " · esc stops", ""], room)
    }

    pub(super) fn status(&self, columns: usize, now: Instant) -> Row {
        let left: Vec<String> = self
            .layout
            .status_left
            .iter()
            .map(|template| expand(template, |token| self.status_token(token)))
            .collect();
        let armed = self.armed_until.is_some_and(|until| now < until);
        let hidden = self.hidden_pane().filter(|_| !armed);
        let right = match armed {
            true => "ctrl+c again to quit".to_owned(),
            false if self.reading.is_some() => "reading the clipboard".to_owned(),
            false if hidden.is_some() => hidden.unwrap_or_default(),
            false if self.reader.is_none() && !self.scroll.follows() => self.scroll_hint(),
            false => {
                let parts = self.layout.status_right.iter();
                let parts =
                    parts.map(|template| expand(template, |token| self.status_token(token)));
                parts
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(" · ")
            }
        };
        status::row(&left, &right, columns)
    }

    fn scroll_hint(&self) -> String {
        let hint = self.settings.scroll_hint.as_deref();
        one_line(hint.unwrap_or("reading back · end to follow"), None)
    }

    fn status_token(&self, token: &str) -> String {
        let session = self.session.as_ref();
        match (token, session) {
            ("model", Some(session)) => session.selection.model.id.clone(),
            ("effort", Some(session)) => match &session.selection.effort {
                Some(effort) => format!("{EFFORT}{effort}{EFFORT}"),
                None => String::new(),
            },
            ("context", Some(session)) => {
                let window = session.selection.model.context_window;
                match (session.context_tokens * 100).checked_div(window) {
                    Some(0) | None => String::new(),
                    Some(percent) => format!("{percent}%"),
                }
            }
            ("session", Some(session)) => {
                one_line(session.name.as_deref().unwrap_or_default(), Some(CWD))
            }
            ("cwd", _) => one_line(&self.short_cwd(), Some(CWD)),
            (token, _) => self.status_slots(token),
        }
    }

    pub fn title(&self) -> String {
        let name = self
            .session
            .as_ref()
            .and_then(|session| session.name.clone());
        format!("e · {}", name.unwrap_or_else(|| self.short_cwd()))
    }

    /// The last two parts of the directory, with `~` for the person's home.
    fn short_cwd(&self) -> String {
        let home = self.process.env.path("HOME");
        let below = home
            .as_deref()
            .and_then(|home| self.workspace().strip_prefix(home).ok());
        let (prefix, path) = match below {
            Some(below) => ("~/", below),
            None => ("", self.workspace()),
        };
        let parts: Vec<_> = path
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        let last = parts[parts.len().saturating_sub(2)..].join("/");
        match prefix {
            "~/" if last.is_empty() => "~".into(),
            prefix => prefix.to_owned() + &last,
        }
    }
}
