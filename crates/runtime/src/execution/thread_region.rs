//! A region: the operators that one thread runs, its own and shared ones, and delivery to them.
//!
//! Submitting to a fused edge is [`ThreadRegion::deliver`], a call of the consumer's code on this
//! thread. For an operator that only this thread enters it takes no lock and no allocation.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use eval::Fault;
use graph::{PeThreadId, PortIndex};
use sampling::CpuSamples;
use tuple::{Punctuation, TupleBuf, TupleRef, Watermark};

use crate::abi::{FrameBatch, FrameForm};
use crate::blocking::before_sleep::BeforeSleep;
use crate::execution::delivery::{Delivery, PendingDelivery};
use crate::execution::operator_instance::OperatorInstance;
use crate::execution::port_state::{
    ABANDONED, CLOSED, ConsumerPort, OutputPortState, WatermarkEdge,
};
use crate::execution::wiring::Wiring;
use crate::order::thread_order::ThreadOrder;

/// The part of a PE that one thread runs.
pub(crate) struct ThreadRegion {
    pub wiring: Arc<Wiring>,
    pub thread: PeThreadId,
    /// By operator: the operator, if only this thread enters it.
    pub(super) exclusive: Box<[Option<ExclusiveOperator>]>,
    /// Operators that hold tuples back, exclusive and shared ones.
    flushing_operators: Box<[u32]>,
    /// The word in which the thread says what it runs, and its samples.
    pub samples: Arc<CpuSamples>,
    /// Order of the tuples that the thread processes.
    pub order: ThreadOrder,
    /// The operator that caused the fault which callers return now.
    pub(super) faulting_operator: Cell<Option<u32>>,
}

/// An operator that only this thread enters. While it is borrowed it is busy, and tuples that come
/// back through a loop wait.
pub(super) struct ExclusiveOperator {
    pub instance: RefCell<OperatorInstance>,
    /// Whether a tuple is processed without a look at bounds, loops or `@catch`.
    needs_no_checks: bool,
    /// Whether, moreover, the operator accepts owned tuples.
    accepts_owned: bool,
    pub pending: RefCell<VecDeque<PendingDelivery>>,
}

impl ThreadRegion {
    pub fn new(
        wiring: Arc<Wiring>,
        thread: PeThreadId,
        instances: Vec<Option<OperatorInstance>>,
    ) -> ThreadRegion {
        let flushed = find_flushing_operators(&wiring, thread, &instances);
        let exclusive = instances.into_iter().map(|instance| {
            instance.map(|instance| ExclusiveOperator {
                needs_no_checks: instance.flags.needs_no_checks(),
                accepts_owned: instance.flags.needs_no_checks() && instance.flags.accepts_owned,
                instance: RefCell::new(instance),
                pending: RefCell::default(),
            })
        });
        ThreadRegion {
            samples: wiring.thread_samples[thread.index()].clone(),
            wiring,
            thread,
            exclusive: exclusive.collect(),
            flushing_operators: flushed,
            order: ThreadOrder::default(),
            faulting_operator: Cell::new(None),
        }
    }

    /// Runs code of an operator, and says meanwhile that the thread runs it.
    #[inline]
    pub fn run_as<T>(&self, operator: u32, run: impl FnOnce() -> T) -> T {
        let before = self.samples.running.set(operator);
        let result = run();
        self.samples.running.restore(before);
        result
    }

    /// Delivers a tuple to an input port.
    #[inline]
    pub fn deliver(&self, to: ConsumerPort, tuple: TupleRef<'_>) -> Result<(), Fault> {
        match &self.exclusive[to.operator as usize] {
            Some(exclusive) if exclusive.needs_no_checks => {
                let mut instance = exclusive.instance.borrow_mut();
                instance.process_tuple(self, to.port, tuple)
            }
            _ => self.deliver_checked(to, Delivery::Tuple(tuple)),
        }
    }

    /// Delivers a tuple to the only input port that it is for, with its buffer if the operator
    /// accepts it.
    #[inline]
    pub fn deliver_owned(&self, to: ConsumerPort, tuple: &mut TupleBuf) -> Result<(), Fault> {
        match &self.exclusive[to.operator as usize] {
            Some(exclusive) if exclusive.accepts_owned => exclusive
                .instance
                .borrow_mut()
                .process_owned(self, to.port, tuple),
            _ => self.deliver(to, tuple.as_ref()),
        }
    }

