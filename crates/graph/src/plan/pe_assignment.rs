//! An index of a plan: the PE that each operator is in.

use super::{PeId, Plan};
use crate::OperatorId;

/// The PE of every operator, for lookups in constant time.
///
/// # Example
/// ```
/// use thalweg_graph::{OperatorId, PeAssignment, PeId, PePlan, Plan};
///
/// let mut plan = Plan::default();
/// for operators in [vec![OperatorId(0), OperatorId(2)], vec![OperatorId(1)]] {
///     plan.pes.push(PePlan { operators, ..PePlan::default() });
/// }
/// let pes = PeAssignment::new(&plan, 4);
/// assert_eq!(pes.pe_of(OperatorId(1)), Some(PeId(1)));
/// assert_eq!(pes.pe_of(OperatorId(3)), None);
/// ```
#[derive(Clone, Debug)]
pub struct PeAssignment {
    pes: Vec<Option<PeId>>,
}

impl PeAssignment {
    /// The index of a plan, for a program that has `operators` operators. An operator that several
    /// PEs name is in the first of them; numbers that the program does not have are left out.
    pub fn new(plan: &Plan, operators: usize) -> PeAssignment {
        let mut pes = vec![None; operators];
        for (id, pe) in plan.pe_ids().zip(&plan.pes) {
            for operator in &pe.operators {
                if let Some(operator_pe) = pes.get_mut(operator.0 as usize) {
                    operator_pe.get_or_insert(id);
                }
            }
        }
        PeAssignment { pes }
    }

    /// The PE of an operator; `None` if no PE has the operator.
    pub fn pe_of(&self, operator: OperatorId) -> Option<PeId> {
        self.pes.get(operator.0 as usize).copied().flatten()
    }
}
