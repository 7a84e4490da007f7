//! What views say about text: spans with a meaning, in rows. The theme turns meanings into colours
//! when a frame is written; nothing above it names one.

use std::sync::Arc;

use crate::text::width;

/// A colour that a theme names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Token {
    /// `accent`
    Accent,
    /// `border`
    Border,
    /// `borderAccent`
    BorderAccent,
    /// `borderMuted`
    BorderMuted,
    /// `success`
    Success,
    /// `error`
    Error,
    /// `warning`
    Warning,
    /// `muted`
    Muted,
    /// `dim`
    Dim,
    /// `text`
    Text,
    /// `toolDetailRail`
    ToolDetailRail,
    /// `thinkingText`
    ThinkingText,
    /// `selectedBg`
    SelectedBg,
    /// `selectedText`
    SelectedText,
    /// `scrollbarThumb`
    ScrollbarThumb,
    /// `searchMatchBg`
    SearchMatchBg,
    /// `searchMatchText`
    SearchMatchText,
    /// `userMessageBg`
    UserMessageBg,
    /// `userMessageText`
    UserMessageText,
    /// `attachmentText`
    AttachmentText,
    /// `customMessageBg`
    CustomMessageBg,
    /// `customMessageText`
    CustomMessageText,
    /// `customMessageLabel`
    CustomMessageLabel,
    /// `toolPendingBg`
    ToolPendingBg,
    /// `toolSuccessBg`
    ToolSuccessBg,
    /// `toolErrorBg`
    ToolErrorBg,
    /// `toolTitle`
    ToolTitle,
    /// `toolOutput`
    ToolOutput,
    /// `mdHeading`
    MdHeading,
    /// `mdLink`
    MdLink,
    /// `mdLinkUrl`
    MdLinkUrl,
    /// `mdCode`
    MdCode,
    /// `mdCodeBlock`
    MdCodeBlock,
    /// `mdCodeBlockBorder`
    MdCodeBlockBorder,
    /// `mdQuote`
    MdQuote,
    /// `mdQuoteBorder`
    MdQuoteBorder,
    /// `mdHr`
    MdHr,
    /// `mdListBullet`
    MdListBullet,
    /// `toolDiffAdded`
    ToolDiffAdded,
    /// `toolDiffRemoved`
    ToolDiffRemoved,
    /// `toolDiffContext`
    ToolDiffContext,
    /// `toolDiffAddedMarker`
    ToolDiffAddedMarker,
    /// `toolDiffRemovedMarker`
    ToolDiffRemovedMarker,
    /// `syntaxComment`
    SyntaxComment,
    /// `syntaxKeyword`
    SyntaxKeyword,
    /// `syntaxFunction`
    SyntaxFunction,
    /// `syntaxVariable`
    SyntaxVariable,
    /// `syntaxString`
    SyntaxString,
    /// `syntaxNumber`
    SyntaxNumber,
    /// `syntaxType`
    SyntaxType,
    /// `syntaxOperator`
    SyntaxOperator,
    /// `syntaxPunctuation`
    SyntaxPunctuation,
    /// `thinkingOff`
    ThinkingOff,
    /// `thinkingMinimal`
    ThinkingMinimal,
    /// `thinkingLow`
    ThinkingLow,
    /// `thinkingMedium`
    ThinkingMedium,
    /// `thinkingHigh`
    ThinkingHigh,
    /// `thinkingXhigh`
    ThinkingXhigh,
    /// `thinkingMax`
    ThinkingMax,
    /// `bashMode`
    BashMode,
}

