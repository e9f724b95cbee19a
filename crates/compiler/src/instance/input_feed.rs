//! The streams that feed an input port of an invocation, and their common type.

use std::sync::Arc;

use syntax::Span;
use tuple::TupleType;

use crate::names::StreamId;

/// Streams that feed an input port.
#[derive(Clone, Debug)]
pub(crate) struct InputFeed {
    /// The streams, each with the place where it was named.
    pub streams: Vec<(StreamId, Span)>,
    /// The streams that they are shares of, in a channel of a parallel region.
    pub split_from: Vec<StreamId>,
    /// Tuple type of the streams; `None` if it is broken, which was reported.
    pub schema: Option<Arc<TupleType>>,
    /// The port in the invocation.
    pub span: Span,
}

impl InputFeed {
    /// The numbers of its streams.
    pub fn ids(&self) -> Vec<StreamId> {
        self.streams.iter().map(|(id, _)| *id).collect()
    }

    /// Numbers of the streams and of those that they are shares of: names written in other scopes
    /// may mean either.
    pub fn ids_and_origins(&self) -> Vec<StreamId> {
        let ids = self.streams.iter().map(|(id, _)| *id);
        ids.chain(self.split_from.iter().copied()).collect()
    }
}
