//! The error of a path that cannot be read.

/// Why a text is not a path that XMLParse understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFault {
    /// A sentence that says what is wrong.
    pub message: String,
    /// A sentence that says what would be right.
    pub help: String,
}
