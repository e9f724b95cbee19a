//! The ends of media that a PE is given, by crossing.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{CrossingCodec, OriginId};
use transport::{ReceivingEnd, SendingEnd};

/// The ends of a PE's crossing streams, by the crossing's number.
#[derive(Default)]
pub struct CrossingEnds {
    /// Number of the PE itself, for messages.
    pub pe: u32,
    /// Sending ends, by the crossing's number.
    pub outbound: BTreeMap<u32, OutboundCrossing>,
    /// Receiving ends, by the crossing's number.
    pub inbound: BTreeMap<u32, InboundCrossing>,
    /// Whether tuples are stamped, to measure how long they are under way.
    pub measures_latency: bool,
    /// By operator: the origin that it is. Empty if nothing in the PE is ordered.
    pub operator_origins: Vec<Option<OriginId>>,
}

/// The sending end of a crossing stream.
pub struct OutboundCrossing {
    /// Name of the stream.
    pub stream: Arc<str>,
    /// Numbers of the receiving PEs, in order of the receivers' numbers.
    pub to_pes: Vec<u32>,
    /// Codec by which tuples are written.
    pub codec: CrossingCodec,
    /// The sending end of the medium.
    pub end: Box<dyn SendingEnd>,
}

/// A receiving end of a crossing stream.
pub struct InboundCrossing {
    /// Name of the stream.
    pub stream: Arc<str>,
    /// Number of the sending PE.
    pub from_pe: u32,
    /// Codec by which tuples are written.
    pub codec: CrossingCodec,
    /// Whether tuples come from a network, and are checked before they are read.
    pub is_foreign: bool,
    /// The receiving end of the medium.
    pub end: Box<dyn ReceivingEnd>,
}
