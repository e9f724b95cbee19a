//! Source places of an operator instance, which the graph itself does not keep.

use graph::{InPortModel, OperatorModel, OutPortModel};
use syntax::Span;

use crate::names::StreamId;
use crate::subscription::Subscription;

/// The source places of an operator instance, parallel to [`graph::Program::operators`].
#[derive(Clone, Debug)]
pub(crate) struct OperatorSite {
    /// Model of the operator.
    pub model: &'static OperatorModel,
    /// Head of the invocation.
    pub head: Span,
    /// The names of its config entries, in their order.
    pub config: Vec<Span>,
    /// Input ports of the instance.
    pub inputs: Vec<InPortSite>,
    /// Output ports of the instance.
    pub outputs: Vec<OutPortSite>,
    /// Condition over properties of the streams that an import wants.
    pub subscription: Option<Subscription>,
    /// Which tuples of that, as it is written.
    pub filter: Option<String>,
}

/// An input port of a [`OperatorSite`].
#[derive(Clone, Debug)]
pub(crate) struct InPortSite {
    /// Description of the port in the operator's model.
    pub model: &'static InPortModel,
    /// Place of the port in the invocation.
    pub span: Span,
    /// The streams that feed it, each with the place where it was named.
    pub streams: Vec<(StreamId, Span)>,
    /// Place of the port's window, if it has one.
    pub window: Option<Span>,
}

/// An output port of a [`OperatorSite`].
#[derive(Clone, Debug)]
pub(crate) struct OutPortSite {
    /// Description of the port in the operator's model.
    pub model: &'static OutPortModel,
    /// The stream that leaves it.
    pub stream: StreamId,
}
