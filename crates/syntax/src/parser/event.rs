//! Events of the parser, in order, and the lossless tree that is built from them.
//!
//! The parser sees no white space and no comments. It notes begin, token and end; the tree is put
//! together afterwards, with the trivia between the tokens. A node begins at its first token and
//! ends after its last, so that its range is that of what was written, without blanks around it.

use rowan::{GreenNode, GreenToken, Language, NodeOrToken};
use rustc_hash::FxHashMap;

use crate::SyntaxKind;
use crate::language::SplLanguage;
use crate::lexer::Token;

/// One step of the parser.
#[derive(Clone, Copy, Debug)]
pub(super) enum ParseEvent {
    /// A node begins. `parent` is the distance to a later event that begins a node around it, 0 if
    /// there is none. The kind is `Eof` until the node is complete, and stays so if it was given
    /// up.
    Start { kind: SyntaxKind, parent: u32 },
    /// The node that began last ends.
    Finish,
    /// The next `count` tokens of the lexer are one token of the tree.
    Token { kind: SyntaxKind, count: u8 },
}

/// Builds the tree of a text from its tokens and the parser's events.
pub(super) fn build(text: &str, tokens: &[Token], events: Vec<ParseEvent>) -> GreenNode {
    let mut sink = TreeBuilder {
        text,
        tokens,
        at: 0,
        token_cache: FxHashMap::default(),
        open_nodes: Vec::new(),
        completed_children: Vec::new(),
    };
    let last = events.len() - 1;
    let mut events = events;
    for index in 0..events.len() {
        match events[index] {
            ParseEvent::Start { .. } => sink.start(&mut events, index),
            ParseEvent::Token { kind, count } => sink.token(kind, count),
            ParseEvent::Finish => {
                if index == last {
                    sink.trailing_trivia();
                }
                sink.finish();
            }
        }
    }
    match sink.completed_children.pop() {
        Some(NodeOrToken::Node(root)) => root,
        _ => unreachable!("the last event finishes the root"),
    }
}

struct TreeBuilder<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    /// Green tokens made so far, so that equal tokens share one.
    token_cache: FxHashMap<(SyntaxKind, &'t str), GreenToken>,
    /// The nodes that have begun, and where in `completed_children` their children begin.
    open_nodes: Vec<(SyntaxKind, usize)>,
    /// Complete children of nodes that are still open.
    completed_children: Vec<NodeOrToken<GreenNode, GreenToken>>,
}

impl<'t> TreeBuilder<'t> {
    fn start(&mut self, events: &mut [ParseEvent], index: usize) {
        let mut kinds = Vec::new();
        let mut at = index;
        while let ParseEvent::Start { kind, parent } = events[at] {
            events[at] = ParseEvent::Start {
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
            self.open_nodes.push((kind, self.completed_children.len()));
        }
    }

    fn token(&mut self, kind: SyntaxKind, count: u8) {
        self.trivia();
        let taken = &self.tokens[self.at..self.at + count as usize];
        let range = taken[0].start as usize..taken[taken.len() - 1].end as usize;
        self.push_token(kind, &self.text[range]);
        self.at += count as usize;
    }

    fn push_token(&mut self, kind: SyntaxKind, text: &'t str) {
        let shared = self.token_cache.entry((kind, text));
        let token = shared.or_insert_with(|| GreenToken::new(SplLanguage::kind_to_raw(kind), text));
        self.completed_children
            .push(NodeOrToken::Token(token.clone()));
    }

    fn finish(&mut self) {
        if let Some((kind, first)) = self.open_nodes.pop() {
            let children = self.completed_children.drain(first..);
            let node = GreenNode::new(SplLanguage::kind_to_raw(kind), children);
            self.completed_children.push(NodeOrToken::Node(node));
        }
    }

    fn trivia(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            if !token.kind.is_trivia() {
                return;
            }
            self.raw_token(*token);
        }
    }

    /// Everything that is left: trivia at the end of the file.
    fn trailing_trivia(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            self.raw_token(*token);
        }
    }

    fn raw_token(&mut self, token: Token) {
        let text = &self.text[token.start as usize..token.end as usize];
        self.push_token(token.kind, text);
        self.at += 1;
    }
}
