//! The languages of the tint, one row each.

use crate::tui::style::Token;

/// What the lexer knows about a language.
#[derive(Debug)]
pub struct Language {
    /// Names in code fences, lower case.
    pub names: &'static [&'static str],
    /// What begins a comment that lasts to the end of the line.
    pub comments: &'static [&'static str],
    /// Comments and strings with two ends; the first that matches counts.
    pub spans: &'static [Delimited],
    /// Keywords, separated by blanks.
    pub keywords: &'static str,
    /// Keywords are written in any case.
    pub folds: bool,
    /// Lines that are of one colour, by how they begin.
    pub lines: &'static [(&'static str, Token)],
}

/// A comment or string with an opening and a closing.
#[derive(Debug)]
pub struct Delimited {
    pub open: &'static str,
    pub close: &'static str,
    /// A backslash takes the next character along.
    pub escapes: bool,
    /// It may go on over the end of a line.
    pub lasts: bool,
    /// It holds one character or one escape; otherwise it is none (`'a` in Rust).
    pub single: bool,
    pub token: Token,
}

impl Language {
    /// Whether a word is a keyword.
    pub fn is_keyword(&self, word: &str) -> bool {
        let same = |known: &str| match self.folds {
            true => known.eq_ignore_ascii_case(word),
            false => known == word,
        };
        self.keywords.split(' ').any(same)
    }
}

const fn span(open: &'static str, close: &'static str, escapes: bool, lasts: bool) -> Delimited {
    Delimited {
        open,
        close,
        escapes,
        lasts,
        single: false,
        token: Token::SyntaxString,
    }
}

const fn comment(open: &'static str, close: &'static str) -> Delimited {
    Delimited {
        token: Token::SyntaxComment,
        ..span(open, close, false, true)
    }
}

const QUOTE: Delimited = span("\"", "\"", true, false);
const APOSTROPHE: Delimited = span("'", "'", true, false);
const C_COMMENT: Delimited = comment("/*", "*/");
const C_LIKE: &[Delimited] = &[C_COMMENT, QUOTE, APOSTROPHE];
const PLAIN: Language = Language {
    names: &[],
    comments: &[],
    spans: &[QUOTE, APOSTROPHE],
    keywords: "",
    folds: false,
    lines: &[],
};

pub const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        comments: &["//"],
        spans: &[
            C_COMMENT,
            span("r#\"", "\"#", false, true),
            span("\"", "\"", true, true),
            Delimited {
                single: true,
                ..APOSTROPHE
            },
        ],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if \
                   impl in let loop match mod move mut pub ref return self Self static struct super \
                   trait true type unsafe use where while",
        ..PLAIN
    },
    Language {
        names: &["python", "py", "python3"],
        comments: &["#"],
        spans: &[
            span("\"\"\"", "\"\"\"", true, true),
            span("'''", "'''", true, true),
            QUOTE,
            APOSTROPHE,
        ],
        keywords: "and as assert async await break case class continue def del elif else except \
                   False finally for from global if import in is lambda match None nonlocal not or \
                   pass raise return self True try while with yield",
        ..PLAIN
    },
    Language {
        names: &["javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx"],
        comments: &["//"],
        spans: &[C_COMMENT, QUOTE, APOSTROPHE, span("`", "`", true, true)],
        keywords: "abstract as async await break case catch class const continue default delete do \
                   else enum export extends false finally for from function if implements import in \
                   instanceof interface let new null of private protected public readonly return \
                   static super switch this throw true try type typeof undefined var void while yield",
        ..PLAIN
    },
    Language {
        names: &["go", "golang"],
        comments: &["//"],
        spans: &[C_COMMENT, QUOTE, APOSTROPHE, span("`", "`", false, true)],
        keywords: "break case chan const continue default defer else fallthrough false for func go \
                   goto if import interface map nil package range return select struct switch true \
                   type var",
        ..PLAIN
    },
    Language {
        names: &["c", "h", "cpp", "c++", "cc", "hpp", "cxx"],
        comments: &["//"],
        spans: C_LIKE,
        keywords: "auto bool break case catch char class const constexpr continue default delete do \
                   double else enum extern false float for if inline int long namespace new nullptr \
                   operator override private protected public return short signed sizeof static \
                   struct switch template this throw true try typedef typename union unsigned using \
                   virtual void volatile while",
        ..PLAIN
    },
    Language {
        names: &[
            "java", "kotlin", "kt", "c#", "csharp", "cs", "swift", "scala",
        ],
        comments: &["//"],
        spans: C_LIKE,
        keywords: "abstract as boolean break byte case catch char class const continue default do \
                   double else enum extends false final finally float for fun func if implements \
                   import in instanceof int interface internal is let long namespace new null object \
                   override package private protected public return sealed short static struct super \
                   switch this throw throws true try using val var void volatile when while",
        ..PLAIN
    },
    Language {
        names: &["sh", "bash", "shell", "zsh", "console", "fish"],
        comments: &["#"],
        spans: &[span("\"", "\"", true, true), span("'", "'", false, true)],
        keywords: "case do done elif else esac exit export fi for function if in local return set \
                   then until while",
        ..PLAIN
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl"],
        comments: &["//"],
        spans: &[C_COMMENT, QUOTE],
        keywords: "true false null",
        ..PLAIN
    },
    Language {
        names: &["toml", "ini", "cfg"],
        comments: &["#", ";"],
        spans: &[
            span("\"\"\"", "\"\"\"", true, true),
            span("'''", "'''", false, true),
            QUOTE,
            span("'", "'", false, false),
        ],
        keywords: "true false",
        ..PLAIN
    },
    Language {
        names: &["yaml", "yml"],
        comments: &["#"],
        keywords: "true false null yes no on off",
        ..PLAIN
    },
    Language {
        names: &["html", "xml", "svg", "vue"],
        spans: &[comment("<!--", "-->"), QUOTE, APOSTROPHE],
        ..PLAIN
    },
    Language {
        names: &["css", "scss", "less"],
        comments: &["//"],
        spans: C_LIKE,
        keywords: "import media keyframes important inherit initial none auto var from to and not",
        ..PLAIN
    },
    Language {
        names: &["sql", "sqlite", "postgres", "mysql"],
        comments: &["--"],
        spans: &[C_COMMENT, span("'", "'", false, true), QUOTE],
        keywords: "add all alter and as asc begin between by case commit create default delete desc \
                   distinct drop else end exists foreign from full group having if in index inner \
                   insert into is join key left like limit not null offset on or order outer primary \
                   references right rollback select set table then union unique update values view \
                   when where with",
        folds: true,
        ..PLAIN
    },
    Language {
        names: &["diff", "patch"],
        spans: &[],
        lines: &[
            ("+", Token::ToolDiffAdded),
            ("-", Token::ToolDiffRemoved),
            ("@@", Token::SyntaxComment),
            ("diff ", Token::SyntaxKeyword),
        ],
        ..PLAIN
    },
    Language {
        names: &["markdown", "md"],
        spans: &[span("`", "`", false, false), comment("<!--", "-->")],
        lines: &[
            ("#", Token::SyntaxKeyword),
            (">", Token::SyntaxComment),
            ("```", Token::SyntaxComment),
        ],
        ..PLAIN
    },
];
