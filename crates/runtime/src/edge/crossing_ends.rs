//! The ends of media that a PE is given, by crossing.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{CrossingCodec, CrossingId, OriginId, PeId};
use transport::{ReceivingEnd, SendingEnd};

/// The ends of a PE's crossing streams, by crossing.
#[derive(Default)]
pub struct CrossingEnds {
    /// The PE itself, for messages.
    pub pe: PeId,
    /// Sending ends, by crossing.
    pub outbound: BTreeMap<CrossingId, OutboundCrossing>,
    /// Receiving ends, by crossing.
    pub inbound: BTreeMap<CrossingId, InboundCrossing>,
    /// Whether tuples are stamped, to measure how long they are under way.
    pub measures_latency: bool,
    /// By operator: the origin that it is. Empty if nothing in the PE is ordered.
    pub operator_origins: Vec<Option<OriginId>>,
}

/// The sending end of a crossing stream.
pub struct OutboundCrossing {
    /// Name of the stream.
    pub stream: Arc<str>,
    /// The receiving PEs, in order of the receivers' numbers.
    pub to_pes: Vec<PeId>,
    /// Codec by which tuples are written.
    pub codec: CrossingCodec,
    /// The sending end of the medium.
    pub end: Box<dyn SendingEnd>,
}

/// A receiving end of a crossing stream.
pub struct InboundCrossing {
    /// Name of the stream.
    pub stream: Arc<str>,
    /// The PE that sends the stream.
    pub from_pe: PeId,
    /// Codec by which tuples are written.
    pub codec: CrossingCodec,
    /// Whether tuples come from a network, and are checked before they are read.
    pub is_foreign: bool,
    /// The receiving end of the medium.
    pub end: Box<dyn ReceivingEnd>,
}
