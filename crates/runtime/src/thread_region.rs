//! What one thread runs: the operators that are its own, the shared ones, and delivering to both.
//!
//! Submitting to a fused edge is [`ThreadRegion::deliver`]: a call of the consumer's code on this
//! thread. For an operator that only this thread enters that takes no lock and no allocation.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard, PoisonError, TryLockError};

use eval::{Fault, Services, TraceLevel};
use tuple::{Punctuation, TupleBuf, TupleRef, Watermark};

use crate::abi::FrameBatch;
use crate::crossing::{before_sleep, order};
use crate::loop_lock::LoopLockGuard;
use crate::operator_instance::OperatorInstance;
use crate::operator_outlet::OperatorOutlet;
use crate::thread_runner;
use crate::thread_waits::{LockHolder, PeThreadId, ThreadActivity};
use crate::wiring::{
    ConsumerPort, OutputPortState, PendingDelivery, SharedOperator, WatermarkEdge, Wiring,
};

/// One thread's view of the PE.
pub(crate) struct ThreadRegion {
    pub wiring: Arc<Wiring>,
    pub thread: PeThreadId,
    /// By operator: those that no other thread enters.
    exclusive: Box<[Option<ExclusiveOperator>]>,
    /// Operators that hold tuples back, own and shared ones.
    flushing_operators: Box<[u32]>,
    /// The operator that the fault on its way up comes from.
    faulting_operator: Cell<Option<u32>>,
}

/// An operator of this thread alone. Busy means borrowed: what comes back through a loop then
/// waits.
struct ExclusiveOperator {
    instance: RefCell<OperatorInstance>,
    /// Nothing needs looking at before a tuple is processed.
    needs_no_checks: bool,
    /// And it takes the buffers of tuples.
    accepts_owned: bool,
    pending: RefCell<VecDeque<PendingDelivery>>,
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

    /// What operators hold back gets out; whoever is busy is left alone.
    pub fn flush(&self) {
        self.for_each_flushing(OperatorInstance::flush);
    }

    /// Operators say downstream how far the thread has come; whoever is busy is left alone.
    pub fn send_progress(&self) {
        self.for_each_flushing(OperatorInstance::send_progress);
    }

    fn for_each_flushing(
        &self,
        call: impl Fn(&mut OperatorInstance, &ThreadRegion) -> Result<(), Fault>,
    ) {
        for &node in &self.flushing_operators {
            let at = node as usize;
            thread_runner::contain_failure(self, node, || {
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
                                order::set_progress_pending();
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

/// A shared operator that this thread is inside of.
struct SharedOperatorGuard<'a> {
    holder: &'a LockHolder,
    instance: MutexGuard<'a, OperatorInstance>,
}

impl std::ops::Deref for SharedOperatorGuard<'_> {
    type Target = OperatorInstance;

    fn deref(&self) -> &OperatorInstance {
        &self.instance
    }
}

impl std::ops::DerefMut for SharedOperatorGuard<'_> {
    fn deref_mut(&mut self) -> &mut OperatorInstance {
        &mut self.instance
    }
}

impl Drop for SharedOperatorGuard<'_> {
    /// The lock is left afterwards.
    fn drop(&mut self) {
        self.holder.clear();
    }
}

/// What is handed over.
#[derive(Clone, Copy)]
enum Delivery<'a> {
    Tuple(TupleRef<'a>),
    Punctuation(Punctuation),
    /// Of a lane.
    Watermark(&'a (u32, Watermark)),
    Abandon,
}

impl Delivery<'_> {
    fn deliver(
        self,
        node: &mut OperatorInstance,
        region: &ThreadRegion,
        port: u32,
    ) -> Result<(), Fault> {
        match self {
            Delivery::Tuple(tuple) => node.process_tuple(region, port, tuple),
            Delivery::Punctuation(mark) => node.process_punctuation(region, port, mark),
            Delivery::Watermark((lane, mark)) => node.process_watermark(region, port, *lane, *mark),
            Delivery::Abandon => node.abandon(region, port),
        }
    }

    fn to_pending(self, port: u32) -> PendingDelivery {
        match self {
            Delivery::Tuple(tuple) => {
                let mut copy = TupleBuf::default();
                copy.copy_from(tuple);
                PendingDelivery::Tuple(port, copy)
            }
            Delivery::Punctuation(mark) => PendingDelivery::Punctuation(port, mark),
            Delivery::Watermark((lane, mark)) => PendingDelivery::Watermark(port, (*lane, *mark)),
            Delivery::Abandon => PendingDelivery::Abandon(port),
        }
    }
}

impl PendingDelivery {
    fn as_delivery(&self) -> (u32, Delivery<'_>) {
        match self {
            PendingDelivery::Tuple(port, tuple) => (*port, Delivery::Tuple(tuple.as_ref())),
            PendingDelivery::Punctuation(port, mark) => (*port, Delivery::Punctuation(*mark)),
            PendingDelivery::Watermark(port, mark) => (*port, Delivery::Watermark(mark)),
            PendingDelivery::Abandon(port) => (*port, Delivery::Abandon),
        }
    }
}

/// Delivering where something has to be looked at: bounds, loops, locks, `@catch`.
impl ThreadRegion {
    fn deliver_checked(&self, to: ConsumerPort, item: Delivery<'_>) -> Result<(), Fault> {
        let at = to.operator as usize;
        match (&self.exclusive[at], &self.wiring.shared[at]) {
            (Some(own), _) => self.deliver_exclusive(own, to, item),
            (None, Some(shared)) => self.deliver_shared(shared, to, item),
            // No thread enters it: it is fed by nothing that runs.
            (None, None) => Ok(()),
        }
    }

