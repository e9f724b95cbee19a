//! The streams of a program: the input ports that each output port feeds, the loops that streams
//! close, and sets of operators that belong together.

mod disjoint_sets;
mod loops;
mod operator_units;
mod stream_consumers;

pub use disjoint_sets::DisjointSets;
pub use loops::{GraphEdge, closing_edges, find_loops};
pub(crate) use operator_units::OperatorUnits;
pub use stream_consumers::StreamConsumers;
