//! The program of one process.

use graph::{CrossingId, OperatorId, OriginId, OutPortId, Program};

/// The program that one process runs, with the crossings at its border.
#[derive(Clone, Debug, Default)]
pub struct PeProgram {
    /// The operators of the PE and the inserted ones, renumbered. Functions and files are those of
    /// the whole program.
    pub program: Program,
    /// The number that each operator has in the whole program; `None` for inserted operators.
    pub operator_ids: Vec<Option<OperatorId>>,
    /// The crossings that the PE sends on, in order.
    pub sent_crossings: Vec<CrossingId>,
    /// The crossings that the PE receives from, in order, each with the PE's index
    /// among the crossing's receivers.
    pub received_crossings: Vec<(CrossingId, u32)>,
    /// Sources and receivers whose threads have a core of their own: operator number and core.
    pub pins: Vec<(u32, u32)>,
    /// The rings within the PE: an id that no crossing has, and the stream that the ring
    /// carries.
    pub rings: Vec<(CrossingId, OutPortId)>,
    /// The origin that each operator is, if it is one; empty if nothing in the PE is ordered.
    pub origins: Vec<Option<OriginId>>,
}
