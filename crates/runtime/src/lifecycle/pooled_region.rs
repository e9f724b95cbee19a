//! A pooled region: the operators that one thread at a time of a pool runs, and the source that
//! feeds them.
//!
//! The work of a thread from its beginning to its end ([`thread_runner::run_source_thread`]) is
//! done here batch by batch, each perhaps by another thread.

use std::cell::RefCell;
use std::sync::Arc;

use eval::Fault;
use graph::PeThreadId;

use super::thread_runner;
use crate::abi::StateCell;
use crate::blocking::before_sleep::BeforeSleep;
use crate::blocking::region_pool::{RegionPool, RegionWaker};
use crate::blocking::thread_samples;
use crate::execution::built_operator::BuiltSource;
use crate::execution::operator_outlet::{EvaluationState, OperatorOutlet};
use crate::execution::source_thread::SourceThread;
use crate::execution::thread_region::ThreadRegion;
use crate::execution::tuple_history::TupleHistory;
use crate::inserted::inserted_operator::BatchEnd;

/// A region that threads of a pool run by turns.
pub(super) struct PooledRegion {
    /// The thread of the plan that the threads of the pool take the part of.
    pub thread: PeThreadId,
    /// The operator whose source feeds the region.
    operator: u32,
    /// Whether some operators of the region hold tuples back.
    pub needs_flush: bool,
    /// The region; `None` while a thread runs it.
    pub region: Option<ThreadRegion>,
    /// The source and what its outlet evaluates with; `None` when it has ended.
    source: Option<(BuiltSource, StateCell, TupleHistory)>,
    has_begun: bool,
}

impl PooledRegion {
    /// The region number `number` of a pool. `None`: the source is none that a pool can run.
    pub fn new(
        source_thread: SourceThread,
        region: ThreadRegion,
        pool: &Arc<RegionPool>,
        number: usize,
    ) -> Option<PooledRegion> {
        let (mut source, state) = source_thread.source?;
        let waker = RegionWaker::new(pool.clone(), number);
        source.as_pooled()?.open(region.thread, waker);
        Some(PooledRegion {
            thread: region.thread,
            operator: source_thread.operator,
            needs_flush: region.needs_flush(),
            source: Some((source, StateCell::new(state), TupleHistory::without_ports())),
            region: Some(region),
            has_begun: false,
        })
    }

    /// Runs a batch of the region, which the calling thread has taken.
    pub fn run_batch(&mut self, region: &ThreadRegion) -> BatchEnd {
        let operator = self.operator;
        if !std::mem::replace(&mut self.has_begun, true) {
            region.order.begin_origin(region.wiring.origin_of(operator));
        }
        let samples_before = thread_samples::enter(&region.samples);
        // A fault or panic ends the region.
        let mut end = BatchEnd::Ended;
        region.contain_failure(operator, || {
            end = self.run_source(region)?;
            if end == BatchEnd::Ended {
                self.source = None;
                region.end_outputs(operator)?;
            }
            Ok(())
        });
        if end == BatchEnd::Ended {
            // Producers learn from the end of the source that no item is taken any more.
            self.source = None;
            thread_runner::end_thread(region, operator);
        }
        thread_samples::leave(samples_before);
        end
    }

    fn run_source(&mut self, region: &ThreadRegion) -> Result<BatchEnd, Fault> {
        let Some((source, state, history)) = &mut self.source else {
            return Ok(BatchEnd::Ended);
        };
        let Some(pooled) = source.as_pooled() else {
            return Ok(BatchEnd::Ended);
        };
        let evaluation = EvaluationState {
            state: state.borrow(),
            history,
        };
        let mut outlet = OperatorOutlet::with_evaluation(region, self.operator, evaluation);
        let mut end = BatchEnd::Ended;
        let batch = region.run_as(self.operator, || pooled.run_batch(&mut outlet));
        let result = batch.map(|found| end = found);
        outlet.blame_on_error(result)?;
        Ok(end)
    }
}

/// Place of the region that a thread runs, where the thread's before-sleep hook finds it.
#[derive(Default)]
pub(super) struct RunningRegion(pub RefCell<Option<ThreadRegion>>);

impl RunningRegion {
    fn with(&self, call: impl FnOnce(&ThreadRegion)) {
        if let Some(region) = &*self.0.borrow() {
            call(region);
        }
    }
}

impl BeforeSleep for RunningRegion {
    fn flush(&self) {
        self.with(BeforeSleep::flush);
    }

    fn send_progress(&self) {
        self.with(BeforeSleep::send_progress);
    }

    fn take_retry(&self) -> bool {
        self.0
            .borrow()
            .as_ref()
            .is_some_and(BeforeSleep::take_retry)
    }
}
