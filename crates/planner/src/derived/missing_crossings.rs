//! Crossings for the streams between PEs that have none yet.

use graph::{
    AUTO_MEDIUM, Crossing, CrossingCodec, CrossingRails, OperatorId, PeAssignment, PeId, Plan,
    PlanComment, Program,
};

use crate::streams::StreamConsumers;

/// Adds a crossing on [`AUTO_MEDIUM`] for every stream that other PEs take and no crossing brings
/// there. Sorts all crossings by [`Crossing::sort_key`].
pub fn add_missing_crossings(plan: &mut Plan, program: &Program, codec: CrossingCodec) {
    let stream_consumers = StreamConsumers::new(program);
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let crossing_index = plan.crossing_index();
    for operator in (0..program.operators.len() as u32).map(OperatorId) {
        for from in stream_consumers.streams_of(operator) {
            let operator_pe = pe_assignment.pe_of(operator);
            let consumers = stream_consumers.consumers_of(from).iter();
            let pes = consumers.filter_map(|to| pe_assignment.pe_of(to.operator));
            let is_missing =
                |pe: &PeId| Some(*pe) != operator_pe && !crossing_index.contains_key(&(from, *pe));
            let mut to: Vec<PeId> = pes.filter(is_missing).collect();
            to.sort_unstable();
            to.dedup();
            if to.is_empty() {
                continue;
            }
            plan.crossings.push(Crossing {
                from,
                to,
                medium: AUTO_MEDIUM.into(),
                medium_settings: "".into(),
                medium_reason: PlanComment::default(),
                codec,
                ring_bytes: None,
                batch: None,
                rails: CrossingRails::None,
            });
        }
    }
    plan.crossings.sort_by_key(Crossing::sort_key);
}
