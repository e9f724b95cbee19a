//! A cheap view of the lossless tree for lowering: nodes and tokens with their places.
//!
//! `rowan`'s cursors allocate for every node they visit; lowering walks down only, so it reads the
//! shared tree itself and counts offsets along.

use rowan::{GreenNodeData, GreenTokenData, Language, NodeOrToken};

use crate::language::SplLanguage;
use crate::step_count::count_steps;
use crate::{FileId, Span, SyntaxKind};

/// A node and where it begins.
#[derive(Clone, Copy)]
pub(crate) struct SyntaxNodeView<'a> {
    green: &'a GreenNodeData,
    start: u32,
}

/// A token and where it begins.
#[derive(Clone, Copy)]
pub(crate) struct SyntaxTokenView<'a> {
    /// Kind of the token.
    pub(crate) kind: SyntaxKind,
    /// Text of the token.
    pub(crate) text: &'a str,
    /// Offset of the first byte.
    pub(crate) start: u32,
}

/// A node or token directly below a node.
#[derive(Clone, Copy)]
pub(crate) enum SyntaxElementView<'a> {
    /// A node with its children.
    Node(SyntaxNodeView<'a>),
    /// A token; also white space and comments.
    Token(SyntaxTokenView<'a>),
}

impl SyntaxElementView<'_> {
    /// The kind of the node or token.
    pub(crate) fn kind(self) -> SyntaxKind {
        match self {
            SyntaxElementView::Token(leaf) => leaf.kind,
            SyntaxElementView::Node(node) => node.kind(),
        }
    }
}

impl<'a> SyntaxNodeView<'a> {
    pub(crate) fn root(green: &'a GreenNodeData) -> SyntaxNodeView<'a> {
        SyntaxNodeView { green, start: 0 }
    }

    pub(crate) fn kind(self) -> SyntaxKind {
        SplLanguage::kind_from_raw(self.green.kind())
    }

    pub(crate) fn end(self) -> u32 {
        self.start + u32::from(self.green.text_len())
    }

    pub(crate) fn span(self, file: FileId) -> Span {
        Span::new(file, self.start, self.end())
    }

    /// Everything directly below, in order.
    pub(crate) fn elements(self) -> impl Iterator<Item = SyntaxElementView<'a>> {
        let mut at = self.start;
        self.green.children().map(move |child| {
            count_steps(1);
            let start = at;
            match child {
                NodeOrToken::Node(green) => {
                    at += u32::from(green.text_len());
                    SyntaxElementView::Node(SyntaxNodeView { green, start })
                }
                NodeOrToken::Token(token) => {
                    at += u32::from(token.text_len());
                    SyntaxElementView::Token(token_view(token, start))
                }
            }
        })
    }

    /// The nodes directly below.
    pub(crate) fn nodes(self) -> impl Iterator<Item = SyntaxNodeView<'a>> {
        self.elements().filter_map(|element| match element {
            SyntaxElementView::Node(node) => Some(node),
            SyntaxElementView::Token(_) => None,
        })
    }

    /// The tokens directly below, without white space and comments.
    pub(crate) fn tokens(self) -> impl Iterator<Item = SyntaxTokenView<'a>> {
        self.elements().filter_map(|element| match element {
            SyntaxElementView::Token(leaf) if !leaf.kind.is_trivia() => Some(leaf),
            _ => None,
        })
    }

    /// The nodes of a kind directly below.
    pub(crate) fn nodes_of_kind(
        self,
        kind: SyntaxKind,
    ) -> impl Iterator<Item = SyntaxNodeView<'a>> {
        self.nodes().filter(move |node| node.kind() == kind)
    }

    /// The first node of a kind directly below.
    pub(crate) fn first_of_kind(self, kind: SyntaxKind) -> Option<SyntaxNodeView<'a>> {
        self.nodes_of_kind(kind).next()
    }

    /// A token of a kind is directly below.
    pub(crate) fn has_token(self, kind: SyntaxKind) -> bool {
        self.tokens().any(|leaf| leaf.kind == kind)
    }
}

impl SyntaxTokenView<'_> {
    pub(crate) fn span(self, file: FileId) -> Span {
        Span::new(file, self.start, self.start + self.text.len() as u32)
    }
}

fn token_view(token: &GreenTokenData, start: u32) -> SyntaxTokenView<'_> {
    SyntaxTokenView {
        kind: SplLanguage::kind_from_raw(token.kind()),
        text: token.text(),
        start,
    }
}
