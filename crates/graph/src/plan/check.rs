//! Whether a plan fits a program: the invariants of the plan, one after the other.

use std::collections::HashSet;

use super::pe_assignment::PeAssignment;
use super::pins;
use super::stream_consumers::StreamConsumers;
use super::{AUTO_MEDIUM, Crossing, OperatorId, OutPortId, PePlan, Plan, Program, ThreadedPort};

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFault {
    /// What it is about.
    pub part: PlanPart,
    /// What is wrong: a sentence without a full stop.
    pub message: String,
}

/// A part of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPart {
    /// All of it.
    Plan,
    /// A PE.
    Pe(u32),
    /// An operator in a PE.
    Operator(u32, OperatorId),
    /// A threaded port of a PE, by its index there.
    Queue(u32, usize),
    /// A pinned thread of a PE, by its index there.
    Pin(u32, usize),
    /// A crossing.
    Crossing(u32),
}

pub(super) type PlanCheckResult = Result<(), PlanFault>;

impl Plan {
    /// Checks that this is a complete plan of a program, and that everything in it that follows
    /// from the rest does.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self, program: &Program) -> PlanCheckResult {
        self.check_partial(program)?;
        let check = PlanCheck::new(self, program);
        check.check_complete()?;
        let mut again = self.clone();
        again.derive(program);
        let message = "edges, regions and shared operators are not those of its operators";
        ensure(again == *self, PlanPart::Plan, || message.to_owned())
    }

    /// Checks what is there, though streams may cross that have no crossing or medium yet.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_partial(&self, program: &Program) -> PlanCheckResult {
        let check = PlanCheck::new(self, program);
        for (number, pe) in (0..).zip(&self.pes) {
            check.check_pe(number, pe)?;
        }
        check.check_operators()?;
        check.check_loops()?;
        for (number, pe) in (0..).zip(&self.pes) {
            for (at, queue) in pe.threaded_ports.iter().enumerate() {
                check.check_queue(number, at, queue)?;
            }
        }
        let mut carried = HashSet::new();
        for (crossing_number, crossing) in (0..).zip(&self.crossings) {
            check.check_crossing(crossing_number, crossing, &mut carried)?;
        }
        let order = self.crossings.iter().map(Crossing::sort_key);
        let message = || "its crossings are not in order of the program".to_owned();
        ensure(order.is_sorted(), PlanPart::Plan, message)?;
        pins::check_pins(&check)
    }
}

impl Crossing {
    /// Where it stands among the crossings of a plan.
    pub(super) fn sort_key(&self) -> (OperatorId, u32, Option<u32>) {
        let OutPortId { operator, port } = self.from;
        (operator, port, self.to.first().copied())
    }
}

pub(super) fn ensure(
    holds: bool,
    subject: PlanPart,
    message: impl FnOnce() -> String,
) -> PlanCheckResult {
    if holds {
        return Ok(());
    }
    let message = message();
    Err(PlanFault {
        part: subject,
        message,
    })
}

/// A plan on its way through the checks.
pub(super) struct PlanCheck<'a> {
    pub plan: &'a Plan,
    pub program: &'a Program,
    stream_consumers: StreamConsumers,
    pub pe_assignment: PeAssignment,
}

impl<'a> PlanCheck<'a> {
    fn new(plan: &'a Plan, program: &'a Program) -> PlanCheck<'a> {
        PlanCheck {
            plan,
            program,
            stream_consumers: StreamConsumers::new(program),
            pe_assignment: PeAssignment::new(plan, program.operators.len()),
        }
    }

    fn check_pe(&self, number: u32, pe: &PePlan) -> PlanCheckResult {
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
        for (number, pe) in (0..).zip(&self.plan.pes) {
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
            let number = other.unwrap_or_default();
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

    fn check_queue(&self, number: u32, at: usize, queue: &ThreadedPort) -> PlanCheckResult {
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
        ensure((queue.port as usize) < ports, subject, || {
            let name = self.operator_name(queue.operator);
            format!("`{name}` has no input port {}", queue.port)
        })?;
        ensure(queue.tuples_max > 0, subject, || {
            "a queue holds at least 1 tuple".to_owned()
        })?;
        let place = |queue: &ThreadedPort| (queue.operator, queue.port);
        let before = self.plan.pes[number as usize].threaded_ports[..at].last();
        let Some(before) = before.map(place) else {
            return Ok(());
        };
        ensure(before != place(queue), subject, || {
            let name = self.operator_name(queue.operator);
            format!("`{name}.{}` has two queues", queue.port)
        })?;
        ensure(before < place(queue), subject, || {
            format!("the threaded ports of pe {number} are not in order")
        })
    }

    fn check_crossing(
        &self,
        link: u32,
        crossing: &Crossing,
        carried: &mut HashSet<(OutPortId, u32)>,
    ) -> PlanCheckResult {
        let subject = PlanPart::Crossing(link);
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

    /// The name of a stream, if it is one.
    pub fn stream_name(&self, subject: PlanPart, from: OutPortId) -> Result<String, PlanFault> {
        let operator = self.program.operators.get(from.operator.0 as usize);
        let is_stream = operator.is_some_and(|o| (from.port as usize) < o.outputs.len());
        ensure(is_stream, subject, || {
            let name = self.operator_name(from.operator);
            format!("`{name}` has no output port {}", from.port)
        })?;
        Ok(self.program.stream_name(from).to_string())
    }

    /// A stream goes to a PE, and something there takes it.
    pub fn check_arrival(
        &self,
        subject: PlanPart,
        name: &str,
        from: OutPortId,
        pe: u32,
    ) -> PlanCheckResult {
        let count = self.plan.pes.len();
        ensure((pe as usize) < count, subject, || match count {
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

    /// Every edge between PEs belongs to a crossing, every crossing has its medium.
    fn check_complete(&self) -> PlanCheckResult {
        let crossing_index = self.plan.crossing_index();
        for (to, operator) in (0..).map(OperatorId).zip(&self.program.operators) {
            let pe = self.pe_assignment.pe_of(to).unwrap_or_default();
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
        for (crossing_number, crossing) in (0..).zip(&self.plan.crossings) {
            ensure(
                *crossing.medium != *AUTO_MEDIUM,
                PlanPart::Crossing(crossing_number),
                || {
                    let name = self.program.stream_name(crossing.from);
                    format!("`{name}` crosses on no medium")
                },
            )?;
        }
        Ok(())
    }

    pub fn operator_name(&self, id: OperatorId) -> String {
        let operator = self.program.operators.get(id.0 as usize);
        operator.map_or_else(|| id.0.to_string(), |operator| operator.name.to_string())
    }
}

fn and_more(count: usize) -> String {
    match count {
        0 => String::new(),
        n => format!(", and {n} more"),
    }
}
