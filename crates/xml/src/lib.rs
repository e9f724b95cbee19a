//! XML text as tokens, whole or in pieces: the one understanding of well-formedness that casts, the
//! library and the operators share.
//!
//! It checks what XML 1.0 calls well-formedness but for the declarations inside a DOCTYPE, which it
//! skips: entities that those declare are unknown here. Names keep their prefixes; whether a prefix
//! is bound to a namespace is not looked at.
//!
//! It stands here because casts to xml and from it are a part of what expressions mean.

mod markup;
mod scanner;
mod text;

pub use scanner::{Scanner, ScannerLimits};

/// What a document is made of, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XmlToken {
    /// `<?xml ... encoding="..."?>`
    Declaration {
        /// The encoding that it names.
        encoding: Option<String>,
    },
    /// `<name attribute="value">`, or `<name/>`, which an end follows.
    Start {
        /// With its prefix.
        name: String,
        /// In order; no name twice.
        attributes: Vec<(String, String)>,
    },
    /// `</name>`
    End {
        /// With its prefix.
        name: String,
        /// It closes the document.
        is_root: bool,
    },
    /// Text within an element, with references replaced. Text may come as several tokens.
    Text {
        /// The characters.
        text: String,
        /// From a CDATA section.
        is_cdata: bool,
    },
    /// `<!--text-->`, if it was asked for.
    Comment {
        /// What is between the marks.
        text: String,
    },
    /// `<?target text?>`, if it was asked for.
    Instruction {
        /// What it is for.
        target: String,
        /// What stands behind the blanks that follow.
        text: String,
    },
}
