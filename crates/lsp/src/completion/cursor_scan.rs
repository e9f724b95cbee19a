//! Scan of the tokens before the cursor, which finds its place in a text that may be broken.
//!
//! The scan keeps the braces and brackets that are open. Reserved words mend what is missing: a
//! clause's word closes every bracket that was left open before it, `composite` closes everything.

use syntax::{FileId, SyntaxKind, Token};

use super::cursor_place::{CursorContext, CursorPlace};
use super::head_names;

/// Construct that is open at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenConstruct {
    /// The file as a whole.
    File,
    /// Body of a composite.
    Composite,
    /// Body of an invocation.
    Invocation,
    /// Block of statements in braces.
    Block,
    /// Round or square brackets, or braces of a literal or enum type.
    Brackets,
}

/// An open construct with what was read of it.
#[derive(Clone, Copy, Debug)]
pub struct OpenLevel {
    /// Construct that is open.
    pub construct: OpenConstruct,
    /// Word of the clause that was begun last.
    pub clause: Option<SyntaxKind>,
    /// Index of the token with which the current entry of the clause, or statement, begins.
    pub entry: usize,
    /// Whether a brace opened it.
    is_brace: bool,
}

/// The scan of one text up to the cursor.
pub struct CursorScan<'t> {
    /// Text of the document.
    pub text: &'t str,
    /// Tokens before the word at the cursor, without white space and comments.
    pub tokens: Vec<Token>,
    levels: Vec<OpenLevel>,
    composite: Option<usize>,
    /// Tokens of the head of the invocation that is open.
    head: (usize, usize),
}

/// Finds the place of a byte offset.
pub fn scan(text: &str, offset: u32) -> CursorContext {
    let (all, _) = syntax::tokens(FileId::default(), text);
    let is_before = |token: &Token| token.start < offset;
    let count = all.partition_point(is_before);
    let last = count.checked_sub(1).map(|at| all[at]);
    let mut word_start = offset;
    let mut end = count;
    let mut is_text = false;
    if let Some(last) = last {
        let is_word = last.kind == SyntaxKind::Ident || last.kind.is_keyword();
        if is_word && last.end >= offset {
            (word_start, end) = (last.start, count - 1);
        }
        is_text = is_within_text(&last, offset);
    }
    let tokens = all[..end].iter().filter(|token| !token.kind.is_trivia());
    let mut scan = CursorScan {
        text,
        tokens: tokens.copied().collect(),
        levels: vec![OpenLevel::new(OpenConstruct::File, 0, true)],
        composite: None,
        head: (0, 0),
    };
    for at in 0..scan.tokens.len() {
        scan.step(at);
    }
    scan.context(word_start, is_text)
}

/// Whether an offset is in a token in which nothing is completed.
fn is_within_text(token: &Token, offset: u32) -> bool {
    use SyntaxKind::{BlockComment, LineComment, Number, StringToken};
    match token.kind {
        LineComment => offset <= token.end,
        Number => offset <= token.end,
        BlockComment | StringToken => offset < token.end || token.is_broken,
        _ => false,
    }
}

impl OpenLevel {
    fn new(construct: OpenConstruct, entry: usize, is_brace: bool) -> OpenLevel {
        OpenLevel {
            construct,
            clause: None,
            entry,
            is_brace,
        }
    }
}

