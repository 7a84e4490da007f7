//! A reply while it arrives: what is settled leaves as chunks, a short tail stays.
//!
//! A block is settled when another one began on a complete line after it; lines of a code block
//! are settled as they come. So each part of a reply is parsed a few times at most, however long
//! the reply grows. One thing that comes later may refer back: a definition of a link.

use pulldown_cmark::{CodeBlockKind, Event, Tag};

use super::code::{Code, label, state_after};
use super::link::{self, Definitions};
use super::shallow::shallow;
use super::writer::render;
use crate::text::floor_char;
use crate::tui::highlight::{self, Language, State};
use crate::tui::style::Row;

/// Longest tail, in bytes. A block that is longer is cut at a line and goes on as another one.
const MAX_TAIL: usize = 64 * 1024;
/// Lines of code in one chunk.
const CODE_LINES: usize = 16;

/// A settled part of a reply.
#[derive(Clone, Debug)]
pub enum Chunk {
    /// Markdown that stands for itself: whole blocks.
    Text(Box<str>),
    /// Lines of a code block.
    Code(Code),
}

impl Chunk {
    pub fn rows(&self, columns: usize, known: &Definitions) -> Vec<Row> {
        match self {
            Chunk::Text(text) => render(text, columns, known),
            Chunk::Code(code) => code.rows(columns),
        }
    }

    /// Bytes of its text.
    pub fn len(&self) -> usize {
        match self {
            Chunk::Text(text) => text.len(),
            Chunk::Code(code) => code.lines.len(),
        }
    }

    /// Whether it goes on where the chunk before ended, without a blank row.
    pub fn continues(&self) -> bool {
        matches!(self, Chunk::Code(Code { opens: None, .. }))
    }
}

/// A reply that is still coming.
#[derive(Clone, Debug, Default)]
pub struct Streamed {
    pub(super) rest: String,
    fence: Option<Fence>,
    known: Definitions,
    /// A line ended since the last look: something may have settled.
    line_ended: bool,
}

impl Streamed {
    /// One that knows of definitions which are yet to come.
    pub fn knowing(known: Definitions) -> Self {
        Self {
            known,
            ..Self::default()
        }
    }

    /// Bytes that have not settled.
    pub fn waiting(&self) -> usize {
        self.rest.len()
    }

    /// Adds clean text.
    pub fn push(&mut self, text: &str) {
        self.rest.push_str(text);
        self.line_ended |= text.contains('\n');
    }

    /// The link definitions so far.
    pub fn known(&self) -> &Definitions {
        &self.known
    }

    /// Whether the tail goes on inside the code block whose beginning has left.
    pub fn continues(&self) -> bool {
        self.fence.as_ref().is_some_and(|fence| !fence.opens)
    }

    /// Takes what will not change any more; with `finished` everything.
    pub fn settle(&mut self, finished: bool) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let line_ended = std::mem::take(&mut self.line_ended);
        if !line_ended && !finished && self.rest.len() <= MAX_TAIL {
            return chunks;
        }
        loop {
            let before = self.rest.len();
            match &mut self.fence {
                Some(fence) => {
                    let (taken, closed) = fence.take(&self.rest, finished, &mut chunks);
                    self.rest.drain(..taken);
                    if closed {
                        self.fence = None;
                    } else {
                        self.cut_long_line(&mut chunks);
                    }
                }
                None => {
                    self.take_blocks(finished, &mut chunks);
                    if self.fence.is_none() {
                        self.cut_long_block(&mut chunks);
                    }
                }
            }
            if self.rest.len() == before || self.rest.is_empty() {
                break;
            }
        }
        if finished {
            self.rest.clear();
            self.fence = None;
        }
        chunks
    }

    pub fn tail(&self, columns: usize) -> Vec<Row> {
        match &self.fence {
            None => render(&self.rest, columns, &self.known),
            Some(fence) => {
                let mut fence = fence.clone();
                let mut chunks = Vec::new();
                fence.take(&self.rest, true, &mut chunks);
                let rows = chunks.iter().map(|chunk| chunk.rows(columns, &self.known));
                rows.flatten().collect()
            }
        }
    }

    /// Takes the blocks of complete lines before the last one, and all of them when finished. An
    /// open code block at the end becomes `fence`.
    fn take_blocks(&mut self, finished: bool, chunks: &mut Vec<Chunk>) {
        let complete = match finished {
            true => self.rest.len(),
            false => self.rest.rfind('\n').map_or(0, |at| at + 1),
        };
        let text = &self.rest[..complete];
        let blocks = top_blocks(text, &mut self.known);
        let mut taken = 0;
        for (index, block) in blocks.iter().enumerate() {
            let next = blocks.get(index + 1).map(|next| next.start);
            let open = block
                .fence
                .as_deref()
                .and_then(|info| Fence::open(&text[block.start..], info));
            match (open, next) {
                (Some((mut fence, line)), next) => {
                    taken = block.start + line;
                    match next {
                        Some(next) => {
                            fence.take(&text[taken..next], true, chunks);
                            taken = next;
                        }
                        None => self.fence = Some(fence),
                    }
                }
                (None, Some(next)) => {
                    chunks.push(Chunk::Text(text[block.start..next].into()));
                    taken = next;
                }
                (None, None) if finished => {
                    chunks.push(Chunk::Text(text[block.start..].into()));
                    taken = complete;
                }
                (None, None) => taken = block.start,
            }
        }
        self.rest.drain(..taken);
    }

    fn cut_long_block(&mut self, chunks: &mut Vec<Chunk>) {
        if self.rest.len() <= MAX_TAIL {
            return;
        }
        let head = &self.rest[..floor_char(&self.rest, MAX_TAIL)];
        let at_line = head
            .match_indices('\n')
            .map(|(at, _)| at + 1)
            .rfind(|at| !self.rest[*at..].starts_with([' ', '\t', '\n']));
        let cut = at_line
            .or_else(|| head.rfind(['\n', ' ']).map(|at| at + 1))
            .unwrap_or(head.len());
        chunks.push(Chunk::Text(self.rest[..cut].into()));
        self.rest.drain(..cut);
    }

    fn cut_long_line(&mut self, chunks: &mut Vec<Chunk>) {
        if self.rest.len() <= MAX_TAIL {
            return;
        }
        let cut = floor_char(&self.rest, MAX_TAIL);
        if let Some(fence) = &mut self.fence {
            fence.take_line(&self.rest[..cut]);
            fence.flush(false, chunks);
        }
        self.rest.drain(..cut);
    }
}

