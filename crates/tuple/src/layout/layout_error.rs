//! Why bytes are not a tuple of a schema, or a schema has no layout.

use std::fmt;

use super::slot::FIXED_BYTES_MAX;

/// Why bytes are not a tuple of a schema, or a schema has no layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// Bounded types make a fixed part larger than [`FIXED_BYTES_MAX`].
    TooLarge,
    /// The bytes do not begin at a multiple of 8.
    Unaligned,
    /// Fewer bytes than the fixed part needs.
    TooShort {
        /// The bytes there are.
        bytes: usize,
        /// The bytes of the fixed part.
        needed: usize,
    },
    /// A slot holds bytes that are no value of its type.
    Slot {
        /// Offset of the slot in the tuple.
        offset: usize,
        /// Fault of the slot, to be read after "the slot".
        fault: &'static str,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::TooLarge => {
                write!(
                    f,
                    "the fixed part would be larger than {FIXED_BYTES_MAX} bytes"
                )
            }
            LayoutError::Unaligned => f.write_str("the tuple does not begin at a multiple of 8"),
            LayoutError::TooShort { bytes, needed } => {
                write!(
                    f,
                    "the tuple has {bytes} bytes, its fixed part needs {needed}"
                )
            }
            LayoutError::Slot { offset, fault } => write!(f, "the slot at byte {offset} {fault}"),
        }
    }
}

impl std::error::Error for LayoutError {}
