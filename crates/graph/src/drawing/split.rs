//! What a plan adds to the pictures: the PE of each operator, the medium of each stream between PEs.

use std::sync::Arc;

use crate::{Edge, Homes, OperatorId, Pe, Plan, Program};

/// A plan to be drawn; without one every question is answered with nothing.
pub(super) struct Split<'a> {
    plan: Option<(&'a Plan, Homes)>,
}

impl<'a> Split<'a> {
    pub fn new(program: &Program, plan: Option<&'a Plan>) -> Split<'a> {
        let homes = |plan| (plan, Homes::new(plan, program.operators.len()));
        Split {
            plan: plan.map(homes),
        }
    }

    /// The PEs with their numbers.
    pub fn pes(&self) -> impl Iterator<Item = (u32, &'a Pe)> {
        let pes = self.plan.iter().flat_map(|(plan, _)| &plan.pes);
        (0..).zip(pes)
    }

    /// The PE of an operator.
    pub fn pe(&self, operator: OperatorId) -> Option<u32> {
        self.plan.as_ref()?.1.of(operator)
    }

    /// What a stream rides on to an operator of another PE.
    pub fn medium(&self, from: Edge, to: OperatorId) -> Option<Arc<str>> {
        let (plan, homes) = self.plan.as_ref()?;
        let to = homes.of(to)?;
        if homes.of(from.operator) == Some(to) {
            return None;
        }
        let mut crossings = plan.crossings.iter();
        let crossing = crossings.find(|c| c.from == from && c.to.contains(&to))?;
        Some(crossing.medium.clone())
    }
}

/// `pe 1`, `pe 1 on near`
pub(super) fn title(number: u32, pe: &Pe) -> String {
    match &pe.host {
        Some(host) => format!("pe {number} on {host}"),
        None => format!("pe {number}"),
    }
}