    fn deliver_exclusive(
        &self,
        own: &ExclusiveOperator,
        to: ConsumerPort,
        item: Delivery<'_>,
    ) -> Result<(), Fault> {
        let Ok(mut node) = own.instance.try_borrow_mut() else {
            own.pending.borrow_mut().push_back(item.to_pending(to.port));
            return Ok(());
        };
        if let (Delivery::Tuple(tuple), true) = (item, node.flags.is_bounded)
            && !node.has_room(self, to.port, tuple)?
        {
            drop(node);
            let others = self.other_threads(to.operator);
            let mut has_room = || own.instance.borrow_mut().has_room(self, to.port, tuple);
            self.wiring
                .waits
                .wait_for_room(self.thread, &others, &mut has_room)?;
            node = own.instance.borrow_mut();
        }
        self.deliver_or_catch(&mut node, to.port, item)?;
        drop(node);
        loop {
            let pending = own.pending.borrow_mut().pop_front();
            let Some(pending) = pending else {
                return Ok(());
            };
            let (port, item) = pending.as_delivery();
            self.deliver_or_catch(&mut own.instance.borrow_mut(), port, item)?;
        }
    }

    fn deliver_shared(
        &self,
        shared: &SharedOperator,
        to: ConsumerPort,
        item: Delivery<'_>,
    ) -> Result<(), Fault> {
        let mut inside = shared.loop_lock.map(|gate| self.enter_loop_lock(gate));
        let Some(mut node) = self.lock_shared(shared) else {
            lock(&shared.pending).push_back(item.to_pending(to.port));
            return Ok(());
        };
        // Who came back through a loop waits for nobody: others could not enter meanwhile.
        if let (Delivery::Tuple(tuple), true) = (item, node.flags.is_bounded)
            && inside.as_ref().is_none_or(LoopLockGuard::is_outermost)
        {
            // Others that waited may be faster, and then there is no room again.
            let mut somebody_makes_room = true;
            while somebody_makes_room && !node.has_room(self, to.port, tuple)? {
                drop(node);
                drop(inside);
                somebody_makes_room = self.wait_for_room(shared, to, tuple)?;
                inside = shared.loop_lock.map(|gate| self.enter_loop_lock(gate));
                node = self.lock_outside(shared);
            }
        }
        let is_bounded = node.flags.is_bounded;
        self.deliver_or_catch(&mut node, to.port, item)?;
        drop(node);
        if is_bounded {
            self.wiring.waits.notify_room();
        }
        if inside.is_some() {
            self.deliver_pending(shared)?;
        }
        Ok(())
    }

    /// False if nobody can make room any more.
    fn wait_for_room(
        &self,
        shared: &SharedOperator,
        to: ConsumerPort,
        tuple: TupleRef<'_>,
    ) -> Result<bool, Fault> {
        let others = self.other_threads(to.operator);
        let has_room = || {
            let _inside = shared.loop_lock.map(|gate| self.enter_loop_lock(gate));
            self.lock_outside(shared).has_room(self, to.port, tuple)
        };
        self.wiring
            .waits
            .wait_for_room(self.thread, &others, has_room)
    }

