//! Whether the cores that a plan asks for are there.

use engine::Plan;
use graph::PePlan;

use crate::failure::CommandFailure;

/// Every core of every process and thread is one that this process may use; else the first that is
/// not is said, where it is asked for, and which are there. `asked` is what `--pin` says.
pub fn check_cores(plan: &Plan, asked: &[u32]) -> Result<(), CommandFailure> {
    // Other hosts may have other cores.
    let here = plan.pes.iter().filter(|pe| pe.host.is_none());
    let all: Vec<u32> = here
        .flat_map(cores_of)
        .chain(asked.iter().copied())
        .collect();
    let Some((missing, there)) = engine::missing_core(&all) else {
        return Ok(());
    };
    let there: Vec<_> = there.iter().map(u32::to_string).collect();
    let there = there.join(", ");
    let message = format!("there is no core {missing} to run on; there are {there}");
    if asked.contains(&missing) {
        return Err(CommandFailure::Usage(format!("--pin: {message}")));
    }
    let asks = |pe: &PePlan| pe.host.is_none() && cores_of(pe).any(|core| core == missing);
    let pe = plan.pes.iter().position(asks).unwrap_or_default();
    Err(CommandFailure::Program(format!(
        "the plan, pe {pe}: {message}"
    )))
}

/// The cores that a PE and its threads are to run on.
fn cores_of(pe: &PePlan) -> impl Iterator<Item = u32> {
    let queues = pe.threaded_ports.iter().filter_map(|queue| queue.core);
    let pins = pe.pins.iter().map(|pin| pin.core);
    pe.cores.iter().copied().chain(queues).chain(pins)
}
