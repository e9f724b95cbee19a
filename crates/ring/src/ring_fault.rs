//! Faults of a ring: words in its memory that the other side cannot have written if it is correct.

use std::fmt;

/// A word in the segment that no correct peer writes. Memory outside the segment was not touched
/// because of it, and will not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingFault {
    /// A reader's cursor went back, or past the committed frames.
    Cursor {
        /// Number of the reader.
        reader: u32,
        /// Value of its cursor before.
        previous: u64,
        /// Value of its cursor now.
        current: u64,
    },
    /// The writer's index went back, or past the room that there was.
    Index {
        /// Index up to which this reader had polled.
        previous: u64,
        /// Value of the writer's index.
        current: u64,
    },
    /// A frame does not end where a frame may end.
    Frame {
        /// Index of the frame.
        index: u64,
        /// Header word of the frame.
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
