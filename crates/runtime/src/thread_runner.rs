//! What a thread does: its source, the final markers, and what follows if something fails.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use eval::{Fault, FaultKind};

use crate::abi::StateCell;
use crate::crossing::{before_sleep, order};
use crate::operator_factory::SourceThread;
use crate::operator_outlet::{EvaluationState, OperatorOutlet};
use crate::report::Failure;
use crate::thread_region::ThreadRegion;
use crate::tuple_history::TupleHistory;

/// Runs a source from beginning to end.
pub(crate) fn run_source_thread(region: &ThreadRegion, runner: SourceThread) {
    let node = runner.operator;
    let origin = region.wiring.origin_of(node);
    order::begin_origin(origin);
    contain_failure(region, node, || {
        let ended = run_source(region, runner);
        if region.wiring.services[node as usize].is_interrupted() {
            // It did not end by itself, but it was meant to.
            region.take_faulting_operator();
        } else {
            ended?;
        }
        region.end_outputs(node)
    });
    order::end_origin(origin);
    before_sleep::flush_all();
    region.wiring.waits.set_ended(region.thread);
    finish_unfed(region);
}

/// Ends the input of operators that no thread is left to feed, although no final marker has come:
/// they stand behind a loop, which has none. Else their own threads would wait for ever.
fn finish_unfed(region: &ThreadRegion) {
    let wiring = &region.wiring;
    for (node, feeders) in &wiring.fed_operators {
        if feeders.contains(&region.thread) && wiring.waits.have_ended(feeders) {
            contain_failure(region, *node, || {
                let forsaken = region.with_instance(*node, |node| node.finish_unfed(region));
                forsaken.unwrap_or(Ok(()))
            });
        }
    }
}

/// The source itself, without what follows.
pub(crate) fn run_source(region: &ThreadRegion, runner: SourceThread) -> Result<(), Fault> {
    let Some((mut source, state)) = runner.source else {
        let run = region.with_instance(runner.operator, |node| node.run_source(region));
        return run.unwrap_or(Ok(()));
    };
    let mut state = StateCell::new(state);
    let history = TupleHistory::without_ports();
    let lent = EvaluationState {
        state: state.borrow(),
        history: &history,
    };
    let mut outlet = OperatorOutlet::with_evaluation(region, runner.operator, lent);
    let result = source.run(&mut outlet);
    region.blame_on_error(result, &outlet)
}

/// Does something on behalf of an operator. A fault or a panic ends the job; whoever waits for this
/// thread's markers is told.
pub(crate) fn contain_failure(
    region: &ThreadRegion,
    node: u32,
    act: impl FnOnce() -> Result<(), Fault>,
) {
    let (fault, is_bug) = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => return,
        Ok(Err(fault)) => (fault, false),
        Err(panic) => (Fault::new(FaultKind::Limit, panic_message(&*panic)), true),
    };
    let blamed = region.take_faulting_operator().unwrap_or(node);
    report_failure(region, blamed, fault, is_bug);
    region.abandon_outputs(node);
    // What has faulted may stand in the middle of the stream: its consumers wait too.
    region.abandon_outputs(blamed);
}

/// Closes every operator of this thread.
pub(crate) fn close_exclusive(region: &ThreadRegion) {
    region
        .exclusive_operators()
        .for_each(|node| close(region, node));
}

/// Closes the operators that several threads have entered; once, by whichever region.
pub(crate) fn close_shared(region: &ThreadRegion) {
    let shared = (0..).zip(&region.wiring.shared);
    let shared = shared.filter(|(_, node)| node.is_some());
    shared.for_each(|(at, _)| close(region, at));
}

fn close(region: &ThreadRegion, node: u32) {
    contain_failure(region, node, || {
        let close = region.with_instance(node, |node| node.close(region));
        close.unwrap_or(Ok(()))
    });
}

fn report_failure(region: &ThreadRegion, node: u32, fault: Fault, is_bug: bool) {
    let wiring = &region.wiring;
    wiring.context.fail(Failure {
        operator: wiring.services[node as usize].name().clone(),
        kind: wiring.labels[node as usize].kind.clone(),
        fault,
        is_bug,
    });
}

/// What a panic said.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "something panicked".to_owned())
}
