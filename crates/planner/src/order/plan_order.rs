//! The order that a plan keeps: receivers, merges, and the origins of each ordered crossing.

use std::collections::BTreeMap;

use graph::{CrossingId, Merge, OperatorId, OriginId, PortIndex, ReceiverPlan};

/// The order that a plan keeps, and the threads that keep it.
#[derive(Clone, Debug, Default)]
pub struct PlanOrder {
    /// The receivers of each PE, in order of their first crossings, without the crossings that
    /// merges take.
    pub receivers: Vec<Vec<ReceiverPlan>>,
    /// The merges of each PE, in order of the input ports that they feed.
    pub merges: Vec<Vec<Merge>>,
    /// The origins of each ordered crossing, by crossing.
    pub(super) crossings: BTreeMap<CrossingId, Vec<OriginId>>,
    /// The origins: operators without a port, queues with the port that they feed.
    pub(super) origin_ids: BTreeMap<(OperatorId, Option<PortIndex>), OriginId>,
}

impl PlanOrder {
    /// The origins that a crossing is ordered by, in order; none if the crossing is not ordered.
    pub fn origins_of_crossing(&self, crossing_id: CrossingId) -> &[OriginId] {
        let origins = self.crossings.get(&crossing_id);
        origins.map_or(&[], Vec::as_slice)
    }

    /// The origin of the tuples that an operator submits by itself; `None` if it submits none.
    pub fn origin_of_operator(&self, operator: OperatorId) -> Option<OriginId> {
        self.origin_ids.get(&(operator, None)).copied()
    }

    /// The origin that the queue of an input port is; `None` if the queue keeps the order of
    /// others.
    pub fn origin_of_queue(&self, operator: OperatorId, port: PortIndex) -> Option<OriginId> {
        self.origin_ids.get(&(operator, Some(port))).copied()
    }

    /// Whether no crossing is ordered and no PE has a merge.
    pub fn is_unordered(&self) -> bool {
        self.crossings.is_empty() && self.merges.iter().all(Vec::is_empty)
    }
}
