//! A stream that leaves an output port of an invocation.

use std::sync::Arc;

use syntax::Span;
use tuple::TupleType;

use crate::names::StreamId;

/// A stream that a composite is to give.
#[derive(Clone, Debug)]
pub(crate) struct OutputStream {
    /// Its number outside.
    pub stream: StreamId,
    /// Its type as declared outside; `None` if that is broken or nobody asks.
    pub schema: Option<Arc<TupleType>>,
    /// Where it is declared outside.
    pub span: Span,
}