impl Token {
    /// Every token.
    pub const ALL: &'static [Token] = &[
        Token::Accent,
        Token::Border,
        Token::BorderAccent,
        Token::BorderMuted,
        Token::Success,
        Token::Error,
        Token::Warning,
        Token::Muted,
        Token::Dim,
        Token::Text,
        Token::ToolDetailRail,
        Token::ThinkingText,
        Token::SelectedBg,
        Token::SelectedText,
        Token::ScrollbarThumb,
        Token::SearchMatchBg,
        Token::SearchMatchText,
        Token::UserMessageBg,
        Token::UserMessageText,
        Token::AttachmentText,
        Token::CustomMessageBg,
        Token::CustomMessageText,
        Token::CustomMessageLabel,
        Token::ToolPendingBg,
        Token::ToolSuccessBg,
        Token::ToolErrorBg,
        Token::ToolTitle,
        Token::ToolOutput,
        Token::MdHeading,
        Token::MdLink,
        Token::MdLinkUrl,
        Token::MdCode,
        Token::MdCodeBlock,
        Token::MdCodeBlockBorder,
        Token::MdQuote,
        Token::MdQuoteBorder,
        Token::MdHr,
        Token::MdListBullet,
        Token::ToolDiffAdded,
        Token::ToolDiffRemoved,
        Token::ToolDiffContext,
        Token::ToolDiffAddedMarker,
        Token::ToolDiffRemovedMarker,
        Token::SyntaxComment,
        Token::SyntaxKeyword,
        Token::SyntaxFunction,
        Token::SyntaxVariable,
        Token::SyntaxString,
        Token::SyntaxNumber,
        Token::SyntaxType,
        Token::SyntaxOperator,
        Token::SyntaxPunctuation,
        Token::ThinkingOff,
        Token::ThinkingMinimal,
        Token::ThinkingLow,
        Token::ThinkingMedium,
        Token::ThinkingHigh,
        Token::ThinkingXhigh,
        Token::ThinkingMax,
        Token::BashMode,
    ];

    /// Its name in a theme file and in the spans of extensions.
    pub fn name(self) -> &'static str {
        match self {
            Token::Accent => "accent",
            Token::Border => "border",
            Token::BorderAccent => "borderAccent",
            Token::BorderMuted => "borderMuted",
            Token::Success => "success",
            Token::Error => "error",
            Token::Warning => "warning",
            Token::Muted => "muted",
            Token::Dim => "dim",
            Token::Text => "text",
            Token::ToolDetailRail => "toolDetailRail",
            Token::ThinkingText => "thinkingText",
            Token::SelectedBg => "selectedBg",
            Token::SelectedText => "selectedText",
            Token::ScrollbarThumb => "scrollbarThumb",
            Token::SearchMatchBg => "searchMatchBg",
            Token::SearchMatchText => "searchMatchText",
            Token::UserMessageBg => "userMessageBg",
            Token::UserMessageText => "userMessageText",
            Token::AttachmentText => "attachmentText",
            Token::CustomMessageBg => "customMessageBg",
            Token::CustomMessageText => "customMessageText",
            Token::CustomMessageLabel => "customMessageLabel",
            Token::ToolPendingBg => "toolPendingBg",
            Token::ToolSuccessBg => "toolSuccessBg",
            Token::ToolErrorBg => "toolErrorBg",
            Token::ToolTitle => "toolTitle",
            Token::ToolOutput => "toolOutput",
            Token::MdHeading => "mdHeading",
            Token::MdLink => "mdLink",
            Token::MdLinkUrl => "mdLinkUrl",
            Token::MdCode => "mdCode",
            Token::MdCodeBlock => "mdCodeBlock",
            Token::MdCodeBlockBorder => "mdCodeBlockBorder",
            Token::MdQuote => "mdQuote",
            Token::MdQuoteBorder => "mdQuoteBorder",
            Token::MdHr => "mdHr",
            Token::MdListBullet => "mdListBullet",
            Token::ToolDiffAdded => "toolDiffAdded",
            Token::ToolDiffRemoved => "toolDiffRemoved",
            Token::ToolDiffContext => "toolDiffContext",
            Token::ToolDiffAddedMarker => "toolDiffAddedMarker",
            Token::ToolDiffRemovedMarker => "toolDiffRemovedMarker",
            Token::SyntaxComment => "syntaxComment",
            Token::SyntaxKeyword => "syntaxKeyword",
            Token::SyntaxFunction => "syntaxFunction",
            Token::SyntaxVariable => "syntaxVariable",
            Token::SyntaxString => "syntaxString",
            Token::SyntaxNumber => "syntaxNumber",
            Token::SyntaxType => "syntaxType",
            Token::SyntaxOperator => "syntaxOperator",
            Token::SyntaxPunctuation => "syntaxPunctuation",
            Token::ThinkingOff => "thinkingOff",
            Token::ThinkingMinimal => "thinkingMinimal",
            Token::ThinkingLow => "thinkingLow",
            Token::ThinkingMedium => "thinkingMedium",
            Token::ThinkingHigh => "thinkingHigh",
            Token::ThinkingXhigh => "thinkingXhigh",
            Token::ThinkingMax => "thinkingMax",
            Token::BashMode => "bashMode",
        }
    }

    /// The token of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|token| token.name() == name)
    }
}

/// How a span looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Its colour; the terminal's own when there is none.
    pub color: Option<Token>,
    /// What is behind it.
    pub background: Option<Token>,
    /// Bold.
    pub bold: bool,
    /// Dim, also where there are no colours.
    pub dim: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strike: bool,
    /// Foreground and background swapped.
    pub reverse: bool,
    /// Where a click leads. Clean and bounded.
    pub link: Option<Arc<str>>,
}

impl Style {
    /// Text in a colour.
    pub fn colored(token: Token) -> Self {
        Self {
            color: Some(token),
            ..Self::default()
        }
    }

    /// The same, bold.
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }
}

/// Text of one look. It is clean: no control character but what `text::sanitize` lets through,
/// and neither newline nor tab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// Its look.
    pub style: Style,
}

/// One row of a view, from the left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its spans.
    pub spans: Vec<Span>,
}

impl Row {
    /// A row of one span.
    pub fn of(text: impl Into<String>, style: Style) -> Self {
        let mut row = Self::default();
        row.push(text, style);
        row
    }

    /// Adds a span at the right.
    pub fn push(&mut self, text: impl Into<String>, style: Style) {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { text, style });
        }
    }

    /// Columns that it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }
}
