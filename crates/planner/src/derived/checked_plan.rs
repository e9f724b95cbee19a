//! The subject of a check: a plan and its program, with the indices and names that checks need.

use graph::{OperatorId, OutPortId, PeAssignment, PeId, Plan, PlanPart, Program};

use super::plan_fault::{PlanCheckResult, PlanFault, ensure};
use crate::streams::StreamConsumers;

/// A plan that is being checked, and its program.
pub(super) struct CheckedPlan<'a> {
    pub plan: &'a Plan,
    pub program: &'a Program,
    pub stream_consumers: StreamConsumers,
    pub pe_assignment: PeAssignment,
}

impl<'a> CheckedPlan<'a> {
    pub fn new(plan: &'a Plan, program: &'a Program) -> CheckedPlan<'a> {
        CheckedPlan {
            plan,
            program,
            stream_consumers: StreamConsumers::new(program),
            pe_assignment: PeAssignment::new(plan, program.operators.len()),
        }
    }

    /// The name of a stream.
    ///
    /// # Errors
    /// The program has no such output port: a fault of `subject`.
    pub fn stream_name(&self, subject: PlanPart, from: OutPortId) -> Result<String, PlanFault> {
        let operator = self.program.operators.get(from.operator.0 as usize);
        let is_stream = operator.is_some_and(|o| from.port.index() < o.outputs.len());
        ensure(is_stream, subject, || {
            let name = self.operator_name(from.operator);
            format!("`{name}` has no output port {}", from.port)
        })?;
        Ok(self.program.stream_name(from).to_string())
    }

    /// Checks that a stream goes to another PE than its own, and that an operator there takes it.
    ///
    /// # Errors
    /// Another plan is needed: a fault of `subject`.
    pub fn check_arrival(
        &self,
        subject: PlanPart,
        name: &str,
        from: OutPortId,
        pe: PeId,
    ) -> PlanCheckResult {
        let count = self.plan.pes.len();
        ensure((pe.0 as usize) < count, subject, || match count {
            1 => format!("there is no pe {pe}, only pe 0"),
            _ => format!("there is no pe {pe}; the last one is pe {}", count - 1),
        })?;
        ensure(
            self.pe_assignment.pe_of(from.operator) != Some(pe),
            subject,
            || format!("`{name}` comes from pe {pe} itself"),
        )?;
        let mut consumers = self.stream_consumers.consumers_of(from).iter();
        let is_taken = consumers.any(|to| self.pe_assignment.pe_of(to.operator) == Some(pe));
        ensure(is_taken, subject, || {
            format!("no operator of pe {pe} takes `{name}`")
        })
    }

    /// The name of an operator; its number, if the program does not have it.
    pub fn operator_name(&self, id: OperatorId) -> String {
        let operator = self.program.operators.get(id.0 as usize);
        operator.map_or_else(|| id.0.to_string(), |operator| operator.name.to_string())
    }
}
