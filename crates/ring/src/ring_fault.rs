//! What the other side of a ring cannot have written.

use std::fmt;

/// Something in the segment that no correct peer writes. Nothing outside the segment was touched
/// for it, and nothing will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingFault {
    /// A reader's cursor that went back, or past what there is.
    Cursor {
        /// The reader.
        reader: u32,
        /// What its cursor said before.
        previous: u64,
        /// What it says now.
        current: u64,
    },
    /// A writer's index that went back, or past the room there was.
    Index {
        /// Up to where this reader had come.
        previous: u64,
        /// What the index says.
        current: u64,
    },
    /// A frame that does not end where frames may.
    Frame {
        /// Its index.
        index: u64,
        /// Its header.
        header: u64,
    },
}

impl fmt::Display for RingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RingFault::Cursor {
                reader,
                previous: was,
                current: is,
            } => write!(
                f,
                "the cursor of reader {reader} went from {was} to {is}, where no frame can end"
            ),
            RingFault::Index {
                previous: was,
                current: is,
            } => {
                write!(
                    f,
                    "the writer's index went from {was} to {is}, where no frame can end"
                )
            }
            RingFault::Frame { index: at, header } => {
                write!(
                    f,
                    "at {at} is no frame of this ring: its header is {header:#018x}"
                )
            }
        }
    }
}

impl std::error::Error for RingFault {}
