//! The number of a stream in the expanded program.

/// The identity of a stream in the expanded program. Whatever it is called inside the composites
/// that it is handed to, it stays the same stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(pub u32);
