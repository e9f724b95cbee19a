//! Faults that checks find in a plan.

use graph::PlanPart;

/// A reason why a plan does not fit its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFault {
    /// The part of the plan that is at fault.
    pub part: PlanPart,
    /// The fault: a sentence without a full stop.
    pub message: String,
}

pub(super) type PlanCheckResult = Result<(), PlanFault>;

/// Succeeds if an invariant holds.
///
/// # Errors
/// The invariant does not hold: `message` is a fault of `part`.
pub(super) fn ensure(
    holds: bool,
    part: PlanPart,
    message: impl FnOnce() -> String,
) -> PlanCheckResult {
    if holds {
        return Ok(());
    }
    let message = message();
    Err(PlanFault { part, message })
}