/// A block of the outermost level.
struct Block {
    start: usize,
    /// What its fence says, when it is a fenced code block.
    fence: Option<String>,
}

fn top_blocks(text: &str, known: &mut Definitions) -> Vec<Block> {
    let text = &*shallow(text);
    let mut blocks = Vec::new();
    let empty = Definitions::default();
    let parser = link::parser(text, &empty);
    let defined = parser.reference_definitions().iter();
    known.learn(defined.map(|(name, definition)| (name, &*definition.dest)));
    let mut depth = 0usize;
    for (event, range) in parser.into_offset_iter() {
        if depth == 0 {
            let fence = match &event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => Some(info.to_string()),
                _ => None,
            };
            // Blocks begin a line; their range may leave out its blanks.
            let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
            blocks.push(Block { start, fence });
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    blocks
}

/// A fenced code block whose end has not come.
#[derive(Clone, Debug)]
struct Fence {
    marker: char,
    length: usize,
    indent: usize,
    label: Box<str>,
    language: Option<Language>,
    state: State,
    opens: bool,
    lines: String,
    count: usize,
}

impl Fence {
    /// The fence at the start of `text`, when its line is complete, and the bytes of that line.
    fn open(text: &str, info: &str) -> Option<(Self, usize)> {
        let line = text.find('\n')?;
        let indent = text.len() - text.trim_start_matches(' ').len();
        let marker = text[indent..]
            .chars()
            .next()
            .filter(|c| matches!(c, '`' | '~'))?;
        let length = text[indent..].chars().take_while(|c| *c == marker).count();
        let label = label(info);
        let fence = Self {
            marker,
            length,
            indent,
            label: crate::text::one_line(label, None).into(),
            language: highlight::language(label),
            state: State::default(),
            opens: true,
            lines: String::new(),
            count: 0,
        };
        Some((fence, line + 1))
    }

    /// Takes complete lines, in portions; with `finished` all. Says how many bytes were taken
    /// and whether the block has ended.
    fn take(&mut self, text: &str, finished: bool, chunks: &mut Vec<Chunk>) -> (usize, bool) {
        let (mut at, mut taken) = (0, 0);
        for line in text.split_inclusive('\n') {
            let complete = line.strip_suffix('\n');
            if complete.is_none() && !finished {
                break;
            }
            let content = complete.unwrap_or(line);
            at += line.len();
            if self.is_closed_by(content) {
                self.flush(true, chunks);
                return (at, true);
            }
            self.take_line(content);
            if self.count >= CODE_LINES {
                self.flush(false, chunks);
                taken = at;
            }
        }
        if finished {
            self.flush(true, chunks);
            return (at, true);
        }
        // What makes no portion yet is read again next time.
        self.lines.clear();
        self.count = 0;
        (taken, false)
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim_start_matches(' ');
        let marks = text.chars().take_while(|c| *c == self.marker).count();
        line.len() - text.len() <= 3
            && marks >= self.length
            && text[marks..].trim_matches([' ', '\t']).is_empty()
    }

    fn take_line(&mut self, line: &str) {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        self.lines.push_str(&line[blanks.min(self.indent)..]);
        self.lines.push('\n');
        self.count += 1;
    }

    fn flush(&mut self, closes: bool, chunks: &mut Vec<Chunk>) {
        let lines = std::mem::take(&mut self.lines);
        self.count = 0;
        let tint = self.language.map(|language| (language, self.state));
        if let Some(language) = self.language {
            let lines = lines.split_terminator('\n');
            self.state = lines.fold(self.state, |state, line| state_after(language, state, line));
        }
        chunks.push(Chunk::Code(Code {
            lines: lines.into(),
            tint,
            opens: self.opens.then(|| self.label.clone()),
            closes,
        }));
        self.opens = false;
    }
}
