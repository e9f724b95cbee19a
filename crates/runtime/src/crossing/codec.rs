//! How tuples are written into the payloads of frames and read from them.

use std::sync::Arc;

use graph::Codec;
use tuple::layout::LayoutError;
use tuple::text::ReadError;
use tuple::{Layout, TupleBuf, TupleRef, Type, layout, normal};

/// Writes the tuples of one stream.
pub(super) enum Writing {
    /// As they lie in memory.
    Facade,
    /// Field by field.
    Normal(Arc<Layout>, Vec<u8>),
}

/// Reads the tuples of one stream.
pub(super) enum Reading {
    /// As they lie in memory; whoever wrote them is believed, or no bytes can be wrong.
    Facade(Arc<Layout>),
    /// The same from somebody who is not believed.
    Checked(Arc<Layout>),
    /// Field by field, into a tuple of our own.
    Normal(Arc<Layout>, TupleBuf),
}

/// Why a payload is no tuple.
#[derive(Debug)]
pub(super) enum Misread {
    Facade(LayoutError),
    Normal(ReadError),
}

impl Writing {
    /// For tuples of a layout.
    pub fn new(codec: Codec, layout: Arc<Layout>) -> Writing {
        match codec {
            Codec::Facade => Writing::Facade,
            Codec::Normal => Writing::Normal(layout, Vec::new()),
        }
    }

    /// The payload of a tuple.
    #[inline]
    pub fn payload<'a>(&'a mut self, tuple: TupleRef<'a>) -> &'a [u8] {
        match self {
            Writing::Facade => tuple.bytes(),
            Writing::Normal(layout, bytes) => {
                bytes.clear();
                normal::encode(tuple, layout, bytes);
                bytes
            }
        }
    }
}

impl Reading {
    /// For tuples of a layout. Nothing that a foreigner sends is believed.
    pub fn new(codec: Codec, layout: Arc<Layout>, is_foreign: bool) -> Reading {
        match codec {
            Codec::Facade if is_foreign && !is_plain(&layout) => Reading::Checked(layout),
            Codec::Facade => Reading::Facade(layout),
            Codec::Normal => Reading::Normal(layout, TupleBuf::default()),
        }
    }

    /// Whether any payload of the right length is a tuple as it lies.
    pub fn is_plain(&self) -> bool {
        matches!(self, Reading::Facade(_))
    }

    /// The tuple in a payload.
    #[inline]
    pub fn tuple<'a>(&'a mut self, payload: &'a [u8]) -> Result<TupleRef<'a>, Misread> {
        match self {
            Reading::Facade(layout) if payload.len() >= layout.size as usize => {}
            Reading::Facade(layout) | Reading::Checked(layout) => {
                layout::check(layout, payload).map_err(Misread::Facade)?;
            }
            Reading::Normal(layout, into) => {
                normal::decode(payload, layout, into).map_err(Misread::Normal)?;
                return Ok(into.as_ref());
            }
        }
        TupleRef::from_bytes(payload).map_err(Misread::Facade)
    }
}

/// Whether any bytes of the right length are a tuple.
fn is_plain(layout: &Layout) -> bool {
    let mut attributes = layout.schema.attributes.iter();
    attributes.all(|a| a.ty.is_numeric() || a.ty == Type::Timestamp)
}

impl std::fmt::Display for Misread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Misread::Facade(error) => error.fmt(f),
            Misread::Normal(error) => error.fmt(f),
        }
    }
}
