//! The warm path allocates nothing.

use stats_alloc::INSTRUMENTED_SYSTEM;

use crate::child::TestOutcome;
use crate::ensure;
use crate::rig::{Rig, RigEdge};
use crate::script::Script;

const FRAMES: u64 = 3000;

/// The count covers the whole process, threads of the medium included, so the test has a process of
/// its own.
pub fn a_warm_edge_allocates_nothing(rig: Rig) -> TestOutcome {
    crate::play::run_alone(rig, "a_warm_edge_allocates_nothing_alone")
}

/// Runs the test in a process of its own.
pub fn a_warm_edge_allocates_nothing_alone(rig: Rig) -> TestOutcome {
    let mut edge = rig.edge(1, Script::mixed(900))?;
    work(&mut edge)?;
    work(&mut edge)?;
    let before = allocations();
    ensure!(before > 0, "this program's allocator does not count");
    work(&mut edge)?;
    let count = allocations() - before;
    ensure!(count == 0, "{count} allocations by {FRAMES} frames");
    Ok(())
}

/// Every call of a duty cycle, on an edge that is full at times.
fn work(edge: &mut RigEdge) -> TestOutcome {
    edge.pass(FRAMES)?;
    for turn in 0..FRAMES {
        edge.sender.try_put()?;
        if turn % 50 == 0 {
            edge.sender.out.arm()?;
            edge.sender.out.disarm();
            edge.pass(1)?;
            edge.receivers[0].end.arm()?;
            edge.receivers[0].end.disarm();
        }
    }
    edge.drain()
}

fn allocations() -> usize {
    let stats = INSTRUMENTED_SYSTEM.stats();
    stats.allocations + stats.reallocations
}
