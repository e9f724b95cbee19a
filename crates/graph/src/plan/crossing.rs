//! Streams that leave their process: the sending port, the receiving PEs and the medium.

use std::net::IpAddr;
use std::sync::Arc;

use super::plan_comment::PlanComment;
use super::plan_ids::PeId;
use crate::{OperatorId, OutPortId, PortIndex};

/// A stream that leaves its PE: one sender there, one receiver in each receiving PE.
///
/// Chosen are `medium` with its settings, `codec`, `ring_bytes`, `batch` and `rails`; `from` and
/// `to` follow from the operators of the PEs. A stream has one crossing, or several if its medium
/// serves fewer receivers than it has (`shm` at most 64): then each receiving PE is in one of them.
///
/// # Example
/// ```
/// use thalweg_graph::{
///     Crossing, CrossingCodec, CrossingRails, OperatorId, OutPortId, PeId, PortIndex,
///     PlanComment,
/// };
///
/// let crossing = Crossing {
///     from: OutPortId { operator: OperatorId(3), port: PortIndex(0) },
///     to: vec![PeId(1), PeId(2)],
///     medium: "rum".into(),
///     medium_settings: "".into(),
///     medium_reason: PlanComment::default(),
///     codec: CrossingCodec::Facade,
///     ring_bytes: Some(1 << 16),
///     // A batch goes out when it has 4,096 bytes, 25 µs after the previous one if more tuples
///     // come, or 50 µs after its first tuple.
///     batch: Some((25, 50, 4096)),
///     // One path.
///     rails: CrossingRails::None,
/// };
/// // Receiver 1 of the crossing is in PE 2.
/// assert_eq!(crossing.to[1], PeId(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The output port whose tuples cross.
    pub from: OutPortId,
    /// The receiving PEs, in order. A receiver's number is its index here.
    pub to: Vec<PeId>,
    /// The medium's name, such as `shm`; [`AUTO_MEDIUM`] until one is chosen.
    pub medium: Arc<str>,
    /// Settings of the medium's own: words `key=value` with a blank between them, such as
    /// `mode=channel` for `rdma`. Empty for the job's choice, else the medium's default.
    pub medium_settings: Arc<str>,
    /// Why the planner chose the medium.
    pub medium_reason: PlanComment,
    /// The form in which tuples are written.
    pub codec: CrossingCodec,
    /// Size of the crossing's ring in bytes, from 4,096 to 2,147,483,648 (`rum`: half as many),
    /// rounded up to a power of two; `None` for the medium's default. Larger tuples cross in
    /// pieces.
    pub ring_bytes: Option<u64>,
    /// Shortest and longest batching time in microseconds, and the size of a batch in bytes;
    /// `None` for the medium's default. Media that do not batch ignore it, and a note says so.
    pub batch: Option<(u32, u32, u32)>,
    /// The paths over which the stream goes.
    pub rails: CrossingRails,
}

/// The paths of a crossing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CrossingRails {
    /// One path, without the word `rails`.
    #[default]
    None,
    /// A path for each of these local addresses, on which the sender listens, two to
    /// [`Crossing::RAILS_MAX`]. The medium stripes the stream over them.
    Striped(Vec<IpAddr>),
    /// All paths that the kernels of both hosts know of, by Multipath TCP.
    Mptcp,
}

/// The medium of a crossing for which none is chosen yet. No medium has this name.
pub const AUTO_MEDIUM: &str = "auto";

/// The form in which a crossing writes tuples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossingCodec {
    /// The flat layout, byte for byte as tuples lie in memory: the receiver reads them in place.
    /// Both processes run on one kind of machine, as all PEs of a job do.
    #[default]
    Facade,
    /// Field by field, in network byte order: each attribute of each tuple is written, and read
    /// again.
    Normal,
}

impl Crossing {
    /// Most rails of a crossing.
    pub const RAILS_MAX: usize = 8;

    /// The key by which the crossings of a plan are sorted: sending operator, output port, first
    /// receiving PE.
    pub fn sort_key(&self) -> (OperatorId, PortIndex, Option<PeId>) {
        let OutPortId { operator, port } = self.from;
        (operator, port, self.to.first().copied())
    }
}
