//! From parsed markdown to rows.

use std::borrow::Cow;
use std::sync::Arc;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd, TextMergeWithOffset};

use super::code::{self, Code, RULE};
use super::link::{self, Definitions};
use super::shallow::shallow;
use super::table::Table;
use crate::text::{sanitize, width};
use crate::tui::highlight;
use crate::tui::rich::Rich;
use crate::tui::style::{Row, Style, Token};

/// Columns that nested quotes and lists leave to the text, at least.
const MIN_TEXT: usize = 8;

/// The rows of a text at a width of at least one column.
pub fn render(source: &str, columns: usize, known: &Definitions) -> Vec<Row> {
    let source = &*shallow(source);
    let mut writer = Writer {
        source,
        columns: columns.max(1),
        ..Writer::default()
    };
    for (event, range) in TextMergeWithOffset::new(link::parser(source, known).into_offset_iter()) {
        writer.event(event, range.start);
    }
    writer.rows
}

#[derive(Default)]
struct Writer<'a> {
    source: &'a str,
    columns: usize,
    rows: Vec<Row>,
    /// A blank row goes before the next one.
    gap: bool,
    levels: Vec<Level>,
    lists: Vec<List>,
    inline: Rich,
    look: Look,
    /// Language and text of the open code block.
    code: Option<(String, String)>,
    table: Option<Table>,
    in_html: bool,
}

/// A quote or a list item around the text.
struct Level {
    first: String,
    rest: String,
    token: Token,
    begun: bool,
}

#[derive(Default)]
struct List {
    next: Option<u64>,
    items: usize,
    loose: bool,
}

/// What is open around inline text.
#[derive(Default)]
struct Look {
    bold: usize,
    italic: usize,
    strike: usize,
    heading: Option<HeadingLevel>,
    /// Open links; none for one that leads nowhere.
    links: Vec<Option<Arc<str>>>,
    /// Open images: where their text begins, and their address.
    images: Vec<(usize, String)>,
}

