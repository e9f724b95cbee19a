//! The lossless tree: `rowan` with our kinds.
//!
//! Every byte of the text is in some token of the tree, in order, whatever was wrong with it.

use crate::SyntaxKind;

/// SPL, as `rowan` wants to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SplLanguage {}

impl rowan::Language for SplLanguage {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        let all = SyntaxKind::ALL;
        all.get(raw.0 as usize).copied().unwrap_or(SyntaxKind::Eof)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// A node of the lossless tree.
pub type SyntaxNode = rowan::SyntaxNode<SplLanguage>;
/// A token of the lossless tree.
pub type SyntaxToken = rowan::SyntaxToken<SplLanguage>;
/// A node or a token.
pub type SyntaxElement = rowan::SyntaxElement<SplLanguage>;
