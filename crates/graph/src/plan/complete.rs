//! Crossings for the streams that have none yet.

use super::flow::Flow;
use super::homes::Homes;
use super::{AUTO, Codec, Crossing, OperatorId, Plan, Program};

impl Plan {
    /// Adds a crossing, without a medium, for every stream that gets to PEs which no crossing takes
    /// it to. Puts all crossings in order.
    pub fn complete(&mut self, program: &Program, codec: Codec) {
        let flow = Flow::new(program);
        let homes = Homes::new(self, program.operators.len());
        let links = self.links();
        for operator in (0..program.operators.len() as u32).map(OperatorId) {
            for from in flow.streams(operator) {
                let home = homes.of(operator);
                let consumers = flow.of(from).iter();
                let pes = consumers.filter_map(|to| homes.of(to.operator));
                let is_missing = |pe: &u32| Some(*pe) != home && !links.contains_key(&(from, *pe));
                let mut to: Vec<u32> = pes.filter(is_missing).collect();
                to.sort_unstable();
                to.dedup();
                if to.is_empty() {
                    continue;
                }
                self.crossings.push(Crossing {
                    from,
                    to,
                    medium: AUTO.into(),
                    codec,
                    ring_bytes: None,
                    batch: None,
                });
            }
        }
        self.crossings.sort_by_key(Crossing::place);
    }
}
