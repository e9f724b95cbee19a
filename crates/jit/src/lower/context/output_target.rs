//! Where the tuples of an output port go: to the outlet, into inlined operators, or into a ring.

use super::body_usage::BodyUsage;
use super::ring_grant_addresses::RingGrantAddresses;
use graph::Body;
use graph::StateId;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use tuple::Layout;
use tuple::Type;
/// Where the tuples of an output port go.
#[derive(Clone, Debug)]
pub enum OutputTarget {
    /// To the outlet.
    Outlet(Arc<Layout>),
    /// Into operators whose code is inlined.
    Inlined(Arc<Layout>, Rc<InlinedOutput>),
    /// Into a ring, as a frame; through the outlet when it has no room at hand.
    RingFrame(Arc<Layout>, RingGrantAddresses),
}

impl OutputTarget {
    /// The layout of the port's tuples.
    pub fn layout(&self) -> &Arc<Layout> {
        match self {
            OutputTarget::Outlet(layout)
            | OutputTarget::Inlined(layout, _)
            | OutputTarget::RingFrame(layout, _) => layout,
        }
    }
}

/// A lowered operator whose code can be inlined.
#[derive(Debug)]
pub struct InlinableOperator {
    /// The operator's number.
    pub index: u32,
    /// Layout of every input slot.
    pub inputs: Vec<Arc<Layout>>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub first_slots: Vec<u32>,
    /// The types of its state variables.
    pub state_types: Vec<Type>,
    /// The addresses of its scalar and of its other state variables.
    pub state: (i64, i64),
    /// The state variables that some of its bodies change.
    pub changed_state: HashSet<StateId>,
    /// What happens on a tuple, by input port.
    pub on_tuple: Vec<Rc<(Body, BodyUsage)>>,
    /// Where its tuples go.
    pub targets: Vec<OutputTarget>,
}

/// The operators behind an output port.
#[derive(Debug)]
pub struct InlinedOutput {
    /// The address of the counter of what is submitted.
    pub submitted: i64,
    /// The operators, in order of delivery.
    pub edges: Vec<InlinedEdge>,
}

/// An edge.
#[derive(Debug)]
pub struct InlinedEdge {
    /// Where to.
    pub operator: Rc<InlinableOperator>,
    /// Its input port.
    pub port: u32,
    /// The address of the counter of the port's tuples.
    pub processed: i64,
}