impl CursorScan<'_> {
    /// The kind of a token, counted from the first; `Eof` outside.
    pub fn kind(&self, at: usize) -> SyntaxKind {
        self.tokens
            .get(at)
            .map_or(SyntaxKind::Eof, |token| token.kind)
    }

    /// The text of a token.
    pub fn word(&self, at: usize) -> &str {
        let token = self.tokens.get(at);
        token.map_or("", |token| {
            &self.text[token.start as usize..token.end as usize]
        })
    }

    /// The innermost construct that is open.
    pub fn top(&self) -> &OpenLevel {
        // The file is never closed.
        &self.levels[self.levels.len() - 1]
    }

    /// The innermost construct that is no bracket.
    pub fn base(&self) -> &OpenLevel {
        let outside = |level: &&OpenLevel| level.construct != OpenConstruct::Brackets;
        self.levels
            .iter()
            .rev()
            .find(outside)
            .unwrap_or(&self.levels[0])
    }

    fn top_mut(&mut self) -> &mut OpenLevel {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn step(&mut self, at: usize) {
        use SyntaxKind::*;
        match self.kind(at) {
            CompositeKw => self.begin_composite(at),
            GraphKw if self.has(OpenConstruct::Composite) => {
                self.close_to(OpenConstruct::Composite);
                self.begin_clause(at);
            }
            ParamKw | OutputKw | WindowKw | LogicKw | ConfigKw | TypeKw => self.clause_word(at),
            LBrace => self.open_brace(at),
            RBrace => self.close_brace(at),
            LParen | LBracket => {
                let level = OpenLevel::new(OpenConstruct::Brackets, at + 1, false);
                self.levels.push(level);
            }
            RParen | RBracket => {
                let top = self.top();
                if top.construct == OpenConstruct::Brackets && !top.is_brace {
                    self.levels.pop();
                }
            }
            Semi => self.end_entry(at),
            Colon if self.base().clause == Some(LogicKw) => self.begin_clause_body(at),
            _ => {}
        }
    }

    fn has(&self, construct: OpenConstruct) -> bool {
        self.levels.iter().any(|level| level.construct == construct)
    }

    fn close_to(&mut self, construct: OpenConstruct) {
        while self.levels.len() > 1 && self.top().construct != construct {
            self.levels.pop();
        }
    }

    fn begin_composite(&mut self, at: usize) {
        self.levels.truncate(1);
        self.composite = Some(at + 1);
        self.levels[0].clause = Some(SyntaxKind::CompositeKw);
    }

    fn begin_clause(&mut self, at: usize) {
        let kind = self.kind(at);
        let top = self.top_mut();
        (top.clause, top.entry) = (Some(kind), at + 1);
    }

    /// `onTuple A :` of a logic clause: an entry begins with the statement.
    fn begin_clause_body(&mut self, at: usize) {
        if self.top().construct == OpenConstruct::Invocation {
            self.top_mut().entry = at + 1;
            let level = OpenLevel::new(OpenConstruct::Block, at + 1, false);
            self.levels.push(level);
        }
    }

    /// A word that begins a clause, of the construct that has such clauses.
    fn clause_word(&mut self, at: usize) {
        use SyntaxKind::*;
        let kind = self.kind(at);
        let base = self.base();
        let (construct, clause) = (base.construct, base.clause);
        let is_in_block = construct == OpenConstruct::Block;
        let of_invocation = matches!(kind, ParamKw | OutputKw | WindowKw | LogicKw | ConfigKw);
        if of_invocation
            && self.has(OpenConstruct::Invocation)
            && (construct == OpenConstruct::Invocation || is_in_block)
        {
            self.close_to(OpenConstruct::Invocation);
            return self.begin_clause(at);
        }
        let of_composite = matches!(kind, ParamKw | TypeKw | ConfigKw);
        // `type $T` is a formal, and `type` may be a parameter's mode.
        let is_mode = kind == TypeKw && clause == Some(ParamKw);
        if of_composite && construct == OpenConstruct::Composite && !is_mode {
            self.close_to(OpenConstruct::Composite);
            self.begin_clause(at);
        }
    }

    fn open_brace(&mut self, at: usize) {
        use SyntaxKind::*;
        let before = self.kind(at.wrapping_sub(1));
        let top = *self.top();
        let construct = match top.construct {
            OpenConstruct::File if top.clause == Some(CompositeKw) => OpenConstruct::Composite,
            OpenConstruct::File if before == EnumKw => OpenConstruct::Brackets,
            OpenConstruct::File => OpenConstruct::Block,
            OpenConstruct::Composite if top.clause == Some(GraphKw) => {
                self.head = (top.entry, at);
                OpenConstruct::Invocation
            }
            OpenConstruct::Composite | OpenConstruct::Brackets => OpenConstruct::Brackets,
            OpenConstruct::Invocation => match top.clause {
                Some(LogicKw) => OpenConstruct::Block,
                _ => OpenConstruct::Brackets,
            },
            OpenConstruct::Block => match before {
                RParen | Semi | LBrace | RBrace | ElseKw | Colon => OpenConstruct::Block,
                _ => OpenConstruct::Brackets,
            },
        };
        self.levels.push(OpenLevel::new(construct, at + 1, true));
    }

    fn close_brace(&mut self, at: usize) {
        // Brackets, and statements of logic clauses without braces, end before the brace.
        while self.levels.len() > 1 && !self.top().is_brace {
            self.levels.pop();
        }
        if self.levels.len() == 1 {
            return;
        }
        let closed = self.levels.pop();
        if closed.is_some_and(|level| level.construct == OpenConstruct::Brackets) {
            return;
        }
        if self.top().construct == OpenConstruct::Block && !self.top().is_brace {
            // The block was the whole statement of a logic entry.
            self.levels.pop();
        }
        if self.levels.len() == 1 {
            self.levels[0].clause = None;
            self.composite = None;
        }
        self.top_mut().entry = at + 1;
    }

    fn end_entry(&mut self, at: usize) {
        if self.top().construct == OpenConstruct::Brackets {
            let base = self.base();
            let is_head = match base.construct {
                OpenConstruct::File => base.clause == Some(SyntaxKind::CompositeKw),
                OpenConstruct::Composite => base.clause == Some(SyntaxKind::GraphKw),
                _ => false,
            };
            if is_head {
                // Semicolons stand between ports.
                self.top_mut().entry = at + 1;
                return;
            }
            let construct = base.construct;
            self.close_to(construct);
        }
        if self.top().construct == OpenConstruct::Block && !self.top().is_brace {
            self.levels.pop();
        }
        self.top_mut().entry = at + 1;
    }

    fn context(&self, word_start: u32, is_text: bool) -> CursorContext {
        let is_open = |construct| self.has(construct);
        let composite = self.composite.map(|at| self.word(at).to_owned());
        let first = self.tokens.get(self.levels[0].entry);
        let mut context = CursorContext {
            place: CursorPlace::Nothing,
            word_start,
            definition_start: first.map_or(word_start, |token| token.start),
            composite: composite.filter(|name| !name.is_empty()),
            operator: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        if is_open(OpenConstruct::Invocation) {
            head_names::read(self, self.head.0..self.head.1, &mut context);
        } else if self.base().construct == OpenConstruct::Composite {
            head_names::read(self, self.base().entry..self.tokens.len(), &mut context);
        }
        if !is_text {
            context.place = self.place();
        }
        context
    }
}
