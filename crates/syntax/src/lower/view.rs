//! A cheap view of the lossless tree for lowering: nodes and tokens with their places.
//!
//! `rowan`'s cursors allocate for every node they visit; lowering walks down only, so it reads the
//! shared tree itself and counts offsets along.

use rowan::{GreenNodeData, GreenTokenData, Language, NodeOrToken};

use crate::language::Spl;
use crate::steps::step;
use crate::{FileId, Span, SyntaxKind};

/// A node and where it begins.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    green: &'a GreenNodeData,
    start: u32,
}

/// A token and where it begins.
#[derive(Clone, Copy)]
pub(crate) struct Leaf<'a> {
    /// What it is.
    pub(crate) kind: SyntaxKind,
    /// Its text.
    pub(crate) text: &'a str,
    /// Its first byte.
    pub(crate) start: u32,
}

/// A child.
#[derive(Clone, Copy)]
pub(crate) enum Element<'a> {
    /// A node.
    Node(Node<'a>),
    /// A token; also white space and comments.
    Leaf(Leaf<'a>),
}

impl<'a> Node<'a> {
    pub(crate) fn root(green: &'a GreenNodeData) -> Node<'a> {
        Node { green, start: 0 }
    }

    pub(crate) fn kind(self) -> SyntaxKind {
        Spl::kind_from_raw(self.green.kind())
    }

    pub(crate) fn end(self) -> u32 {
        self.start + u32::from(self.green.text_len())
    }

    pub(crate) fn span(self, file: FileId) -> Span {
        Span::new(file, self.start, self.end())
    }

    /// Everything directly below, in order.
    pub(crate) fn elements(self) -> impl Iterator<Item = Element<'a>> {
        let mut at = self.start;
        self.green.children().map(move |child| {
            step(1);
            let start = at;
            match child {
                NodeOrToken::Node(green) => {
                    at += u32::from(green.text_len());
                    Element::Node(Node { green, start })
                }
                NodeOrToken::Token(token) => {
                    at += u32::from(token.text_len());
                    Element::Leaf(leaf(token, start))
                }
            }
        })
    }

    /// The nodes directly below.
    pub(crate) fn nodes(self) -> impl Iterator<Item = Node<'a>> {
        self.elements().filter_map(|element| match element {
            Element::Node(node) => Some(node),
            Element::Leaf(_) => None,
        })
    }

    /// The tokens directly below, without white space and comments.
    pub(crate) fn leaves(self) -> impl Iterator<Item = Leaf<'a>> {
        self.elements().filter_map(|element| match element {
            Element::Leaf(leaf) if !leaf.kind.is_trivia() => Some(leaf),
            _ => None,
        })
    }

    /// The nodes of a kind directly below.
    pub(crate) fn all(self, kind: SyntaxKind) -> impl Iterator<Item = Node<'a>> {
        self.nodes().filter(move |node| node.kind() == kind)
    }

    /// The first node of a kind directly below.
    pub(crate) fn first(self, kind: SyntaxKind) -> Option<Node<'a>> {
        self.all(kind).next()
    }

    /// A token of a kind is directly below.
    pub(crate) fn has(self, kind: SyntaxKind) -> bool {
        self.leaves().any(|leaf| leaf.kind == kind)
    }
}

impl Leaf<'_> {
    pub(crate) fn span(self, file: FileId) -> Span {
        Span::new(file, self.start, self.start + self.text.len() as u32)
    }
}

fn leaf(token: &GreenTokenData, start: u32) -> Leaf<'_> {
    Leaf {
        kind: Spl::kind_from_raw(token.kind()),
        text: token.text(),
        start,
    }
}
