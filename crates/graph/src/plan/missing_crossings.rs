//! Crossings for the streams that have none yet.

use super::pe_assignment::PeAssignment;
use super::stream_consumers::StreamConsumers;
use super::{AUTO_MEDIUM, Crossing, CrossingCodec, OperatorId, Plan, Program};

impl Plan {
    /// Adds a crossing, without a medium, for every stream that gets to PEs which no crossing takes
    /// it to. Puts all crossings in order.
    pub fn add_missing_crossings(&mut self, program: &Program, codec: CrossingCodec) {
        let stream_consumers = StreamConsumers::new(program);
        let pe_assignment = PeAssignment::new(self, program.operators.len());
        let crossing_index = self.crossing_index();
        for operator in (0..program.operators.len() as u32).map(OperatorId) {
            for from in stream_consumers.streams_of(operator) {
                let operator_pe = pe_assignment.pe_of(operator);
                let consumers = stream_consumers.consumers_of(from).iter();
                let pes = consumers.filter_map(|to| pe_assignment.pe_of(to.operator));
                let is_missing = |pe: &u32| {
                    Some(*pe) != operator_pe && !crossing_index.contains_key(&(from, *pe))
                };
                let mut to: Vec<u32> = pes.filter(is_missing).collect();
                to.sort_unstable();
                to.dedup();
                if to.is_empty() {
                    continue;
                }
                self.crossings.push(Crossing {
                    from,
                    to,
                    medium: AUTO_MEDIUM.into(),
                    codec,
                    ring_bytes: None,
                    batch: None,
                });
            }
        }
        self.crossings.sort_by_key(Crossing::sort_key);
    }
}
