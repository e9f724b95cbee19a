//! Ids of what a plan numbers: PEs and their threads, crossings and origins. Each is a type of its
//! own, so that none is taken for another.

use std::fmt;

/// A PE of a plan, by its index in [`Plan::pes`](super::Plan::pes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeId(pub u32);

impl fmt::Display for PeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A thread of a PE, by its index in [`PeThreads::threads`](super::PeThreads::threads). The number
/// behind the last one belongs to the thread that closes the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeThreadId(pub u32);

impl PeThreadId {
    /// The number as the index into a slice with an element for each thread.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PeThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A crossing, by its index in [`Plan::crossings`](super::Plan::crossings). The rings of a PE have
/// numbers behind those of the crossings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrossingId(pub u32);

impl fmt::Display for CrossingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an origin, which is the same in every PE of a plan. An origin gives tuples their
/// order: a source, a timer, an operator with a thread, or a queue that the program asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginId(pub u32);

impl From<OriginId> for u64 {
    /// The first number of an order position.
    fn from(origin: OriginId) -> u64 {
        origin.0.into()
    }
}

impl fmt::Display for OriginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
