//! Codecs of payloads: how tuples are written into frames and read from them.

use std::sync::Arc;

use eval::Fault;
use graph::CrossingCodec;
use tuple::layout::LayoutError;
use tuple::normal::NormalSteps;
use tuple::text::ValueParseError;
use tuple::{Layout, TupleBuf, TupleRef, Type, layout};

use crate::abi::FrameForm;
use crate::counters::crossing_counters::CrossingCounters;

/// Encoder of the tuples of one stream.
pub(crate) enum PayloadEncoder {
    /// Writes tuples as they lie in memory.
    Facade,
    /// Writes tuples field by field, into a buffer of its own.
    Normal(NormalSteps, Vec<u8>),
}

/// Decoder of the tuples of one stream.
pub(crate) enum PayloadDecoder {
    /// Reads tuples as they lie in memory. The writer is trusted, or any bytes are a tuple.
    Facade(Arc<Layout>),
    /// Reads tuples as they lie in memory, and checks them because the writer is not trusted.
    CheckedFacade(Arc<Layout>),
    /// Reads tuples field by field, into a buffer of its own.
    Normal(Box<NormalDecoder>),
}

/// Steps of a schema, and the tuple that they read.
pub(crate) struct NormalDecoder {
    layout: Arc<Layout>,
    steps: NormalSteps,
    tuple: TupleBuf,
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
            CrossingCodec::Normal => PayloadEncoder::Normal(NormalSteps::all(&layout), Vec::new()),
        }
    }

    /// Form in which compiled code may write tuples of a layout by itself.
    pub fn form(&self) -> FrameForm {
        match self {
            PayloadEncoder::Facade => FrameForm::Flat,
            PayloadEncoder::Normal(..) => FrameForm::Normal,
        }
    }

    /// The payload of a tuple.
    #[inline]
    pub fn encode<'a>(&'a mut self, tuple: TupleRef<'a>) -> &'a [u8] {
        match self {
            PayloadEncoder::Facade => tuple.bytes(),
            PayloadEncoder::Normal(steps, bytes) => {
                bytes.clear();
                steps.write(tuple, bytes);
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
            CrossingCodec::Normal => PayloadDecoder::Normal(Box::new(NormalDecoder {
                steps: NormalSteps::all(&layout),
                layout,
                tuple: TupleBuf::default(),
            })),
        }
    }

    /// Form in which compiled code may read the tuples of a batch; `None` if each has to be
    /// decoded.
    pub fn batch_form(&self) -> Option<FrameForm> {
        match self {
            PayloadDecoder::Facade(_) => Some(FrameForm::Flat),
            PayloadDecoder::CheckedFacade(_) => None,
            PayloadDecoder::Normal(normal) => {
                let bytes = FrameForm::Normal.payload_bytes(&normal.layout);
                bytes.map(|_| FrameForm::Normal)
            }
        }
    }

    /// The tuple in a payload.
    #[inline]
    pub fn decode<'a>(&'a mut self, payload: &'a [u8]) -> Result<TupleRef<'a>, PayloadDecodeError> {
        match self {
            PayloadDecoder::Facade(layout) if payload.len() >= layout.size as usize => {}
            PayloadDecoder::Facade(layout) | PayloadDecoder::CheckedFacade(layout) => {
                layout::check(layout, payload).map_err(PayloadDecodeError::Facade)?;
            }
            PayloadDecoder::Normal(normal) => {
                let read = normal
                    .steps
                    .read_whole(payload, &normal.layout, &mut normal.tuple);
                read.map_err(PayloadDecodeError::Normal)?;
                return Ok(normal.tuple.as_ref());
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
