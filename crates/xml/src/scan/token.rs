//! The tokens that the scanner gives.

/// One piece of a document; a document is its tokens in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XmlToken {
    /// The XML declaration, `<?xml ... encoding="..."?>`.
    Declaration {
        /// The name of the document's encoding, if the declaration has one.
        encoding: Option<String>,
    },
    /// `<name attribute="value">`. A tag `<name/>` gives a start and an end.
    Start {
        /// Name of the element, with its prefix.
        name: String,
        /// Names and values of its attributes in order; no name appears twice.
        attributes: Vec<(String, String)>,
    },
    /// The end of an element, `</name>`.
    End {
        /// Name of the element, with its prefix.
        name: String,
        /// Whether the tag closes the document's root element.
        is_root: bool,
    },
    /// Text within an element, with references replaced. One text may come as several tokens.
    Text {
        /// The characters, with line ends as line feeds.
        text: String,
        /// Whether the text was written as a CDATA section.
        is_cdata: bool,
    },
    /// `<!--text-->`; only from [`Scanner::with_comments`](crate::Scanner::with_comments).
    Comment {
        /// The characters between `<!--` and `-->`.
        text: String,
    },
    /// `<?target text?>`; only from [`Scanner::with_comments`](crate::Scanner::with_comments).
    Instruction {
        /// Name of the application that the instruction is for.
        target: String,
        /// The characters after the target and the blanks that follow it.
        text: String,
    },
}