    fn deliver_pending(&self, shared: &SharedOperator) -> Result<(), Fault> {
        loop {
            let pending = lock(&shared.pending).pop_front();
            let Some(pending) = pending else {
                return Ok(());
            };
            let (port, item) = pending.as_delivery();
            self.deliver_or_catch(&mut lock(&shared.instance), port, item)?;
        }
    }

    /// Takes the operator's lock; `None` if this thread is inside already.
    fn lock_shared<'s>(&self, shared: &'s SharedOperator) -> Option<SharedOperatorGuard<'s>> {
        match shared.instance.try_lock() {
            Ok(node) => Some(self.shared_guard(shared, node)),
            Err(TryLockError::Poisoned(node)) => Some(self.shared_guard(shared, node.into_inner())),
            // Whoever is inside the gate is this thread.
            Err(TryLockError::WouldBlock) if shared.loop_lock.is_some() => None,
            Err(TryLockError::WouldBlock) => Some(self.wait_for_lock(shared)),
        }
    }

    /// The same of an operator that this thread is not inside of.
    fn lock_outside<'s>(&self, shared: &'s SharedOperator) -> SharedOperatorGuard<'s> {
        let held = self.lock_shared(shared);
        held.unwrap_or_else(|| self.wait_for_lock(shared))
    }

    /// Whoever has a lock may wait for somebody who waits to be told how far this thread has come.
    fn flush_before_waiting(&self) {
        if self.wiring.is_ordered() {
            before_sleep::flush();
        }
    }

    fn wait_for_lock<'s>(&self, shared: &'s SharedOperator) -> SharedOperatorGuard<'s> {
        self.flush_before_waiting();
        let doing = ThreadActivity::WaitsForLock(shared.holder.clone());
        let waits = &self.wiring.waits;
        let node = waits.while_waiting(self.thread, doing, || lock(&shared.instance));
        self.shared_guard(shared, node)
    }

    #[inline]
    fn shared_guard<'s>(
        &self,
        shared: &'s SharedOperator,
        node: MutexGuard<'s, OperatorInstance>,
    ) -> SharedOperatorGuard<'s> {
        shared.holder.set(self.thread);
        let holder = &shared.holder;
        SharedOperatorGuard {
            holder,
            instance: node,
        }
    }

    fn enter_loop_lock(&self, gate: u32) -> LoopLockGuard<'_> {
        let gate = &self.wiring.loop_locks[gate as usize];
        gate.try_enter(self.thread).unwrap_or_else(|| {
            self.flush_before_waiting();
            let doing = ThreadActivity::WaitsForLock(gate.holder.clone());
            let waits = &self.wiring.waits;
            waits.while_waiting(self.thread, doing, || gate.enter(self.thread))
        })
    }

    /// The threads that may make room in an operator, but for this one.
    fn other_threads(&self, node: u32) -> Vec<PeThreadId> {
        let threads = self.wiring.threads[node as usize].iter();
        threads.copied().filter(|&t| t != self.thread).collect()
    }

    fn deliver_or_catch(
        &self,
        node: &mut OperatorInstance,
        port: u32,
        item: Delivery<'_>,
    ) -> Result<(), Fault> {
        let result = item.deliver(node, self, port);
        if let Err(fault) = &result
            && self.faulting_operator.get() == Some(node.index)
            && node.flags.catch.catches(fault)
            && !self.wiring.context.is_stdout_closed()
        {
            self.faulting_operator.set(None);
            self.trace_caught(node, fault, item, port);
            return Ok(());
        }
        result
    }

    fn trace_caught(&self, node: &OperatorInstance, fault: &Fault, item: Delivery<'_>, port: u32) {
        let mut operator_services = &self.wiring.services[node.index as usize];
        operator_services.add_to_metric("nExceptionsCaught", 1);
        let lost = match item {
            Delivery::Tuple(tuple) if node.flags.catch.traces_tuple => {
                node.history.describe_tuple(port, tuple)
            }
            _ => String::new(),
        };
        operator_services.trace(
            TraceLevel::Error,
            &format!("caught: {fault}{lost}"),
            "catch",
        );
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

    /// Remembers where a fault comes from, if it is new.
    #[inline]
    pub fn blame_on_error(
        &self,
        result: Result<(), Fault>,
        outlet: &OperatorOutlet<'_>,
    ) -> Result<(), Fault> {
        result.map_err(|fault| {
            let node = outlet.operator();
            if self.faulting_operator.get().is_none() {
                self.faulting_operator.set(Some(node));
            }
            fault.with_pos(self.wiring.labels[node as usize].pos)
        })
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

fn lock<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
