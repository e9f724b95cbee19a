//! Whether a plan fits a program: the invariants of the plan, one after the other.

use std::collections::HashSet;

use graph::{
    AUTO_MEDIUM, Crossing, CrossingId, OperatorId, OutPortId, PeId, PePlan, Plan, PlanPart,
    Program, ThreadedPort,
};

use super::checked_plan::CheckedPlan;
use super::derive::derive;
use super::pin_check;
use super::plan_fault::{PlanCheckResult, PlanFault, ensure};

/// Checks that `plan` is a complete plan of `program`, and that its derived fields are those that
/// [`derive()`] works out.
///
/// # Errors
/// The first fault that is found.
pub fn check(plan: &Plan, program: &Program) -> Result<(), PlanFault> {
    check_partial(plan, program)?;
    CheckedPlan::new(plan, program).check_complete()?;
    let mut again = plan.clone();
    derive(&mut again, program);
    let message = "edges, receivers and merges are not those of its operators";
    ensure(again == *plan, PlanPart::Plan, || message.to_owned())
}

/// Checks a plan in which crossings and media may be missing, and whose derived fields may be out
/// of date.
///
/// # Errors
/// The first fault that is found.
pub fn check_partial(plan: &Plan, program: &Program) -> Result<(), PlanFault> {
    let checked = CheckedPlan::new(plan, program);
    for (number, pe) in plan.pe_ids().zip(&plan.pes) {
        checked.check_pe(number, pe)?;
    }
    checked.check_operators()?;
    checked.check_loops()?;
    for (number, pe) in plan.pe_ids().zip(&plan.pes) {
        checked.check_pool(number, pe)?;
        for (at, queue) in pe.threaded_ports.iter().enumerate() {
            checked.check_queue(number, at, queue)?;
        }
    }
    let mut carried = HashSet::new();
    for (id, crossing) in plan.crossing_ids().zip(&plan.crossings) {
        checked.check_crossing(id, crossing, &mut carried)?;
    }
    let order = plan.crossings.iter().map(Crossing::sort_key);
    let message = || "its crossings are not in order of the program".to_owned();
    ensure(order.is_sorted(), PlanPart::Plan, message)?;
    pin_check::check_pins(&checked)
}

