//! Whether the cores that a plan asks for are there.

use engine::Plan;

use super::Failure;

/// Every core of every process and thread is one that this process may use; else the first that is not is said,
/// and which are. `asked` is what `--pin` says.
pub fn check(plan: &Plan, asked: &[u32]) -> Result<(), Failure> {
    // Other hosts may have other cores.
    let here = plan.pes.iter().filter(|pe| pe.host.is_none());
    let named = here.flat_map(|pe| {
        let queues = pe.threaded.iter().filter_map(|queue| queue.core);
        let pins = pe.pins.iter().map(|pin| pin.core);
        pe.cores.iter().copied().chain(queues).chain(pins)
    });
    let all: Vec<u32> = named.chain(asked.iter().copied()).collect();
    let Some((missing, there)) = engine::missing_core(&all) else {
        return Ok(());
    };
    let there: Vec<_> = there.iter().map(u32::to_string).collect();
    let there = there.join(", ");
    let message = format!("there is no core {missing} to run on; there are {there}");
    Err(match asked.contains(&missing) {
        true => Failure::Usage(format!("--pin: {message}")),
        false => Failure::Program(format!("the plan: {message}")),
    })
}
