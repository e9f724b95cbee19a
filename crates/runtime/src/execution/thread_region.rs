//! What one thread runs: the operators that are its own, the shared ones, and delivering to both.
//!
//! Submitting to a fused edge is [`ThreadRegion::deliver`]: a call of the consumer's code on this
//! thread. For an operator that only this thread enters that takes no lock and no allocation.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use eval::Fault;
use tuple::{Punctuation, TupleBuf, TupleRef, Watermark};

use crate::abi::FrameBatch;
use crate::blocking::before_sleep::BeforeSleep;
use crate::blocking::pe_thread::PeThreadId;
use crate::execution::delivery::{Delivery, PendingDelivery};
use crate::execution::operator_instance::OperatorInstance;
use crate::execution::port_state::{ConsumerPort, OutputPortState, WatermarkEdge};
use crate::execution::wiring::Wiring;
use crate::order::thread_order;

/// One thread's view of the PE.
pub(crate) struct ThreadRegion {
    pub wiring: Arc<Wiring>,
    pub thread: PeThreadId,
    /// By operator: those that no other thread enters.
    pub(super) exclusive: Box<[Option<ExclusiveOperator>]>,
    /// Operators that hold tuples back, own and shared ones.
    flushing_operators: Box<[u32]>,
    /// The operator that the fault on its way up comes from.
    pub(super) faulting_operator: Cell<Option<u32>>,
}

/// An operator of this thread alone. Busy means borrowed: what comes back through a loop then
/// waits.
pub(super) struct ExclusiveOperator {
    pub instance: RefCell<OperatorInstance>,
    /// Nothing needs looking at before a tuple is processed.
    needs_no_checks: bool,
    /// And it takes the buffers of tuples.
    accepts_owned: bool,
    pub pending: RefCell<VecDeque<PendingDelivery>>,
}

impl ThreadRegion {
    pub fn new(
        wiring: Arc<Wiring>,
        thread: PeThreadId,
        nodes: Vec<Option<OperatorInstance>>,
    ) -> ThreadRegion {
        let flushed = find_flushing_operators(&wiring, &nodes);
        let own = nodes.into_iter().map(|node| {
            node.map(|node| ExclusiveOperator {
                needs_no_checks: node.flags.needs_no_checks(),
                accepts_owned: node.flags.needs_no_checks() && node.flags.accepts_owned,
                instance: RefCell::new(node),
                pending: RefCell::default(),
            })
        });
        ThreadRegion {
            wiring,
            thread,
            exclusive: own.collect(),
            flushing_operators: flushed,
            faulting_operator: Cell::new(None),
        }
    }

    /// Hands a tuple to an input port.
    #[inline]
    pub fn deliver(&self, to: ConsumerPort, tuple: TupleRef<'_>) -> Result<(), Fault> {
        match &self.exclusive[to.operator as usize] {
            Some(own) if own.needs_no_checks => {
                let mut node = own.instance.borrow_mut();
                node.process_tuple(self, to.port, tuple)
            }
            _ => self.deliver_checked(to, Delivery::Tuple(tuple)),
        }
    }

    /// Hands a tuple to the only input port that it is for, with its buffer if the operator takes
    /// it.
    #[inline]
    pub fn deliver_owned(&self, to: ConsumerPort, tuple: &mut TupleBuf) -> Result<(), Fault> {
        match &self.exclusive[to.operator as usize] {
            Some(own) if own.accepts_owned => own
                .instance
                .borrow_mut()
                .process_owned(self, to.port, tuple),
            _ => self.deliver(to, tuple.as_ref()),
        }
    }

    /// Hands the tuples that a batch begins with to an input port, if its code takes batches; how
    /// many, and how it went.
    pub fn deliver_batch(
        &self,
        to: ConsumerPort,
        batch: &mut FrameBatch<'_>,
        kind: u8,
    ) -> (u64, Result<(), Fault>) {
        match &self.exclusive[to.operator as usize] {
            Some(own) if own.needs_no_checks => {
                let mut node = own.instance.borrow_mut();
                node.process_batch(self, to.port, batch, kind)
            }
            _ => (0, Ok(())),
        }
    }

    /// Hands a marker of one stream to an input port.
    pub fn deliver_punctuation(&self, to: ConsumerPort, mark: Punctuation) -> Result<(), Fault> {
        self.deliver_checked(to, Delivery::Punctuation(mark))
    }

    /// Hands the watermark of one stream to an input port.
    pub fn deliver_watermark(&self, lane: &WatermarkEdge, mark: Watermark) -> Result<(), Fault> {
        self.deliver_checked(lane.consumer, Delivery::Watermark(&(lane.stream, mark)))
    }

    /// Calls an operator; `None` if it is busy, which only those in loops are, or not here.
    pub fn with_instance<T>(
        &self,
        node: u32,
        call: impl FnOnce(&mut OperatorInstance) -> T,
    ) -> Option<T> {
        let at = node as usize;
        match (&self.exclusive[at], &self.wiring.shared[at]) {
            (Some(own), _) => own
                .instance
                .try_borrow_mut()
                .ok()
                .map(|mut node| call(&mut node)),
            (None, Some(shared)) => {
                let inside = shared.loop_lock.map(|gate| self.enter_loop_lock(gate));
                let result = self.lock_shared(shared).map(|mut node| call(&mut node));
                drop(inside);
                result
            }
            (None, None) => None,
        }
    }

