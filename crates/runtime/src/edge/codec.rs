//! Codecs of payloads: how tuples are written into frames and read from them.

use std::sync::Arc;

use eval::Fault;
use graph::CrossingCodec;
use tuple::layout::LayoutError;
use tuple::text::ValueParseError;
use tuple::{Layout, TupleBuf, TupleRef, Type, layout, normal};

use crate::counters::crossing_counters::CrossingCounters;

/// Encoder of the tuples of one stream.
pub(crate) enum PayloadEncoder {
    /// Writes tuples as they lie in memory.
    Facade,
    /// Writes tuples field by field, into a buffer of its own.
    Normal(Arc<Layout>, Vec<u8>),
}

/// Decoder of the tuples of one stream.
pub(crate) enum PayloadDecoder {
    /// Reads tuples as they lie in memory. The writer is trusted, or any bytes are a tuple.
    Facade(Arc<Layout>),
    /// Reads tuples as they lie in memory, and checks them because the writer is not trusted.
    CheckedFacade(Arc<Layout>),
    /// Reads tuples field by field, into a buffer of its own.
    Normal(Arc<Layout>, TupleBuf),
}

/// Why a payload is no tuple of the schema.
#[derive(Debug)]
pub(crate) enum PayloadDecodeError {
    Facade(LayoutError),
    Normal(ValueParseError),
}

impl PayloadEncoder {
    /// An encoder for tuples of a layout.
    pub fn new(codec: CrossingCodec, layout: Arc<Layout>) -> PayloadEncoder {
        match codec {
            CrossingCodec::Facade => PayloadEncoder::Facade,
            CrossingCodec::Normal => PayloadEncoder::Normal(layout, Vec::new()),
        }
    }

    /// The payload of a tuple.
    #[inline]
    pub fn encode<'a>(&'a mut self, tuple: TupleRef<'a>) -> &'a [u8] {
        match self {
            PayloadEncoder::Facade => tuple.bytes(),
            PayloadEncoder::Normal(layout, bytes) => {
                bytes.clear();
                normal::encode(tuple, layout, bytes);
                bytes
            }
        }
    }
}

impl PayloadDecoder {
    /// A decoder for tuples of a layout. With `is_foreign`, the writer is not trusted.
    pub fn new(codec: CrossingCodec, layout: Arc<Layout>, is_foreign: bool) -> PayloadDecoder {
        match codec {
            CrossingCodec::Facade if is_foreign && !is_plain(&layout) => {
                PayloadDecoder::CheckedFacade(layout)
            }
            CrossingCodec::Facade => PayloadDecoder::Facade(layout),
            CrossingCodec::Normal => PayloadDecoder::Normal(layout, TupleBuf::default()),
        }
    }

    /// Whether any payload of the right length is a tuple as it lies in memory.
    pub fn is_plain(&self) -> bool {
        matches!(self, PayloadDecoder::Facade(_))
    }

    /// The tuple in a payload.
    #[inline]
    pub fn decode<'a>(&'a mut self, payload: &'a [u8]) -> Result<TupleRef<'a>, PayloadDecodeError> {
        match self {
            PayloadDecoder::Facade(layout) if payload.len() >= layout.size as usize => {}
            PayloadDecoder::Facade(layout) | PayloadDecoder::CheckedFacade(layout) => {
                layout::check(layout, payload).map_err(PayloadDecodeError::Facade)?;
            }
            PayloadDecoder::Normal(layout, into) => {
                normal::decode(payload, layout, into).map_err(PayloadDecodeError::Normal)?;
                return Ok(into.as_ref());
            }
        }
        TupleRef::from_bytes(payload).map_err(PayloadDecodeError::Facade)
    }
}

/// Whether any bytes of the right length are a tuple.
fn is_plain(layout: &Layout) -> bool {
    let mut attributes = layout.schema.attributes.iter();
    attributes.all(|a| a.ty.is_numeric() || a.ty == Type::Timestamp)
}

impl std::fmt::Display for PayloadDecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PayloadDecodeError::Facade(error) => error.fmt(f),
            PayloadDecodeError::Normal(error) => error.fmt(f),
        }
    }
}

/// The fault of a stream that brought a payload which is no tuple of its schema.
#[cold]
pub(crate) fn tuple_fault(counters: &CrossingCounters, error: &PayloadDecodeError) -> Fault {
    counters.stream_fault(&format!("brought what is no tuple of it: {error}"))
}
