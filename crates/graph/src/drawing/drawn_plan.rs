//! What a plan adds to the pictures: the PE of each operator, the medium of each stream between
//! PEs.

use std::sync::Arc;

use crate::{OperatorId, OutPortId, PeAssignment, PePlan, Plan, Program};

/// A plan to be drawn; without one every question is answered with nothing.
pub(super) struct DrawnPlan<'a> {
    plan: Option<(&'a Plan, PeAssignment)>,
}

impl<'a> DrawnPlan<'a> {
    pub fn new(program: &Program, plan: Option<&'a Plan>) -> DrawnPlan<'a> {
        let homes = |plan| (plan, PeAssignment::new(plan, program.operators.len()));
        DrawnPlan {
            plan: plan.map(homes),
        }
    }

    /// The PEs with their numbers.
    pub fn pes(&self) -> impl Iterator<Item = (u32, &'a PePlan)> {
        let pes = self.plan.iter().flat_map(|(plan, _)| &plan.pes);
        (0..).zip(pes)
    }

    /// The PE of an operator.
    pub fn pe_of(&self, operator: OperatorId) -> Option<u32> {
        self.plan.as_ref()?.1.pe_of(operator)
    }

    /// What a stream rides on to an operator of another PE.
    pub fn medium_between(&self, from: OutPortId, to: OperatorId) -> Option<Arc<str>> {
        let (plan, homes) = self.plan.as_ref()?;
        let to = homes.pe_of(to)?;
        if homes.pe_of(from.operator) == Some(to) {
            return None;
        }
        let mut crossings = plan.crossings.iter();
        let crossing = crossings.find(|c| c.from == from && c.to.contains(&to))?;
        Some(crossing.medium.clone())
    }
}

/// `pe_of 1`, `pe_of 1 on near`
pub(super) fn pe_title(number: u32, pe: &PePlan) -> String {
    match &pe.host {
        Some(host) => format!("pe {number} on {host}"),
        None => format!("pe {number}"),
    }
}
