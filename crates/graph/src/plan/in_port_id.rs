//! The name of an input port within a program.

use crate::{OperatorId, PortIndex};

/// An input port of a program, by operator and port number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InPortId {
    /// The operator that has the port.
    pub operator: OperatorId,
    /// The number of the input port, from 0.
    pub port: PortIndex,
}
