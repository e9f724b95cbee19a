//! Checks of pinned threads: they exist, are in order, and share a core where they share a thread.

use graph::{
    CrossingCodec, Merge, PeId, PePlan, PinnedThread, Plan, PlanPart, Program, ReceiverPlan,
};

use super::checked_plan::CheckedPlan;
use super::missing_crossings::add_missing_crossings;
use super::plan_fault::{PlanCheckResult, PlanFault, ensure};
use crate::order::order;

/// Checks the pins of all PEs.
///
/// # Errors
/// The first fault that is found.
pub(super) fn check_pins(check: &CheckedPlan<'_>) -> PlanCheckResult {
    for (number, pe) in check.plan.pe_ids().zip(&check.plan.pes) {
        for at in 0..pe.pins.len() {
            check_pin(check, number, at)?;
        }
    }
    check_single_cores(check.plan, check.program)
}

fn check_pin(check: &CheckedPlan<'_>, number: PeId, at: usize) -> PlanCheckResult {
    let subject = PlanPart::Pin(number, at);
    let pins = &check.plan.pe(number).pins;
    let thread = pins[at].thread;
    match thread {
        PinnedThread::Source(id) => {
            let is_here = check.pe_assignment.pe_of(id) == Some(number);
            let name = || check.operator_name(id);
            ensure(is_here, subject, || {
                format!("`{}` is not in pe {number}", name())
            })?;
            let inputs = &check.program.operators[id.0 as usize].inputs;
            ensure(inputs.is_empty(), subject, || {
                format!("`{}` is no source: it has input ports", name())
            })?;
        }
        PinnedThread::Receiver(from) => {
            let name = check.stream_name(subject, from)?;
            check.check_arrival(subject, &name, from, number)?;
        }
    }
    let Some(before) = at.checked_sub(1).map(|before| pins[before].thread) else {
        return Ok(());
    };
    ensure(before != thread, subject, || {
        "this thread has a core already".to_owned()
    })?;
    ensure(before < thread, subject, || {
        format!("the pinned threads of pe {number} are not in order")
    })
}

/// Checks that streams which share a receiver or a merge do not ask for several cores.
fn check_single_cores(plan: &Plan, program: &Program) -> PlanCheckResult {
    let has_several = |pe: &PePlan| {
        let queues = pe
            .threaded_ports
            .iter()
            .filter(|queue| queue.core.is_some());
        !pe.pins.is_empty() && pe.pins.len() + queues.count() > 1
    };
    if !plan.pes.iter().any(has_several) {
        return Ok(());
    }
    // Which streams share a thread follows from all crossings, also from those not added yet.
    let mut whole = plan.clone();
    add_missing_crossings(&mut whole, program, CrossingCodec::default());
    let order = order(&whole, program);
    let threads = order.receivers.iter().zip(&order.merges);
    for ((number, pe), (receivers, merges)) in plan.pe_ids().zip(&plan.pes).zip(threads) {
        for (at, pin) in pe.pins.iter().enumerate() {
            let PinnedThread::Receiver(from) = pin.thread else {
                continue;
            };
            let brings = |r: &&ReceiverPlan| {
                let mut receiver_crossings = r.crossings.iter();
                receiver_crossings.any(|&crossing_id| whole.crossing(crossing_id).from == from)
            };
            let receiver = receivers.iter().find(brings);
            let core = receiver.and_then(|receiver| whole.core_of_receiver(pe, receiver));
            let takes = |merge: &&Merge| {
                let mut inputs = merge.inputs.iter();
                inputs.any(|input| input.crossing.is_some() && input.from == from)
            };
            let merge = merges.iter().find(takes);
            let core = core.or_else(|| merge?.core);
            if core.is_some_and(|core| core != pin.core) {
                let name = program.stream_name(from);
                let message = format!(
                    "`{name}` shares a receiver or a merge, and so a thread, that has another core"
                );
                let subject = PlanPart::Pin(number, at);
                return Err(PlanFault {
                    part: subject,
                    message,
                });
            }
        }
    }
    Ok(())
}
