//! Plans from their text: read, checked and derived.
//!
//! The form of the text is described where it is printed and read, in `graph`
//! (`crates/graph/src/plan/text/mod.rs`).

use graph::{Plan, PlanDraft, PlanTextError, Program};

use super::check::check_partial;
use super::derive::derive;

/// Reads the text of a program's plan, checks the plan and derives all that follows from it.
/// Streams that the text leaves out have no crossing yet, and media may have any name.
///
/// ```
/// # let program = graph::Program { name: "Main".into(), ..graph::Program::default() };
/// let plan = thalweg_planner::parse_plan("plan Main\n", &program)?;
/// assert_eq!(plan.display(&program).to_string(), "plan Main\n");
///
/// let error = thalweg_planner::parse_plan("plan Other\n", &program).unwrap_err();
/// assert_eq!(error.to_string(), "1:6: this is a plan of `Other`, not of `Main`");
/// # Ok::<(), graph::PlanTextError>(())
/// ```
///
/// # Errors
/// The first mistake in the text, or the first fault of the plan at its position in the text.
pub fn parse_plan(text: &str, program: &Program) -> Result<Plan, PlanTextError> {
    parse_plan_with_media(text, program, &|_, _| Ok(()))
}

/// Like [`parse_plan`], where the media are known: `check_medium` gets the name of each medium and
/// its settings, and returns the reason if there is no such medium or it has no such settings.
///
/// # Errors
/// The first mistake in the text, or the first fault of the plan at its position in the text.
pub fn parse_plan_with_media(
    text: &str,
    program: &Program,
    check_medium: &dyn Fn(&str, &str) -> Result<(), String>,
) -> Result<Plan, PlanTextError> {
    let draft = PlanDraft::parse(text, program, check_medium)?;
    let mut plan = draft.plan();
    match check_partial(&plan, program) {
        Ok(()) => {
            derive(&mut plan, program);
            Ok(plan)
        }
        Err(fault) => Err(draft.error_at(fault.part, fault.message)),
    }
}
