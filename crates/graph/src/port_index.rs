//! The number of a port.

use std::fmt;

/// The number of an input port or of an output port of an operator, from 0: its place in
/// [`OperatorNode::inputs`](crate::OperatorNode::inputs) or
/// [`OperatorNode::outputs`](crate::OperatorNode::outputs).
///
/// Compiled code passes the type as the number that it holds.
///
/// # Example
/// ```
/// use thalweg_graph::PortIndex;
///
/// let names = ["Trades", "Quotes"];
/// let port = PortIndex(1);
/// assert_eq!(names[port.index()], "Quotes");
/// assert_eq!(format!("port {port}"), "port 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct PortIndex(pub u32);

impl PortIndex {
    /// The number as the index into a slice with an element for each port.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PortIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
