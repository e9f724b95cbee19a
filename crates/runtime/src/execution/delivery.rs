//! Items that are delivered to an input port: at once, or later if the operator is busy.

use graph::PortIndex;
use tuple::{Punctuation, TupleBuf, TupleRef, Watermark};

/// An item for an input port, borrowed from the thread that submits it.
#[derive(Clone, Copy)]
pub(crate) enum Delivery<'a> {
    Tuple(TupleRef<'a>),
    Punctuation(Punctuation),
    /// A watermark with the number of its stream.
    Watermark(&'a (u32, Watermark)),
    Abandon,
}

/// An item for an input port that is delivered when the operator has returned; the port comes
/// first.
#[derive(Debug)]
pub(crate) enum PendingDelivery {
    Tuple(PortIndex, TupleBuf),
    Punctuation(PortIndex, Punctuation),
    /// A watermark with the number of its stream.
    Watermark(PortIndex, (u32, Watermark)),
    Abandon(PortIndex),
}

impl Delivery<'_> {
    pub fn to_pending(self, port: PortIndex) -> PendingDelivery {
        match self {
            Delivery::Tuple(tuple) => {
                let mut copy = TupleBuf::default();
                copy.copy_from(tuple);
                PendingDelivery::Tuple(port, copy)
            }
            Delivery::Punctuation(mark) => PendingDelivery::Punctuation(port, mark),
            Delivery::Watermark((stream, mark)) => {
                PendingDelivery::Watermark(port, (*stream, *mark))
            }
            Delivery::Abandon => PendingDelivery::Abandon(port),
        }
    }
}

impl PendingDelivery {
    pub fn as_delivery(&self) -> (PortIndex, Delivery<'_>) {
        match self {
            PendingDelivery::Tuple(port, tuple) => (*port, Delivery::Tuple(tuple.as_ref())),
            PendingDelivery::Punctuation(port, mark) => (*port, Delivery::Punctuation(*mark)),
            PendingDelivery::Watermark(port, mark) => (*port, Delivery::Watermark(mark)),
            PendingDelivery::Abandon(port) => (*port, Delivery::Abandon),
        }
    }
}
