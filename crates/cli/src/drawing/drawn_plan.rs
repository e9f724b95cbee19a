//! The plan behind a drawing: the PE of each operator, and the medium of each stream between PEs.

use std::collections::HashMap;
use std::sync::Arc;

use graph::{EdgeMedium, OperatorId, OutPortId, PeId, PePlan, Plan, PortIndex, Program};

use super::StreamWay;

/// The plan that a drawing shows; without a plan it has no PEs and no media.
pub(super) struct DrawnPlan<'a> {
    plan: Option<&'a Plan>,
    /// PE of each operator, by the operator's number.
    operator_pes: Vec<Option<PeId>>,
    /// Ways within the PEs, but for direct calls.
    inner_ways: HashMap<(OutPortId, OperatorId, PortIndex), StreamWay>,
}

impl<'a> DrawnPlan<'a> {
    /// Looks up the PE of every operator of the program. An operator that several PEs list is drawn
    /// in the first of them.
    pub fn new(program: &Program, plan: Option<&'a Plan>) -> DrawnPlan<'a> {
        let mut operator_pes = vec![None; program.operators.len()];
        let pes = plan.iter().flat_map(|plan| &plan.pes);
        for (id, pe) in (0..).map(PeId).zip(pes) {
            for operator in &pe.operators {
                if let Some(operator_pe) = operator_pes.get_mut(operator.0 as usize) {
                    operator_pe.get_or_insert(id);
                }
            }
        }
        let edges = plan.iter().flat_map(|plan| &plan.pes);
        let inner = edges.flat_map(|pe| &pe.edges).filter_map(|edge| {
            let way = match edge.medium {
                EdgeMedium::Queue => StreamWay::Queue,
                EdgeMedium::Merge => StreamWay::Merge,
                EdgeMedium::Fused | EdgeMedium::Crossing(_) => return None,
            };
            Some(((edge.from, edge.operator, edge.port), way))
        });
        DrawnPlan {
            inner_ways: inner.collect(),
            plan,
            operator_pes,
        }
    }

    /// The PEs with their ids.
    pub fn pes(&self) -> impl Iterator<Item = (PeId, &'a PePlan)> {
        let pes = self.plan.into_iter().flat_map(|plan| &plan.pes);
        (0..).map(PeId).zip(pes)
    }

    /// The PE of an operator; `None` without a plan, and for an operator in no PE.
    pub fn pe_of(&self, operator: OperatorId) -> Option<PeId> {
        self.operator_pes
            .get(operator.0 as usize)
            .copied()
            .flatten()
    }

    /// The way of a stream to an input port.
    pub fn way(&self, from: OutPortId, to: OperatorId, port: PortIndex) -> StreamWay {
        match self.medium_between(from, to) {
            Some(medium) => StreamWay::Medium(medium),
            None => {
                let inner = self.inner_ways.get(&(from, to, port));
                inner.cloned().unwrap_or(StreamWay::Call)
            }
        }
    }

    /// The medium of a stream to an operator of another PE; `None` within a PE.
    pub fn medium_between(&self, from: OutPortId, to: OperatorId) -> Option<Arc<str>> {
        let to = self.pe_of(to)?;
        if self.pe_of(from.operator) == Some(to) {
            return None;
        }
        let mut crossings = self.plan?.crossings.iter();
        let crossing = crossings.find(|c| c.from == from && c.to.contains(&to))?;
        Some(crossing.medium.clone())
    }
}

/// `pe 1`, `pe 1 on near`
pub(super) fn pe_title(id: PeId, pe: &PePlan) -> String {
    match &pe.host {
        Some(host) => format!("pe {id} on {host}"),
        None => format!("pe {id}"),
    }
}
