//! What the parser says, in order, and the lossless tree that comes of it.
//!
//! The parser sees no white space and no comments. It notes begin, token and end; the tree is put
//! together afterwards, with the trivia between the tokens. A node begins at its first token and
//! ends after its last, so that its range is that of what was written, without blanks around it.

use rowan::{GreenNode, GreenToken, Language, NodeOrToken};
use rustc_hash::FxHashMap;

use crate::SyntaxKind;
use crate::language::Spl;
use crate::lexer::Token;

/// One step of the parser.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A node begins. `parent` is the distance to a later event that begins a node around it, 0 if
    /// there is none. The kind is `Eof` until the node is complete, and stays so if it was given up.
    Start { kind: SyntaxKind, parent: u32 },
    /// The node that began last ends.
    Finish,
    /// The next `count` tokens of the lexer are one token of the tree.
    Token { kind: SyntaxKind, count: u8 },
}

/// Builds the tree of a text from its tokens and the parser's events.
pub(super) fn build(text: &str, tokens: &[Token], events: Vec<Event>) -> GreenNode {
    let mut sink = Sink {
        text,
        tokens,
        at: 0,
        shared: FxHashMap::default(),
        open: Vec::new(),
        complete: Vec::new(),
    };
    let last = events.len() - 1;
    let mut events = events;
    for index in 0..events.len() {
        match events[index] {
            Event::Start { .. } => sink.start(&mut events, index),
            Event::Token { kind, count } => sink.token(kind, count),
            Event::Finish => {
                if index == last {
                    sink.rest();
                }
                sink.finish();
            }
        }
    }
    match sink.complete.pop() {
        Some(NodeOrToken::Node(root)) => root,
        _ => unreachable!("the last event finishes the root"),
    }
}

struct Sink<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    /// Each token once.
    shared: FxHashMap<(SyntaxKind, &'t str), GreenToken>,
    /// The nodes that have begun, and where in `complete` their children begin.
    open: Vec<(SyntaxKind, usize)>,
    /// What is complete and belongs to nodes that are not.
    complete: Vec<NodeOrToken<GreenNode, GreenToken>>,
}

impl<'t> Sink<'t> {
    fn start(&mut self, events: &mut [Event], index: usize) {
        let mut kinds = Vec::new();
        let mut at = index;
        while let Event::Start { kind, parent } = events[at] {
            events[at] = Event::Start {
                kind: SyntaxKind::Eof,
                parent: 0,
            };
            if kind != SyntaxKind::Eof {
                kinds.push(kind);
            }
            if parent == 0 {
                break;
            }
            at += parent as usize;
        }
        if index > 0 && !kinds.is_empty() {
            self.trivia();
        }
        for kind in kinds.into_iter().rev() {
            self.open.push((kind, self.complete.len()));
        }
    }

    fn token(&mut self, kind: SyntaxKind, count: u8) {
        self.trivia();
        let taken = &self.tokens[self.at..self.at + count as usize];
        let range = taken[0].start as usize..taken[taken.len() - 1].end as usize;
        self.leaf(kind, &self.text[range]);
        self.at += count as usize;
    }

    fn leaf(&mut self, kind: SyntaxKind, text: &'t str) {
        let shared = self.shared.entry((kind, text));
        let token = shared.or_insert_with(|| GreenToken::new(Spl::kind_to_raw(kind), text));
        self.complete.push(NodeOrToken::Token(token.clone()));
    }

    fn finish(&mut self) {
        if let Some((kind, first)) = self.open.pop() {
            let children = self.complete.drain(first..);
            let node = GreenNode::new(Spl::kind_to_raw(kind), children);
            self.complete.push(NodeOrToken::Node(node));
        }
    }

    fn trivia(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            if !token.kind.is_trivia() {
                return;
            }
            self.raw(*token);
        }
    }

    /// Everything that is left: trivia at the end of the file.
    fn rest(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            self.raw(*token);
        }
    }

    fn raw(&mut self, token: Token) {
        let text = &self.text[token.start as usize..token.end as usize];
        self.leaf(token.kind, text);
        self.at += 1;
    }
}