    /// Delivers tuples from the front of a batch to an input port, if its code takes batches of
    /// frames of this kind and form. Returns their number, and the result.
    pub fn deliver_batch(
        &self,
        to: ConsumerPort,
        batch: &mut FrameBatch<'_>,
        frames: (u8, FrameForm),
    ) -> (u64, Result<(), Fault>) {
        match &self.exclusive[to.operator as usize] {
            Some(exclusive) if exclusive.needs_no_checks => {
                let mut instance = exclusive.instance.borrow_mut();
                instance.process_batch(self, to.port, batch, frames)
            }
            _ => (0, Ok(())),
        }
    }

    /// Takes tuples from the front of a batch to all consumers of an output port of a receiver, if
    /// there is code for frames of this kind and form. Returns their number, and the result.
    pub fn forward_batch(
        &self,
        (receiver, port): (u32, PortIndex),
        batch: &mut FrameBatch<'_>,
        frames: (u8, FrameForm),
    ) -> (u64, Result<(), Fault>) {
        match &self.exclusive[receiver as usize] {
            Some(exclusive) => {
                let mut instance = exclusive.instance.borrow_mut();
                instance.forward_batch(self, port, batch, frames)
            }
            None => (0, Ok(())),
        }
    }

    /// Delivers a marker of one stream to an input port.
    pub fn deliver_punctuation(&self, to: ConsumerPort, mark: Punctuation) -> Result<(), Fault> {
        self.deliver_checked(to, Delivery::Punctuation(mark))
    }

    /// Delivers the watermark of one stream to an input port.
    pub fn deliver_watermark(&self, edge: &WatermarkEdge, mark: Watermark) -> Result<(), Fault> {
        let WatermarkEdge { consumer, stream } = *edge;
        match &self.exclusive[consumer.operator as usize] {
            Some(exclusive) if exclusive.needs_no_checks => {
                let mut instance = exclusive.instance.borrow_mut();
                instance.process_watermark(self, consumer.port, stream, mark)
            }
            _ => self.deliver_checked(consumer, Delivery::Watermark(&(stream, mark))),
        }
    }

    /// Whether some operators of the region hold tuples back.
    pub fn needs_flush(&self) -> bool {
        !self.flushing_operators.is_empty()
    }

    fn for_each_flushing(
        &self,
        call: impl Fn(&mut OperatorInstance, &ThreadRegion) -> Result<(), Fault>,
    ) {
        for &operator in &self.flushing_operators {
            let at = operator as usize;
            self.contain_failure(operator, || {
                match (&self.exclusive[at], &self.wiring.shared[at]) {
                    (Some(exclusive), _) => exclusive
                        .instance
                        .try_borrow_mut()
                        .map_or(Ok(()), |mut instance| call(&mut instance, self)),
                    (None, Some(shared)) => match shared.instance.try_lock() {
                        Ok(mut instance) => call(&mut instance, self),
                        // The thread that is inside sends nothing on behalf of this one.
                        Err(_) => {
                            if self.wiring.is_ordered() {
                                self.order.set_progress_pending();
                            }
                            Ok(())
                        }
                    },
                    (None, None) => Ok(()),
                }
            });
        }
    }

    /// Index of every operator that only this thread enters.
    pub fn exclusive_operators(&self) -> impl Iterator<Item = u32> {
        let instances = self.exclusive.iter().enumerate();
        instances
            .filter(|(_, exclusive)| exclusive.is_some())
            .map(|(at, _)| at as u32)
    }
}

impl BeforeSleep for ThreadRegion {
    /// Calls [`crate::Operator::flush`] on the operators that asked for it and are not busy.
    fn flush(&self) {
        self.for_each_flushing(OperatorInstance::flush);
    }

    /// Calls [`crate::inserted::inserted_operator::InsertedOperator::send_progress`] on the
    /// operators that are flushed and not busy.
    fn send_progress(&self) {
        self.for_each_flushing(OperatorInstance::send_progress);
    }

    fn take_retry(&self) -> bool {
        self.order.take_progress_pending() && !self.wiring.context.failed.is_requested()
    }
}

/// Guard around a call of an operator: if the call panics, the operator is to blame.
pub(crate) struct PanicBlame<'a> {
    region: &'a ThreadRegion,
    operator: u32,
}

