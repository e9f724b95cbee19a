//! An index of a plan: the PE that each operator is in.

use super::Plan;
use crate::OperatorId;

/// The PE of every operator.
#[derive(Clone, Debug)]
pub struct PeAssignment {
    pes: Vec<Option<u32>>,
}

impl PeAssignment {
    /// The index of a plan, for a program that has `operators` operators. An operator that several
    /// PEs name is in the first of them; numbers that the program does not have are left out.
    pub fn new(plan: &Plan, operators: usize) -> PeAssignment {
        let mut pes = vec![None; operators];
        for (number, pe) in (0..).zip(&plan.pes) {
            for operator in &pe.operators {
                if let Some(operator_pe) = pes.get_mut(operator.0 as usize) {
                    operator_pe.get_or_insert(number);
                }
            }
        }
        PeAssignment { pes }
    }

    /// The number of an operator's PE; `None` if no PE has the operator.
    pub fn pe_of(&self, operator: OperatorId) -> Option<u32> {
        self.pes.get(operator.0 as usize).copied().flatten()
    }
}
