//! Work on the regions of a PE: a thread runs its source and sends the final markers. The thread
//! that joins the PE closes the operators.

use eval::Fault;

use crate::abi::StateCell;
use crate::blocking::before_sleep;
use crate::execution::operator_outlet::{EvaluationState, OperatorOutlet};
use crate::execution::source_thread::SourceThread;
use crate::execution::thread_region::ThreadRegion;
use crate::execution::tuple_history::TupleHistory;

/// Runs a source from beginning to end.
pub(crate) fn run_source_thread(region: &ThreadRegion, source_thread: SourceThread) {
    let operator = source_thread.operator;
    let origin = region.wiring.origin_of(operator);
    region.order.begin_origin(origin);
    region.contain_failure(operator, || {
        let ended = run_source(region, source_thread);
        if region.wiring.services[operator as usize].is_interrupted() {
            // The source did not end by itself, but it was made to: no failure.
            region.take_faulting_operator();
        } else {
            ended?;
        }
        region.end_outputs(operator)
    });
    end_thread(region, operator);
}

/// Ends a thread whose source has ended, and final markers are sent.
pub(crate) fn end_thread(region: &ThreadRegion, operator: u32) {
    region.order.end_origin(region.wiring.origin_of(operator));
    before_sleep::flush_all();
    region.wiring.waits.set_ended(region.thread);
    finish_unfed(region);
}

/// Finishes operators that no thread is left to feed although no final marker has come: they stand
/// behind a loop, which has none. Else the threads that wait for their end would do so for ever.
fn finish_unfed(region: &ThreadRegion) {
    let wiring = &region.wiring;
    for (operator, feeders) in &wiring.fed_operators {
        if feeders.contains(&region.thread) && wiring.waits.have_ended(feeders) {
            region.contain_failure(*operator, || {
                region.with_instance(*operator, |instance| instance.finish_unfed(region))
            });
        }
    }
}

/// Runs the source alone, without the final markers.
pub(crate) fn run_source(region: &ThreadRegion, source_thread: SourceThread) -> Result<(), Fault> {
    let Some((mut source, state)) = source_thread.source else {
        return region.with_instance(source_thread.operator, |instance| {
            instance.run_source(region)
        });
    };
    let mut state = StateCell::new(state);
    let history = TupleHistory::without_ports();
    let evaluation = EvaluationState {
        state: state.borrow(),
        history: &history,
    };
    let mut outlet = OperatorOutlet::with_evaluation(region, source_thread.operator, evaluation);
    let result = region.run_as(source_thread.operator, || source.run(&mut outlet));
    outlet.blame_on_error(result)
}

/// Closes every operator that only this region enters.
pub(crate) fn close_exclusive(region: &ThreadRegion) {
    region
        .exclusive_operators()
        .for_each(|operator| close(region, operator));
}

/// Closes the operators that several threads have entered; called once, with any region.
pub(crate) fn close_shared(region: &ThreadRegion) {
    let shared = (0..).zip(&region.wiring.shared);
    let shared = shared.filter(|(_, operator)| operator.is_some());
    shared.for_each(|(at, _)| close(region, at));
}

fn close(region: &ThreadRegion, operator: u32) {
    region.contain_failure(operator, || {
        region.with_instance(operator, |instance| instance.close(region))
    });
}
