//! A stream that leaves an output port of an invocation.

use std::sync::Arc;

use syntax::Span;
use tuple::TupleType;

use crate::names::StreamId;

/// A stream that a composite is to give.
#[derive(Clone, Debug)]
pub(crate) struct OutputStream {
    /// Number of the stream in the expanded program.
    pub stream: StreamId,
    /// Tuple type that the invocation declares; `None` if it is broken or nothing declares one.
    pub schema: Option<Arc<TupleType>>,
    /// Where it is declared outside.
    pub span: Span,
}
