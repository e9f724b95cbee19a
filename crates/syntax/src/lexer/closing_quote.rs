//! The last search for the end of a string, kept so that searches stay linear.

/// A search for the quote that closes a string.
#[derive(Clone, Copy)]
pub(super) struct ClosingQuoteSearch {
    /// Offset at which the string begins.
    pub(super) start: usize,
    /// The closing quote; the end of the text if there is none.
    pub(super) end: usize,
}
