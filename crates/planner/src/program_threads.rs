//! The threads of all PEs by the operators of the program, for drawings of a plan.

use graph::{OperatorId, Plan, Program, ThreadStartPoint};

use crate::cut::ProgramCuts;
use crate::derived::{PlanFault, check};
use crate::pe_threads::pe_threads;

/// A thread of a PE, with the operators of the program that it may enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramThread {
    /// Words for the beginning of the thread: `source Trades`, `queue of Filter.0`.
    pub name: String,
    /// Operators of the program that the thread may enter by direct calls, in order.
    pub operators: Vec<OperatorId>,
    /// Core that the thread has for itself, if it has one.
    pub core: Option<u32>,
    /// Whether threads of the pool take the part of this one by turns.
    pub is_pooled: bool,
}

/// The threads of each PE of a plan, numbered as in the comments that
/// [`thread_comments`](crate::thread_comments()) prints, without operators that the plan inserts.
///
/// # Example
/// ```
/// let program = graph::Program::default();
/// let threads = thalweg_planner::program_threads(&program, &graph::Plan::default())?;
/// assert!(threads.is_empty());
/// # Ok::<(), thalweg_planner::PlanFault>(())
/// ```
///
/// # Errors
/// The plan is not complete, or not one of the program.
pub fn program_threads(
    program: &Program,
    plan: &Plan,
) -> Result<Vec<Vec<ProgramThread>>, PlanFault> {
    check(plan, program)?;
    let cuts = ProgramCuts::new(program, plan);
    let pes = plan.pe_ids().map(|pe| {
        let part = cuts.cut(pe);
        let threads = pe_threads(&part.program, &part.pins).threads.into_iter();
        let of_program = threads.map(|thread| {
            let name = |id: &OperatorId| &*part.program.operators[id.0 as usize].name;
            let in_program = |id: &OperatorId| part.operator_ids[id.0 as usize];
            ProgramThread {
                name: start_name(&thread.start, name),
                operators: thread.operators.iter().filter_map(in_program).collect(),
                core: thread.core,
                is_pooled: thread.is_pooled,
            }
        });
        of_program.collect()
    });
    Ok(pes.collect())
}

/// Words for the beginning of a thread. Names of inserted operators say themselves what they are.
fn start_name<'a>(start: &ThreadStartPoint, name: impl Fn(&OperatorId) -> &'a str) -> String {
    match start {
        ThreadStartPoint::Source(id) => format!("source {}", name(id)),
        ThreadStartPoint::Receiver(id) if name(id).starts_with("merge of ") => name(id).to_owned(),
        ThreadStartPoint::Receiver(id) => format!("receiver of {}", name(id)),
        ThreadStartPoint::Queue(id) => name(id).to_owned(),
        ThreadStartPoint::Operator(id) => format!("operator {}", name(id)),
        ThreadStartPoint::Timers(_) => "timers".to_owned(),
    }
}