    /// Whether it has operators that hold tuples back.
    pub fn needs_flush(&self) -> bool {
        !self.flushing_operators.is_empty()
    }

    fn for_each_flushing(
        &self,
        call: impl Fn(&mut OperatorInstance, &ThreadRegion) -> Result<(), Fault>,
    ) {
        for &node in &self.flushing_operators {
            let at = node as usize;
            self.contain_failure(node, || {
                match (&self.exclusive[at], &self.wiring.shared[at]) {
                    (Some(own), _) => own
                        .instance
                        .try_borrow_mut()
                        .map_or(Ok(()), |mut node| call(&mut node, self)),
                    (None, Some(shared)) => match shared.instance.try_lock() {
                        Ok(mut node) => call(&mut node, self),
                        // Another thread is inside, and says nothing for this one.
                        Err(_) => {
                            if self.wiring.is_ordered() {
                                thread_order::set_progress_pending();
                            }
                            Ok(())
                        }
                    },
                    (None, None) => Ok(()),
                }
            });
        }
    }

    /// Every operator that is this thread's own.
    pub fn exclusive_operators(&self) -> impl Iterator<Item = u32> {
        let nodes = self.exclusive.iter().enumerate();
        nodes
            .filter(|(_, own)| own.is_some())
            .map(|(at, _)| at as u32)
    }
}

impl BeforeSleep for ThreadRegion {
    /// Calls [`crate::Operator::flush`] on the operators that asked for it and are not busy.
    fn flush(&self) {
        self.for_each_flushing(OperatorInstance::flush);
    }

    /// Calls [`crate::Operator::send_progress`] on the operators that asked for it and are not
    /// busy.
    fn send_progress(&self) {
        self.for_each_flushing(OperatorInstance::send_progress);
    }

    fn take_retry(&self) -> bool {
        thread_order::take_progress_pending() && !self.wiring.context.failed.is_requested()
    }
}

/// An operator that is being called: if it panics, it is to blame.
pub(crate) struct PanicBlame<'a> {
    region: &'a ThreadRegion,
    operator: u32,
}

impl PanicBlame<'_> {
    /// It has not panicked.
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

/// Ends and faults.
impl ThreadRegion {
    /// Sends the final marker on every output port of an operator.
    pub fn end_outputs(&self, node: u32) -> Result<(), Fault> {
        for (port, out) in (0..).zip(&self.wiring.outs[node as usize]) {
            if out.close() {
                out.punctuation.count(Punctuation::Final);
                self.end_watermarks(node, port)?;
                for &target in &out.consumers {
                    self.deliver_punctuation(target, Punctuation::Final)?;
                }
            }
        }
        Ok(())
    }

    /// The stream of an output port is about to end: it holds nobody's watermark up any more.
    pub fn end_watermarks(&self, node: u32, port: u32) -> Result<(), Fault> {
        let mut lanes = self.wiring.watermark_edges(node, port).iter();
        lanes.try_for_each(|lane| self.deliver_watermark(lane, Watermark::Ended))
    }

    /// The operator has failed and submits no more: whoever waits for its final markers is told.
    pub fn abandon_outputs(&self, node: u32) {
        for out in &self.wiring.outs[node as usize] {
            self.abandon(out);
        }
    }

    /// The same for one port.
    pub fn abandon(&self, out: &OutputPortState) {
        if out.close() {
            for &target in &out.consumers {
                // What fails now fails because something else has; that one is reported.
                let _ = self.deliver_checked(target, Delivery::Abandon);
            }
        }
    }

    /// Remembers which operator a fault comes from, if that is new, and where it is invoked.
    pub fn blame(&self, operator: u32, fault: Fault) -> Fault {
        if self.faulting_operator.get().is_none() {
            self.faulting_operator.set(Some(operator));
        }
        fault.with_pos(self.wiring.labels[operator as usize].pos)
    }

    /// Remembers who panics, unless it is defused.
    #[inline]
    pub fn blame_on_panic(&self, node: u32) -> PanicBlame<'_> {
        PanicBlame {
            region: self,
            operator: node,
        }
    }

    /// Where the last fault comes from.
    pub fn take_faulting_operator(&self) -> Option<u32> {
        self.faulting_operator.take()
    }
}

/// The operators that hold tuples back: of these, and of the shared ones.
fn find_flushing_operators(wiring: &Wiring, nodes: &[Option<OperatorInstance>]) -> Box<[u32]> {
    let holds_back = |(at, node): (u32, &Option<OperatorInstance>)| {
        let shared = wiring.shared[at as usize].as_ref();
        let shared = shared.is_some_and(|shared| shared.needs_flush);
        let own = node.as_ref().is_some_and(|node| node.flags.needs_flush);
        (own || shared).then_some(at)
    };
    (0..).zip(nodes).filter_map(holds_back).collect()
}
