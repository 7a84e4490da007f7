//! What views say about text: spans with a meaning, in rows. The theme turns meanings into colours
//! when a frame is written; nothing above it names one.

use std::sync::Arc;

use crate::text::width;

/// The tokens, with their names in theme files and in the spans of extensions.
macro_rules! tokens {
    ($($token:ident $name:literal,)*) => {
        /// A colour that a theme names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Token {
            $(#[doc = $name] $token,)*
        }

        impl Token {
            /// Every token.
            pub const ALL: &'static [Token] = &[$(Token::$token),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Token::$token => $name,)*
                }
            }
        }
    };
}

tokens! {
    Accent "accent",
    Border "border",
    BorderAccent "borderAccent",
    BorderMuted "borderMuted",
    Success "success",
    Error "error",
    Warning "warning",
    Muted "muted",
    Dim "dim",
    Text "text",
    ToolDetailRail "toolDetailRail",
    ThinkingText "thinkingText",
    SelectedBg "selectedBg",
    SelectedText "selectedText",
    ScrollbarThumb "scrollbarThumb",
    SearchMatchBg "searchMatchBg",
    SearchMatchText "searchMatchText",
    UserMessageBg "userMessageBg",
    UserMessageText "userMessageText",
    AttachmentText "attachmentText",
    CustomMessageBg "customMessageBg",
    CustomMessageText "customMessageText",
    CustomMessageLabel "customMessageLabel",
    ToolPendingBg "toolPendingBg",
    ToolSuccessBg "toolSuccessBg",
    ToolErrorBg "toolErrorBg",
    ToolTitle "toolTitle",
    ToolOutput "toolOutput",
    MdHeading "mdHeading",
    MdLink "mdLink",
    MdLinkUrl "mdLinkUrl",
    MdCode "mdCode",
    MdCodeBlock "mdCodeBlock",
    MdCodeBlockBorder "mdCodeBlockBorder",
    MdQuote "mdQuote",
    MdQuoteBorder "mdQuoteBorder",
    MdHr "mdHr",
    MdListBullet "mdListBullet",
    ToolDiffAdded "toolDiffAdded",
    ToolDiffRemoved "toolDiffRemoved",
    ToolDiffContext "toolDiffContext",
    ToolDiffAddedMarker "toolDiffAddedMarker",
    ToolDiffRemovedMarker "toolDiffRemovedMarker",
    SyntaxComment "syntaxComment",
    SyntaxKeyword "syntaxKeyword",
    SyntaxFunction "syntaxFunction",
    SyntaxVariable "syntaxVariable",
    SyntaxString "syntaxString",
    SyntaxNumber "syntaxNumber",
    SyntaxType "syntaxType",
    SyntaxOperator "syntaxOperator",
    SyntaxPunctuation "syntaxPunctuation",
    ThinkingOff "thinkingOff",
    ThinkingMinimal "thinkingMinimal",
    ThinkingLow "thinkingLow",
    ThinkingMedium "thinkingMedium",
    ThinkingHigh "thinkingHigh",
    ThinkingXhigh "thinkingXhigh",
    ThinkingMax "thinkingMax",
    BashMode "bashMode",
}

impl Token {
    /// The token whose colour it has where it has none of its own.
    pub fn part_of(self) -> Option<Self> {
        match self {
            Token::ToolTitle => Some(Token::Muted),
            Token::SyntaxFunction
            | Token::SyntaxVariable
            | Token::SyntaxType
            | Token::SyntaxOperator
            | Token::SyntaxPunctuation => Some(Token::MdCodeBlock),
            _ => None,
        }
    }

    /// The token of an effort level.
    pub fn of_effort(level: &str) -> Option<Self> {
        let mut letters = level.chars();
        let first = letters.next()?.to_ascii_uppercase();
        Self::named(&format!("thinking{first}{}", letters.as_str()))
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
    /// Selected: in the theme's colours for that; foreground and background are swapped.
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

    /// Text in a colour, dim also where there are no colours.
    pub fn dimmed(token: Token) -> Self {
        Self {
            dim: true,
            ..Self::colored(token)
        }
    }

    /// The same on a background.
    pub fn on(mut self, token: Token) -> Self {
        self.background = Some(token);
        self
    }

    /// The same, bold.
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }
}

/// The look of hints and of what is not selected.
pub fn dim() -> Style {
    Style::dimmed(Token::Dim)
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