impl<'a> Writer<'a> {
    fn event(&mut self, event: Event<'a>, at: usize) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => {
                let mut style = self.style();
                style.color = Some(Token::MdCode);
                self.inline.push(&inline_text(&text), style);
            }
            Event::Html(text) | Event::InlineHtml(text) => {
                let style = self.style();
                if self.in_html {
                    self.inline.push(&text.replace('\t', "    "), style);
                } else {
                    self.inline.push(&inline_text(&text), style);
                }
            }
            Event::SoftBreak => self.inline.push(" ", self.style()),
            // A cell is one line.
            Event::HardBreak if self.table.is_some() => self.inline.push(" ", self.style()),
            Event::HardBreak => self.inline.push("\n", self.style()),
            Event::Rule => {
                self.begin_block();
                let columns = self.room().min(RULE);
                let style = Style::dimmed(Token::MdHr);
                self.emit(vec![Row::of("─".repeat(columns), style)]);
                self.gap = true;
            }
            Event::TaskListMarker(done) => {
                if let Some(level) = self
                    .levels
                    .last_mut()
                    .filter(|level| !level.first.is_empty())
                {
                    level.first = if done { "✓ " } else { "☐ " }.to_owned();
                    level.rest = "  ".to_owned();
                }
            }
            // Dialects that `options` does not switch on.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'a>, at: usize) {
        match tag {
            Tag::Paragraph => {
                self.begin_block();
                if let Some(list) = self
                    .lists
                    .last_mut()
                    .filter(|_| self.levels.last().is_some())
                {
                    list.loose = true;
                }
            }
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.look.heading = Some(level);
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.push_level("│ ".to_owned(), "│ ".to_owned(), Token::MdQuoteBorder);
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => inline_text(&info).into_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new()));
            }
            Tag::HtmlBlock => {
                self.begin_block();
                self.in_html = true;
            }
            Tag::List(first) => {
                self.begin_block();
                self.lists.push(List {
                    next: first,
                    ..List::default()
                });
            }
            Tag::Item => self.start_item(at),
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table {
                    alignments,
                    rows: Vec::new(),
                });
            }
            Tag::TableHead => {
                self.look.bold += 1;
                self.start_table_row();
            }
            Tag::TableRow => self.start_table_row(),
            Tag::Emphasis => self.look.italic += 1,
            Tag::Strong => self.look.bold += 1,
            Tag::Strikethrough => self.look.strike += 1,
            Tag::Link { dest_url, .. } => self.look.links.push(link::target(&dest_url)),
            Tag::Image { dest_url, .. } => {
                self.look.links.push(link::target(&dest_url));
                let address = inline_text(&dest_url).into_owned();
                self.look.images.push((self.inline.text().len(), address));
            }
            // A cell begins nothing, and `options` does not switch on the other dialects.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_text(true),
            TagEnd::Heading(_) => {
                self.end_text(true);
                self.look.heading = None;
            }
            TagEnd::BlockQuote(_) => {
                self.end_text(false);
                self.levels.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => {
                self.end_text(true);
                self.in_html = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap = true;
            }
            TagEnd::Item => {
                self.end_text(false);
                if self.levels.last().is_some_and(|level| !level.begun) {
                    self.emit(vec![Row::default()]);
                }
                self.levels.pop();
            }
            TagEnd::Table => {
                let table = self.table.take().unwrap_or_default();
                let rows = table.render(self.room());
                self.emit(rows);
                self.gap = true;
            }
            TagEnd::TableHead => self.look.bold -= 1,
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                let row = self.table.as_mut().and_then(|table| table.rows.last_mut());
                row.into_iter().for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Emphasis => self.look.italic -= 1,
            TagEnd::Strong => self.look.bold -= 1,
            TagEnd::Strikethrough => self.look.strike -= 1,
            TagEnd::Link => {
                self.look.links.pop();
            }
            TagEnd::Image => {
                // An image without a text shows its address.
                let image = self.look.images.pop();
                if let Some((_, address)) = image.filter(|(at, _)| *at == self.inline.text().len())
                {
                    let style = Style {
                        color: Some(Token::MdLinkUrl),
                        ..self.style()
                    };
                    self.inline.push(&address, style);
                }
                self.look.links.pop();
            }
            _ => {}
        }
    }

    fn start_table_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn start_item(&mut self, at: usize) {
        let Some(list) = self.lists.last_mut() else {
            return;
        };
        if list.items > 0 {
            self.gap = list.loose;
        }
        list.items += 1;
        let marker = match &mut list.next {
            None => "• ".to_owned(),
            Some(next) => {
                let marker = written_number(self.source, at)
                    .map_or_else(|| format!("{next}. "), |written| format!("{written} "));
                *next = next.saturating_add(1);
                marker
            }
        };
        let rest = " ".repeat(width(&marker));
        self.push_level(marker, rest, Token::MdListBullet);
    }

    /// Enters a level; without a mark when it would leave too little to the text.
    fn push_level(&mut self, first: String, rest: String, token: Token) {
        let fits = self.room() >= width(&first) + MIN_TEXT.min(self.columns / 2);
        let mark = |mark: String| if fits { mark } else { String::new() };
        self.levels.push(Level {
            first: mark(first),
            rest: mark(rest),
            token,
            begun: false,
        });
    }

    /// Columns inside the open levels.
    fn room(&self) -> usize {
        let taken: usize = self.levels.iter().map(|level| width(&level.rest)).sum();
        self.columns.saturating_sub(taken).max(1)
    }

    /// The text of a tight list item has no paragraph around it; another block ends it.
    fn begin_block(&mut self) {
        if !self.inline.is_empty() {
            self.end_text(false);
        }
    }

    fn end_text(&mut self, gap: bool) {
        let inline = std::mem::take(&mut self.inline);
        if inline.text().trim().is_empty() {
            return;
        }
        let rows = match self.in_html {
            true => {
                let kept = inline.text().trim_end_matches('\n').len();
                let ranges = crate::text::wrap(&inline.text()[..kept], self.room(), self.room());
                inline.rows(ranges)
            }
            false => inline.wrap_prose(self.room()),
        };
        self.emit(rows);
        self.gap = gap;
    }

    fn end_code(&mut self) {
        let Some((info, lines)) = self.code.take() else {
            return;
        };
        let label = code::label(&info);
        let code = Code {
            lines: lines.into(),
            tint: highlight::language(label).map(|language| (language, Default::default())),
            opens: Some(label.into()),
            closes: true,
        };
        self.emit(code.rows(self.room()));
        self.gap = true;
    }

    fn text(&mut self, text: &str) {
        let text = inline_text(text);
        let plain = self.style();
        let is_link = !self.look.links.is_empty();
        link::split_addresses(&text, |part, is_address| {
            let style = match is_address {
                false => plain.clone(),
                true if is_link => plain.clone(),
                true => linked(plain.clone(), link::target(part)),
            };
            let color = match is_address {
                true => Some(Token::MdLinkUrl),
                false => style.color,
            };
            self.inline.push(part, Style { color, ..style });
        });
    }

    fn style(&self) -> Style {
        let quoted = self
            .levels
            .iter()
            .any(|level| level.token == Token::MdQuoteBorder);
        let mut style = Style {
            bold: self.look.bold > 0,
            italic: self.look.italic > 0,
            strike: self.look.strike > 0,
            color: quoted.then_some(Token::MdQuote),
            ..Style::default()
        };
        if let Some(level) = self.look.heading {
            // Strong words of a plain heading stand out.
            style.dim = level >= HeadingLevel::H3 && !style.bold;
            style.bold = true;
            style.underline = level == HeadingLevel::H1;
            style.color = Some(Token::MdHeading);
        }
        match self.look.links.last() {
            Some(target) => linked(style, target.clone()),
            None => style,
        }
    }

    fn emit(&mut self, rows: Vec<Row>) {
        if std::mem::take(&mut self.gap) && !self.rows.is_empty() {
            let mut blank = Row::default();
            for level in self.levels.iter().filter(|level| level.begun) {
                blank.push(level.rest.clone(), Style::dimmed(level.token));
            }
            // Blanks at the end of a row show nothing.
            while blank
                .spans
                .last()
                .is_some_and(|span| span.text.trim().is_empty())
            {
                blank.spans.pop();
            }
            self.rows.push(blank);
        }
        for content in rows {
            let mut row = Row::default();
            for level in &mut self.levels {
                let mark = if level.begun {
                    &level.rest
                } else {
                    &level.first
                };
                row.push(mark.clone(), Style::dimmed(level.token));
                level.begun = true;
            }
            row.spans.extend(content.spans);
            self.rows.push(row);
        }
    }
}

fn linked(mut style: Style, target: Option<Arc<str>>) -> Style {
    style.underline = true;
    style.color = Some(Token::MdLink);
    style.link = target;
    style
}

/// `12.` or `12)` as it stands in the source.
fn written_number(source: &str, at: usize) -> Option<&str> {
    let text = source.get(at..)?.trim_start_matches(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let delimited = matches!(text.as_bytes().get(digits), Some(b'.' | b')'));
    (digits > 0 && delimited).then(|| &text[..=digits])
}

/// Text on one line. An entity may decode to anything, an escape character included.
fn inline_text(text: &str) -> Cow<'_, str> {
    match text.chars().any(|c| c.is_control() || !c.is_ascii()) {
        true => Cow::Owned(sanitize(text).replace(['\n', '\t'], " ")),
        false => Cow::Borrowed(text),
    }
}
