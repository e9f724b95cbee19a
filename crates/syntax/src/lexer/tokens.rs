//! The lexer: which token begins with which byte, and where it ends.

use super::closing_quote::ClosingQuoteSearch;
use super::cursor::Cursor;
use crate::{Diagnostic, FileId, Span, SyntaxKind};

/// A token: its kind and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Kind of the token.
    pub kind: SyntaxKind,
    /// Offset of the first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Whether the token lacks its end (a string without closing quote); a diagnostic exists.
    pub is_broken: bool,
}

/// The tokens of a text, white space and comments included, and what is wrong with them.
pub fn tokens(file: FileId, text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        file,
        cursor: Cursor::new(text),
        diagnostics: Vec::new(),
        is_broken: false,
        closings: [None; 2],
    };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while !lexer.cursor.is_at_end() {
        let start = lexer.cursor.offset();
        lexer.is_broken = false;
        let kind = lexer.token();
        let end = lexer.cursor.offset();
        debug_assert!(end > start, "every token has a byte");
        tokens.push(Token {
            kind,
            start,
            end,
            is_broken: lexer.is_broken,
        });
    }
    (tokens, lexer.diagnostics)
}

pub(super) struct Lexer<'t> {
    pub(super) file: FileId,
    pub(super) cursor: Cursor<'t>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The token being read lacks its end.
    pub(super) is_broken: bool,
    /// Result of the last search for the closing quote of a string, for each kind of quote.
    pub(super) closings: [Option<ClosingQuoteSearch>; 2],
}

impl Lexer<'_> {
    fn token(&mut self) -> SyntaxKind {
        let start = self.cursor.offset();
        match self.cursor.first() {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => self.white_space(),
            0xEF if start == 0 && self.cursor.eat_str("\u{FEFF}") => SyntaxKind::Whitespace,
            b'/' if self.cursor.second() == b'/' => self.line_comment(),
            b'/' if self.cursor.second() == b'*' => self.block_comment(),
            b'r' if matches!(self.cursor.second(), b'"' | b'\'') => self.raw_string(),
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.word(),
            b'$' if is_word_start(self.cursor.second()) => self.word(),
            b'0'..=b'9' => self.number(),
            b'.' if self.cursor.second().is_ascii_digit() => self.number(),
            b'"' | b'\'' => self.string(),
            b'#' => self.foreign_comment(),
            b'`' => self.foreign_quotes(),
            _ => match operator(&mut self.cursor) {
                Some(kind) => kind,
                None => self.unknown(),
            },
        }
    }

    fn white_space(&mut self) -> SyntaxKind {
        self.cursor
            .eat_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C));
        SyntaxKind::Whitespace
    }

    fn line_comment(&mut self) -> SyntaxKind {
        self.cursor.eat_while(|b| b != b'\n' && b != b'\r');
        SyntaxKind::LineComment
    }

    fn block_comment(&mut self) -> SyntaxKind {
        let start = self.cursor.offset();
        match self.cursor.rest()[2..].find("*/") {
            Some(at) => self.cursor.advance(2 + at + 2),
            None => {
                self.cursor.advance(self.cursor.rest().len());
                self.is_broken = true;
                let span = Span::new(self.file, start, start + 2);
                self.diagnostics.push(
                    Diagnostic::error("unterminated-comment", span, "this comment has no end")
                        .help("close it with `*/`"),
                );
            }
        }
        SyntaxKind::BlockComment
    }

    fn word(&mut self) -> SyntaxKind {
        let rest = self.cursor.rest();
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let len = 1 + rest.bytes().skip(1).take_while(is_word).count();
        self.cursor.advance(len);
        SyntaxKind::keyword(&rest[..len]).unwrap_or(SyntaxKind::Ident)
    }

    /// `#` begins a comment in other languages: the whole line gives one message.
    fn foreign_comment(&mut self) -> SyntaxKind {
        let start = self.cursor.offset();
        let word = self.cursor.rest()[1..].trim_start();
        let help = match word {
            _ if word.starts_with("define") => {
                "a composite has constants: `param expression<int32> $n : 5;`; so has a function \
                 that returns one"
            }
            _ if word.starts_with("include") => {
                "names of other namespaces are seen after `use name.space::*;`"
            }
            _ => "a comment begins with `//`",
        };
        self.line_comment();
        let span = Span::new(self.file, start, start + 1);
        self.diagnostics
            .push(Diagnostic::error("unexpected-character", span, unknown_message("#")).help(help));
        SyntaxKind::Unknown
    }

    /// Backticks quote texts and names in other languages: what is between two gives one message.
    fn foreign_quotes(&mut self) -> SyntaxKind {
        let rest = self.cursor.rest();
        let line = rest.lines().next().unwrap_or_default();
        let closing = line.get(1..).and_then(|inner| inner.find('`'));
        match closing {
            Some(len) => self.unknown_run(len + 2, 1),
            None => self.unknown_run(1, 1),
        }
    }

    /// Takes a whole run of strange characters, so that it gives one message.
    fn unknown(&mut self) -> SyntaxKind {
        let rest = self.cursor.rest();
        let is_strange =
            |c: &char| !c.is_ascii() || matches!(c, '\0'..='\u{8}' | '\u{E}'..='\u{1F}');
        let run: usize = rest
            .chars()
            .take_while(is_strange)
            .map(char::len_utf8)
            .sum();
        let first = rest.chars().next().map_or(1, char::len_utf8);
        self.unknown_run(run.max(first), run.max(first))
    }

    /// Takes `len` bytes, the first `shown` of which are shown by the message.
    fn unknown_run(&mut self, len: usize, shown: usize) -> SyntaxKind {
        let start = self.cursor.offset();
        let text = &self.cursor.rest()[..shown];
        self.cursor.advance(len);
        let span = Span::new(self.file, start, self.cursor.offset());
        let diagnostic = Diagnostic::error("unexpected-character", span, unknown_message(text));
        self.diagnostics.push(match unknown_help(text) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
        SyntaxKind::Unknown
    }
}

