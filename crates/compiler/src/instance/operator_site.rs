//! Where in the source an operator instance came from: what the graph itself does not keep.

use graph::{InPortModel, OperatorModel, OutPortModel};
use syntax::Span;

use crate::names::StreamId;
use crate::subscription::Subscription;

/// The source places of an operator instance, parallel to [`graph::Program::operators`].
#[derive(Clone, Debug)]
pub(crate) struct OperatorSite {
    /// Its model.
    pub model: &'static OperatorModel,
    /// Head of the invocation.
    pub head: Span,
    /// The names of its config entries, in their order.
    pub config: Vec<Span>,
    /// Its input ports.
    pub inputs: Vec<InPortSite>,
    /// Its output ports.
    pub outputs: Vec<OutPortSite>,
    /// What it imports.
    pub subscription: Option<Subscription>,
    /// Which tuples of that, as it is written.
    pub filter: Option<String>,
}

/// An input port of a [`OperatorSite`].
#[derive(Clone, Debug)]
pub(crate) struct InPortSite {
    /// What the model says of it.
    pub model: &'static InPortModel,
    /// All of it.
    pub span: Span,
    /// The streams that feed it, each with the place where it was named.
    pub streams: Vec<(StreamId, Span)>,
    /// Its window.
    pub window: Option<Span>,
}

/// An output port of a [`OperatorSite`].
#[derive(Clone, Debug)]
pub(crate) struct OutPortSite {
    /// What the model says of it.
    pub model: &'static OutPortModel,
    /// The stream that leaves it.
    pub stream: StreamId,
}
