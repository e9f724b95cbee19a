//! How a tuple is read from the payload of a frame.

use std::sync::Arc;

use graph::{Codec, Fault, FaultKind};
use tuple::{Layout, TupleRef, layout};

/// Reads the tuples of one stream.
pub(super) struct Reading {
    layout: Arc<Layout>,
    /// Nothing that comes is believed.
    is_foreign: bool,
}

impl Reading {
    /// For tuples of a layout.
    pub fn new(codec: Codec, layout: Arc<Layout>, is_foreign: bool) -> Result<Reading, Fault> {
        is_facade(codec)?;
        Ok(Reading { layout, is_foreign })
    }

    /// The tuple in a payload, or what is wrong with it.
    #[inline]
    pub fn tuple<'a>(&'a mut self, payload: &'a [u8]) -> Result<TupleRef<'a>, layout::LayoutError> {
        if self.is_foreign || payload.len() < self.layout.size as usize {
            layout::check(&self.layout, payload)?;
        }
        TupleRef::from_bytes(payload)
    }
}

/// There is no other codec yet.
pub(super) fn is_facade(codec: Codec) -> Result<(), Fault> {
    match codec {
        Codec::Facade => Ok(()),
        Codec::Normal => Err(Fault::new(FaultKind::Limit, "only facade tuples cross")),
    }
}