fn unknown_message(text: &str) -> String {
    let visible = |c: char| match c.is_control() {
        true => c.escape_debug().to_string(),
        false => c.to_string(),
    };
    let shown: String = text.chars().take(8).map(visible).collect();
    let more = if text.chars().nth(8).is_some() {
        "..."
    } else {
        ""
    };
    match text.chars().nth(1) {
        None => format!("the character `{shown}` has no place in SPL outside strings and comments"),
        Some(_) => format!(
            "the characters `{shown}{more}` have no place in SPL outside strings and comments"
        ),
    }
}

fn unknown_help(text: &str) -> Option<&'static str> {
    Some(match text.chars().next()? {
        '\u{201C}'..='\u{201F}' | '\u{2018}'..='\u{201B}' => {
            "strings are quoted by the plain characters `\"` or `'`"
        }
        '$' => "the name of a composite's parameter follows `$` at once: `$name`",
        '`' => "strings are quoted by `\"` or `'`",
        '\\' => "a string may span lines; no line needs a backslash",
        _ => return None,
    })
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Operators by length, longest first. Every one that begins with `>` is absent but `>` itself.
fn operator(cursor: &mut Cursor) -> Option<SyntaxKind> {
    let bytes = cursor.rest().as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let (first, second, third) = (at(0), at(1), at(2));
    // In `a./*here*/b` a comment begins, and no quotient of lists.
    let is_comment = second == b'/' && matches!(third, b'*' | b'/');
    let (kind, len) = operator_of_three(first, second, third)
        .map(|kind| (kind, 3))
        .or_else(|| {
            operator_of_two(first, second)
                .filter(|_| !is_comment)
                .map(|kind| (kind, 2))
        })
        .or_else(|| operator_of_one(first).map(|kind| (kind, 1)))?;
    cursor.advance(len);
    Some(kind)
}

fn operator_of_three(first: u8, second: u8, third: u8) -> Option<SyntaxKind> {
    use SyntaxKind::*;
    Some(match &[first, second, third] {
        b"<<=" => ShlEq,
        b".<<" => DotShl,
        b".>>" => DotShr,
        b".<=" => DotLtEq,
        b".>=" => DotGtEq,
        b".==" => DotEqEq,
        b".!=" => DotBangEq,
        _ => return None,
    })
}

fn operator_of_two(first: u8, second: u8) -> Option<SyntaxKind> {
    use SyntaxKind::*;
    Some(match &[first, second] {
        b"::" => ColonColon,
        b"?:" => QuestionColon,
        b"??" => QuestionQuestion,
        b"++" => PlusPlus,
        b"--" => MinusMinus,
        b"&&" => AmpAmp,
        b"||" => PipePipe,
        b"<=" => LtEq,
        b"==" => EqEq,
        b"!=" => BangEq,
        b"<<" => Shl,
        b"+=" => PlusEq,
        b"-=" => MinusEq,
        b"*=" => StarEq,
        b"/=" => SlashEq,
        b"%=" => PercentEq,
        b"&=" => AmpEq,
        b"^=" => CaretEq,
        b"|=" => PipeEq,
        b".+" => DotPlus,
        b".-" => DotMinus,
        b".*" => DotStar,
        b"./" => DotSlash,
        b".%" => DotPercent,
        b".<" => DotLt,
        b".>" => DotGt,
        b".&" => DotAmp,
        b".|" => DotPipe,
        b".^" => DotCaret,
        _ => return None,
    })
}

fn operator_of_one(first: u8) -> Option<SyntaxKind> {
    use SyntaxKind::*;
    Some(match first {
        b'(' => LParen,
        b')' => RParen,
        b'{' => LBrace,
        b'}' => RBrace,
        b'[' => LBracket,
        b']' => RBracket,
        b',' => Comma,
        b';' => Semi,
        b':' => Colon,
        b'.' => Dot,
        b'@' => At,
        b'?' => Question,
        b'!' => Bang,
        b'~' => Tilde,
        b'+' => Plus,
        b'-' => Minus,
        b'*' => Star,
        b'/' => Slash,
        b'%' => Percent,
        b'&' => Amp,
        b'|' => Pipe,
        b'^' => Caret,
        b'<' => Lt,
        b'>' => Gt,
        b'=' => Eq,
        _ => return None,
    })
}
