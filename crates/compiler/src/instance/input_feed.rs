//! The streams that feed an input port of an invocation, and their common type.

use std::sync::Arc;

use syntax::Span;
use tuple::TupleType;

use crate::names::StreamId;

/// What feeds an input port.
#[derive(Clone, Debug)]
pub(crate) struct InputFeed {
    /// The streams, each with the place where it was named.
    pub streams: Vec<(StreamId, Span)>,
    /// The streams that they are shares of, in a channel of a parallel region.
    pub split_from: Vec<StreamId>,
    /// Their tuple type; `None` if it is broken, which was reported.
    pub schema: Option<Arc<TupleType>>,
    /// The port in the invocation.
    pub span: Span,
}

impl InputFeed {
    /// The numbers of its streams.
    pub fn ids(&self) -> Vec<StreamId> {
        self.streams.iter().map(|(id, _)| *id).collect()
    }

    /// Those, and those that they are shares of: what names written elsewhere may mean.
    pub fn ids_and_origins(&self) -> Vec<StreamId> {
        let ids = self.streams.iter().map(|(id, _)| *id);
        ids.chain(self.split_from.iter().copied()).collect()
    }
}
