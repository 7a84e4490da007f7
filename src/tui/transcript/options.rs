//! What a person may set about the transcript.

/// Settings that change how entries look.
#[derive(Clone, Debug)]
pub struct Options {
    /// Reasoning is shown rather than hinted at.
    pub show_thinking: bool,
    /// Most rows of a tool's label.
    pub label_rows: usize,
    /// Rows of live output under a running command.
    pub preview_rows: usize,
    /// Completed calls of a group that are shown.
    pub history_limit: usize,
    /// Stands for hidden reasoning.
    pub thinking_hint: String,
    /// Stands for the calls that are not shown; `{count}` is their number.
    pub history_hint: String,
    /// How to see more of a group.
    pub view_hint: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            show_thinking: false,
            label_rows: 2,
            preview_rows: 5,
            history_limit: 10,
            thinking_hint: "thought for a while · ctrl+o to read".to_owned(),
            history_hint: "{count} earlier calls".to_owned(),
            view_hint: "ctrl+o to view".to_owned(),
        }
    }
}

impl Options {
    /// The same with texts that are fit to be shown: clean, of one line.
    pub(super) fn cleaned(mut self) -> Self {
        for text in [
            &mut self.thinking_hint,
            &mut self.history_hint,
            &mut self.view_hint,
        ] {
            *text = crate::text::one_line(text, None);
        }
        self
    }
}

/// How much of an entry is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The conversation: folded, previewed, hinted.
    #[default]
    Chat,
    /// The reader: everything unfolded, three rows of each detail.
    Review,
    /// The reader: everything.
    Full,
}

impl Depth {
    /// Whether this is the reader.
    pub fn is_reader(self) -> bool {
        self != Depth::Chat
    }
}

/// For what entries are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Width of the rows.
    pub columns: usize,
    /// How much is shown.
    pub depth: Depth,
}

impl View {
    /// The conversation at a width.
    pub fn chat(columns: usize) -> Self {
        Self {
            columns,
            depth: Depth::Chat,
        }
    }
}
