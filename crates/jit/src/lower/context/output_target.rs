//! Where the tuples of an output port go: to the outlet, into inlined operators, or into rings.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use graph::{Body, HistoryDepths, PortIndex, StateId};
use tuple::Layout;

use super::body_usage::BodyUsage;
use super::ring_grant_addresses::RingGrantAddresses;
use super::state_layout::StateLayout;
use super::watermark_words::WatermarkWords;
use crate::code::StateAddresses;

/// Target of the tuples of an output port.
#[derive(Clone, Debug)]
pub enum OutputTarget {
    /// Submitted through the operator's outlet.
    Outlet(Arc<Layout>),
    /// Taken by the code itself to some consumers, at least.
    Inlined(Arc<Layout>, Rc<InlinedOutput>),
}

impl OutputTarget {
    /// The layout of the port's tuples.
    pub fn layout(&self) -> &Arc<Layout> {
        match self {
            OutputTarget::Outlet(layout) | OutputTarget::Inlined(layout, _) => layout,
        }
    }

    /// The edges to operators whose code is inlined.
    pub fn operators(&self) -> impl Iterator<Item = &InlinedEdge> {
        let output = match self {
            OutputTarget::Outlet(_) => None,
            OutputTarget::Inlined(_, output) => Some(output),
        };
        output.into_iter().flat_map(|output| output.operators())
    }
}

/// A lowered operator whose code can be inlined.
#[derive(Debug)]
pub struct InlinableOperator {
    /// The operator's number in its PE.
    pub index: u32,
    /// Nodes of the bodies that process a tuple, and of those that are inlined in them.
    pub nodes: u32,
    /// Layout of every input slot.
    pub inputs: Vec<Arc<Layout>>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub first_slots: Vec<u32>,
    /// The depths of the history that have a slot, by input port.
    pub history: Vec<HistoryDepths>,
    /// Types and places of its state variables.
    pub state_layout: Rc<StateLayout>,
    /// The addresses of its state.
    pub state: StateAddresses,
    /// The state variables that some of its bodies change.
    pub changed_state: HashSet<StateId>,
    /// The words of the operator's watermark, if they are known.
    pub watermark: Option<WatermarkWords>,
    /// Bodies that process a tuple, by input port.
    pub on_tuple: Vec<Rc<(Body, BodyUsage)>>,
    /// Targets of submitted tuples, by output port.
    pub targets: Vec<OutputTarget>,
}

/// The consumers of an output port, to which the code itself takes tuples.
#[derive(Debug)]
pub struct InlinedOutput {
    /// The address of the counter of what is submitted.
    pub submitted: i64,
    /// Where the code learns that somebody taps the stream; `None`: nobody ever does.
    pub tap: Option<TapAddresses>,
    /// The ways to all consumers, in order of delivery.
    pub edges: Vec<OutputEdge>,
    /// The addresses of all counters of a window marker, if nothing else happens for one.
    pub window_counters: Option<Vec<i64>>,
}

/// Words that say whether a stream is tapped, by address.
#[derive(Clone, Copy, Debug)]
pub struct TapAddresses {
    /// Not 0 while any stream of the PE is tapped.
    pub is_open: i64,
    /// The port's budget: tuples that are wanted.
    pub budget: i64,
}

impl InlinedOutput {
    /// The addresses of the counters of a tuple over an edge, but for those of a ring. The first
    /// edge also counts that it is submitted, if there is no edge, too.
    pub fn counters(&self, edge: usize) -> Vec<i64> {
        let submitted = (edge == 0).then_some(self.submitted);
        let processed = self.edges.get(edge).and_then(OutputEdge::operator);
        let processed = processed.map(|edge| edge.processed);
        submitted.into_iter().chain(processed).collect()
    }

    /// The edges to operators whose code is inlined.
    pub fn operators(&self) -> impl Iterator<Item = &InlinedEdge> {
        self.edges.iter().filter_map(OutputEdge::operator)
    }
}

/// The way of a tuple from an output port.
#[derive(Debug)]
pub enum OutputEdge {
    /// Into the code of an operator.
    Operator(InlinedEdge),
    /// Into a ring as a frame; through the outlet when the grant has no room.
    Frame(RingGrantAddresses),
    /// Through the outlet, to consumers by their places.
    Outlet(Range<u32>),
}

impl OutputEdge {
    /// The edge, if it leads to an operator whose code is inlined.
    pub fn operator(&self) -> Option<&InlinedEdge> {
        match self {
            OutputEdge::Operator(edge) => Some(edge),
            OutputEdge::Frame(_) | OutputEdge::Outlet(_) => None,
        }
    }
}

/// Edge of a chain, into an inlined operator.
#[derive(Debug)]
pub struct InlinedEdge {
    /// The operator that processes the tuples.
    pub operator: Rc<InlinableOperator>,
    /// The operator's number among the members of the thread's chains.
    pub member: u32,
    /// The input port that the edge leads to.
    pub port: PortIndex,
    /// The address of the counter of the port's tuples.
    pub processed: i64,
}

impl InlinedEdge {
    /// The output whose tuples are as many as those of the edge, one for each: the operator submits
    /// each tuple at once, and to at most one operator.
    pub fn passed_on(&self) -> Option<&InlinedOutput> {
        let (_, usage) = &*self.operator.on_tuple[self.port.index()];
        let target = self.operator.targets.get(usage.passes_on_to? as usize);
        match target {
            Some(OutputTarget::Inlined(_, output)) if output.edges.len() <= 1 => Some(output),
            _ => None,
        }
    }
}
