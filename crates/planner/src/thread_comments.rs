//! The threads of all PEs as comments of a plan's text, for people who read the plan.

use std::fmt::Write;

use graph::{Plan, Program};

use crate::cut::ProgramCuts;
use crate::derived::check;
use crate::pe_threads::pe_threads;

/// The threads of each PE of a plan, as lines that may stand behind the plan's text: `#` begins a
/// comment there. A plan that is not complete yet, or not derived, has no threads; the comment says
/// why.
///
/// # Example
/// ```
/// # let program = graph::Program { name: "Main".into(), ..graph::Program::default() };
/// let plan = thalweg_planner::parse_plan("plan Main\n", &program)?;
/// let comments = thalweg_planner::thread_comments(&program, &plan);
/// let text = plan.display(&program).to_string() + &comments;
/// assert_eq!(thalweg_planner::parse_plan(&text, &program)?, plan);
/// # Ok::<(), graph::PlanTextError>(())
/// ```
pub fn thread_comments(program: &Program, plan: &Plan) -> String {
    if let Err(fault) = check(plan, program) {
        return format!("# no threads yet: {}\n", fault.message);
    }
    let cuts = ProgramCuts::new(program, plan);
    let mut text = String::new();
    for pe in plan.pe_ids() {
        let part = cuts.cut(pe);
        let threads = pe_threads(&part.program, &part.pins);
        // A string can always be written to.
        let _ = writeln!(text, "# threads of pe {pe}");
        for line in threads.display(&part.program).to_string().lines() {
            let _ = writeln!(text, "#   {line}");
        }
    }
    text
}
