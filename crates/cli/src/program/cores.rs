//! Checks that the cores a plan asks for exist.

use engine::Plan;
use graph::PePlan;

use crate::failure::CommandFailure;

/// Checks that this process may use every core of the plan's PEs and threads. `asked` has the cores
/// of `--pin`.
///
/// # Errors
/// A sentence with the first core that is missing, the option or PE that asks for it, and the cores
/// that exist.
pub fn check_cores(plan: &Plan, asked: &[u32]) -> Result<(), CommandFailure> {
    // PEs on other hosts are skipped: those hosts may have other cores.
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

/// The cores that the plan gives to a PE and its threads.
fn cores_of(pe: &PePlan) -> impl Iterator<Item = u32> {
    let queues = pe.threaded_ports.iter().filter_map(|queue| queue.core);
    let pins = pe.pins.iter().map(|pin| pin.core);
    pe.cores.iter().copied().chain(queues).chain(pins)
}
