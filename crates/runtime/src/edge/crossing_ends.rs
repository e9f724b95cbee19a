//! The ends of media that a PE is given, and handing them to the inserted operators.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{CrossingCodec, OriginId};
use transport::{ReceivingEnd, SendingEnd};

/// The ends of a PE's crossing streams, by the crossing's number.
#[derive(Default)]
pub struct CrossingEnds {
    /// The PE's own number, for messages.
    pub pe: u32,
    /// Where streams leave.
    pub outbound: BTreeMap<u32, OutboundCrossing>,
    /// Where streams come in.
    pub inbound: BTreeMap<u32, InboundCrossing>,
    /// Tuples are stamped, to know how long they are under way.
    pub measures_latency: bool,
    /// By operator: what it gives an order to. Empty: nothing in the PE is ordered.
    pub operator_origins: Vec<Option<OriginId>>,
}

/// The sending end of a crossing stream.
pub struct OutboundCrossing {
    /// The stream's name.
    pub stream: Arc<str>,
    /// The receiving PEs, in order of the receivers' numbers.
    pub to_pes: Vec<u32>,
    /// How tuples are written.
    pub codec: CrossingCodec,
    /// The medium's end.
    pub end: Box<dyn SendingEnd>,
}

/// A receiving end of a crossing stream.
pub struct InboundCrossing {
    /// The stream's name.
    pub stream: Arc<str>,
    /// The sending PE.
    pub from_pe: u32,
    /// How tuples are written.
    pub codec: CrossingCodec,
    /// Tuples come from a network and are checked before they are read.
    pub is_foreign: bool,
    /// The medium's end.
    pub end: Box<dyn ReceivingEnd>,
}
