//! What a thread does: its source, the final markers, and what follows if something fails.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use graph::{Fault, FaultKind};

use crate::abi::StateCell;
use crate::crossing::{order, quiet};
use crate::desk::{Desk, Lent};
use crate::make::Runner;
use crate::past::Past;
use crate::region::Region;
use crate::report::Failure;

/// Runs a source from beginning to end.
pub(crate) fn run(region: &Region, runner: Runner) {
    let node = runner.node;
    let origin = region.wiring.begun_by(node);
    order::begin(origin);
    guard(region, node, || {
        let ended = begin(region, runner);
        if region.wiring.voices[node as usize].is_interrupted() {
            // It did not end by itself, but it was meant to.
            region.take_blamed();
        } else {
            ended?;
        }
        region.end_outputs(node)
    });
    order::end(origin);
    quiet::flush_all();
    region.wiring.waits.ended(region.thread);
    forsake(region);
}

/// Ends the input of operators that no thread is left to feed, although no final marker has come:
/// they stand behind a loop, which has none. Else their own threads would wait for ever.
fn forsake(region: &Region) {
    let wiring = &region.wiring;
    for (node, feeders) in &wiring.fed {
        if feeders.contains(&region.thread) && wiring.waits.have_ended(feeders) {
            guard(region, *node, || {
                let forsaken = region.with_node(*node, |node| node.forsake(region));
                forsaken.unwrap_or(Ok(()))
            });
        }
    }
}

/// The source itself, without what follows.
pub(crate) fn begin(region: &Region, runner: Runner) -> Result<(), Fault> {
    let Some((mut source, state)) = runner.source else {
        let run = region.with_node(runner.node, |node| node.run(region));
        return run.unwrap_or(Ok(()));
    };
    let mut state = StateCell::new(state);
    let past = Past::none();
    let lent = Lent {
        state: state.borrow(),
        past: &past,
    };
    let mut desk = Desk::lending(region, runner.node, lent);
    let result = source.run(&mut desk);
    region.blame_on_error(result, &desk)
}

/// Does something on behalf of an operator. A fault or a panic ends the job; whoever waits for this
/// thread's markers is told.
pub(crate) fn guard(region: &Region, node: u32, act: impl FnOnce() -> Result<(), Fault>) {
    let (fault, is_bug) = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => return,
        Ok(Err(fault)) => (fault, false),
        Err(panic) => (Fault::new(FaultKind::Limit, said(&*panic)), true),
    };
    let blamed = region.take_blamed().unwrap_or(node);
    report(region, blamed, fault, is_bug);
    region.abandon_outputs(node);
    // What has faulted may stand in the middle of the stream: its consumers wait too.
    region.abandon_outputs(blamed);
}

/// Closes every operator of this thread.
pub(crate) fn close_own(region: &Region) {
    region.own_nodes().for_each(|node| close(region, node));
}

/// Closes the operators that several threads have entered; once, by whichever region.
pub(crate) fn close_shared(region: &Region) {
    let shared = (0..).zip(&region.wiring.shared);
    let shared = shared.filter(|(_, node)| node.is_some());
    shared.for_each(|(at, _)| close(region, at));
}

fn close(region: &Region, node: u32) {
    guard(region, node, || {
        let close = region.with_node(node, |node| node.close(region));
        close.unwrap_or(Ok(()))
    });
}

fn report(region: &Region, node: u32, fault: Fault, is_bug: bool) {
    let wiring = &region.wiring;
    wiring.house.fail(Failure {
        operator: wiring.voices[node as usize].name().clone(),
        kind: wiring.heads[node as usize].kind.clone(),
        fault,
        is_bug,
    });
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "something panicked".to_owned())
}