impl CheckedPlan<'_> {
    /// A PE has operators, in order.
    fn check_pe(&self, number: PeId, pe: &PePlan) -> PlanCheckResult {
        let subject = PlanPart::Pe(number);
        ensure(!pe.operators.is_empty(), subject, || {
            format!("pe {number} has no operators")
        })?;
        let is_sorted = pe.operators.is_sorted_by(|a, b| a < b);
        ensure(is_sorted, subject, || {
            format!("the operators of pe {number} are not in order of the program")
        })
    }

    /// Every operator is in exactly one PE.
    fn check_operators(&self) -> PlanCheckResult {
        for (number, pe) in self.plan.pe_ids().zip(&self.plan.pes) {
            for &id in &pe.operators {
                let subject = PlanPart::Operator(number, id);
                ensure(
                    (id.0 as usize) < self.program.operators.len(),
                    subject,
                    || format!("the program has no operator {}", id.0),
                )?;
                let operator_pe = self.pe_assignment.pe_of(id).unwrap_or(number);
                ensure(operator_pe == number, subject, || {
                    format!(
                        "`{}` is in pe {operator_pe} already",
                        self.operator_name(id)
                    )
                })?;
            }
        }
        let all = (0..self.program.operators.len() as u32).map(OperatorId);
        let mut without = all.filter(|&id| self.pe_assignment.pe_of(id).is_none());
        match without.next() {
            None => Ok(()),
            Some(id) => ensure(false, PlanPart::Plan, || {
                format!(
                    "`{}` is in no pe{}",
                    self.operator_name(id),
                    and_more(without.count())
                )
            }),
        }
    }

    /// The operators of a loop are in one PE.
    fn check_loops(&self) -> PlanCheckResult {
        let mut first: Vec<Option<OperatorId>> = vec![None; self.program.operators.len()];
        for (at, number) in (0..).zip(self.stream_consumers.loops()) {
            let (id, Some(number)) = (OperatorId(at), number) else {
                continue;
            };
            let first = *first[number as usize].get_or_insert(id);
            let (one, other) = (
                self.pe_assignment.pe_of(first),
                self.pe_assignment.pe_of(id),
            );
            let number = other.expect("every operator is in a PE: that is checked before");
            ensure(one == other, PlanPart::Operator(number, id), || {
                format!(
                    "`{}` and `{}` stand in a loop, so they have to be in one pe: queues between \
                     processes that feed each other could fill up for ever",
                    self.operator_name(first),
                    self.operator_name(id)
                )
            })?;
        }
        Ok(())
    }

    /// A pool has threads.
    fn check_pool(&self, number: PeId, pe: &PePlan) -> PlanCheckResult {
        let Some(pool) = pe.pool else {
            return Ok(());
        };
        let subject = PlanPart::Pool(number);
        ensure(pool.threads > 0, subject, || {
            "a pool has at least 1 thread".to_owned()
        })?;
        let is_range = pool.elastic_max.is_none_or(|max| max >= pool.threads);
        ensure(is_range, subject, || {
            format!(
                "a pool that begins with {} threads may have as many, not only {}",
                pool.threads,
                pool.elastic_max.unwrap_or_default()
            )
        })
    }

    /// A pooled queue has a pool, no core of its own, and stands in no loop: a thread of the pool
    /// that waits for a full queue runs it, and must not come back to where it waits.
    fn check_pooled(
        &self,
        number: PeId,
        subject: PlanPart,
        queue: &ThreadedPort,
    ) -> PlanCheckResult {
        if !queue.is_pooled {
            return Ok(());
        }
        let has_pool = self.plan.pe(number).pool.is_some();
        ensure(has_pool, subject, || {
            format!("a pooled queue needs a line `pool THREADS` in pe {number}")
        })?;
        ensure(queue.core.is_none(), subject, || {
            "a pooled queue has no thread of its own, so it has no core".to_owned()
        })?;
        let loops = self.stream_consumers.loops();
        let at = queue.operator.0 as usize;
        let sources = &self.program.operators[at].inputs[queue.port.index()].sources;
        let mut feeding = sources.iter().map(|from| loops[from.operator.0 as usize]);
        let is_looped = loops[at].is_some() && feeding.any(|number| number == loops[at]);
        ensure(!is_looped, subject, || {
            let name = self.operator_name(queue.operator);
            format!(
                "a loop comes back to `{name}.{}`, so its queue needs a thread of its own and \
                 cannot be pooled",
                queue.port
            )
        })
    }

    /// A queue is at an input port of its PE, holds tuples and comes in order.
    fn check_queue(&self, number: PeId, at: usize, queue: &ThreadedPort) -> PlanCheckResult {
        let subject = PlanPart::Queue(number, at);
        let is_here = self.pe_assignment.pe_of(queue.operator) == Some(number);
        ensure(is_here, subject, || {
            format!(
                "`{}` is not in pe {number}",
                self.operator_name(queue.operator)
            )
        })?;
        let ports = self.program.operators[queue.operator.0 as usize]
            .inputs
            .len();
        ensure(queue.port.index() < ports, subject, || {
            let name = self.operator_name(queue.operator);
            format!("`{name}` has no input port {}", queue.port)
        })?;
        ensure(queue.tuples_max > 0, subject, || {
            "a queue holds at least 1 tuple".to_owned()
        })?;
        self.check_pooled(number, subject, queue)?;
        let before = self.plan.pe(number).threaded_ports[..at].last();
        let Some(before) = before.map(ThreadedPort::in_port) else {
            return Ok(());
        };
        ensure(before != queue.in_port(), subject, || {
            let name = self.operator_name(queue.operator);
            format!("`{name}.{}` has two queues", queue.port)
        })?;
        ensure(before < queue.in_port(), subject, || {
            format!("the threaded ports of pe {number} are not in order")
        })
    }

    /// A crossing brings its stream to PEs that take it, once each.
    fn check_crossing(
        &self,
        id: CrossingId,
        crossing: &Crossing,
        carried: &mut HashSet<(OutPortId, PeId)>,
    ) -> PlanCheckResult {
        let subject = PlanPart::Crossing(id);
        let from = crossing.from;
        let name = self.stream_name(subject, from)?;
        let is_list = !crossing.to.is_empty() && crossing.to.is_sorted();
        ensure(is_list, subject, || {
            format!("the pes that `{name}` goes to are not a list in order")
        })?;
        for &pe in &crossing.to {
            self.check_arrival(subject, &name, from, pe)?;
            ensure(carried.insert((from, pe)), subject, || {
                format!("`{name}` crosses to pe {pe} twice")
            })?;
        }
        let (shortest, longest, _) = crossing.batch.unwrap_or_default();
        ensure(shortest <= longest, subject, || {
            format!("the shortest batching time, {shortest}, is above the longest, {longest}")
        })
    }

    /// Every edge between PEs belongs to a crossing, every crossing has its medium.
    fn check_complete(&self) -> PlanCheckResult {
        let crossing_index = self.plan.crossing_index();
        for (to, operator) in (0..).map(OperatorId).zip(&self.program.operators) {
            let pe = self.pe_assignment.pe_of(to);
            let pe = pe.expect("every operator is in a PE: that is checked before");
            for &from in operator.inputs.iter().flat_map(|input| &input.sources) {
                let is_near = self.pe_assignment.pe_of(from.operator) == Some(pe);
                ensure(
                    is_near || crossing_index.contains_key(&(from, pe)),
                    PlanPart::Plan,
                    || {
                        let name = self.program.stream_name(from);
                        format!("`{name}` has no crossing to pe {pe}")
                    },
                )?;
            }
        }
        for (crossing_id, crossing) in self.plan.crossing_ids().zip(&self.plan.crossings) {
            ensure(
                *crossing.medium != *AUTO_MEDIUM,
                PlanPart::Crossing(crossing_id),
                || {
                    let name = self.program.stream_name(crossing.from);
                    format!("`{name}` crosses on no medium")
                },
            )?;
        }
        Ok(())
    }
}

/// The end of a sentence about one of several.
fn and_more(count: usize) -> String {
    match count {
        0 => String::new(),
        n => format!(", and {n} more"),
    }
}