impl PanicBlame<'_> {
    /// Ends the guard of a call that has not panicked.
    #[inline]
    pub fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for PanicBlame<'_> {
    fn drop(&mut self) {
        if self.region.faulting_operator.get().is_none() {
            self.region.faulting_operator.set(Some(self.operator));
        }
    }
}

/// Ends of streams, and who is to blame for a fault.
impl ThreadRegion {
    /// Sends the final marker on every output port of an operator.
    pub fn end_outputs(&self, operator: u32) -> Result<(), Fault> {
        for (port, out) in (0..)
            .map(PortIndex)
            .zip(&self.wiring.outs[operator as usize])
        {
            match out.close() {
                CLOSED => continue,
                ABANDONED => {
                    self.abandon_consumers(out);
                    continue;
                }
                _ => out.punctuation.count(Punctuation::Final),
            }
            self.end_watermarks(operator, port)?;
            for &consumer in &out.consumers {
                self.deliver_punctuation(consumer, Punctuation::Final)?;
            }
        }
        Ok(())
    }

    /// Ends the watermarks of an output port whose stream is about to end, so that consumers do not
    /// wait for more of them.
    pub fn end_watermarks(&self, operator: u32, port: PortIndex) -> Result<(), Fault> {
        let mut edges = self.wiring.watermark_edges(operator, port).iter();
        edges.try_for_each(|edge| self.deliver_watermark(edge, Watermark::Ended))
    }

    /// Keeps final markers from the output streams of an operator that has failed.
    pub fn leave_outputs_abandoned(&self, operator: u32) {
        let outs = &self.wiring.outs[operator as usize];
        outs.iter().for_each(OutputPortState::leave_abandoned);
    }

    /// Ends the output streams of an operator that has failed, without final markers.
    pub fn abandon_outputs(&self, operator: u32) {
        for out in &self.wiring.outs[operator as usize] {
            self.abandon(out);
        }
    }

    /// Ends the stream of one output port without a final marker. On a thread that may not enter
    /// the consumers, as that of silent timers, it is left to another one.
    pub fn abandon(&self, out: &OutputPortState) {
        if !out.consumers.iter().all(|to| self.may_enter(to.operator)) {
            out.leave_abandoned();
        } else if out.close() != CLOSED {
            self.abandon_consumers(out);
        }
    }

    fn abandon_consumers(&self, out: &OutputPortState) {
        for &consumer in &out.consumers {
            // This failure is a consequence of another one, which is reported.
            let _ = self.deliver_checked(consumer, Delivery::Abandon);
        }
    }

    /// Whether the thread may enter an operator, or no thread does.
    fn may_enter(&self, operator: u32) -> bool {
        let threads = &self.wiring.threads[operator as usize];
        threads.is_empty() || threads.contains(&self.thread)
    }

    /// Remembers which operator a fault comes from, if that is new, and where it is invoked.
    pub fn blame(&self, operator: u32, fault: Fault) -> Fault {
        if self.faulting_operator.get().is_none() {
            self.faulting_operator.set(Some(operator));
        }
        fault.with_pos(self.wiring.labels[operator as usize].pos)
    }

    /// Blames an operator for a panic, unless the guard is disarmed.
    #[inline]
    pub fn blame_on_panic(&self, operator: u32) -> PanicBlame<'_> {
        PanicBlame {
            region: self,
            operator,
        }
    }

    /// Takes the operator that caused the last fault.
    pub fn take_faulting_operator(&self) -> Option<u32> {
        self.faulting_operator.take()
    }
}

/// Operators that hold tuples back: of the thread's own ones, and of the shared ones that it
/// enters. Of others it has nothing to send, and knows nothing: the progress of its own order is
/// not theirs.
fn find_flushing_operators(
    wiring: &Wiring,
    thread: PeThreadId,
    instances: &[Option<OperatorInstance>],
) -> Box<[u32]> {
    let holds_back = |(at, instance): (u32, &Option<OperatorInstance>)| {
        let shared = wiring.shared[at as usize].as_ref();
        let is_entered = wiring.threads[at as usize].contains(&thread);
        let shared = shared.is_some_and(|shared| shared.needs_flush && is_entered);
        let exclusive = instance
            .as_ref()
            .is_some_and(|instance| instance.flags.needs_flush);
        (exclusive || shared).then_some(at)
    };
    (0..).zip(instances).filter_map(holds_back).collect()
}
