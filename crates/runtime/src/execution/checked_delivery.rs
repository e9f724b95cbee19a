//! Delivery to operators with bounds, in loops, behind locks or with `@catch`, which need a look
//! first.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use eval::{Fault, Services, TraceLevel};
use graph::{PeThreadId, PortIndex};
use tuple::TupleRef;

use super::delivery::Delivery;
use super::operator_instance::OperatorInstance;
use super::port_state::ConsumerPort;
use super::thread_region::{ExclusiveOperator, ThreadRegion};
use super::wiring::SharedOperator;
use crate::blocking::before_sleep;
use crate::blocking::loop_lock::LoopLockGuard;
use crate::blocking::thread_waits::{LockHolder, ThreadActivity};

/// Delivering where something has to be looked at: bounds, loops, locks, `@catch`.
impl ThreadRegion {
    pub(super) fn deliver_checked(
        &self,
        to: ConsumerPort,
        item: Delivery<'_>,
    ) -> Result<(), Fault> {
        let at = to.operator as usize;
        match (&self.exclusive[at], &self.wiring.shared[at]) {
            (Some(exclusive), _) => self.deliver_exclusive(exclusive, to, item),
            (None, Some(shared)) => self.deliver_shared(shared, to, item),
            // No thread enters it: it is fed by nothing that runs. Or a silent timer submits, which
            // is found when it has returned.
            (None, None) => {
                debug_assert!(
                    !matches!(item, Delivery::Abandon) || self.wiring.threads[at].is_empty(),
                    "only other threads enter the operator, and learn nothing of its stream's end"
                );
                Ok(())
            }
        }
    }

    fn deliver_exclusive(
        &self,
        exclusive: &ExclusiveOperator,
        to: ConsumerPort,
        item: Delivery<'_>,
    ) -> Result<(), Fault> {
        let Ok(mut instance) = exclusive.instance.try_borrow_mut() else {
            exclusive
                .pending
                .borrow_mut()
                .push_back(item.to_pending(to.port));
            return Ok(());
        };
        if let (Delivery::Tuple(tuple), true) = (item, instance.flags.is_bounded)
            && !instance.has_room(self, to.port, tuple)?
        {
            drop(instance);
            let others = self.other_threads(to.operator);
            let mut has_room = || {
                exclusive
                    .instance
                    .borrow_mut()
                    .has_room(self, to.port, tuple)
            };
            self.wiring
                .waits
                .wait_for_room(self.thread, &others, &mut has_room)?;
            instance = exclusive.instance.borrow_mut();
        }
        self.deliver_or_catch(&mut instance, to.port, item)?;
        drop(instance);
        self.deliver_pending_exclusive(exclusive)
    }

    /// Calls an operator without an item for it, as its timers do, and delivers what comes back to
    /// it through a loop meanwhile. An operator that is busy, which only those in loops are, or not
    /// in this region, is not called.
    pub fn with_instance(
        &self,
        operator: u32,
        call: impl FnOnce(&mut OperatorInstance) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let at = operator as usize;
        match (&self.exclusive[at], &self.wiring.shared[at]) {
            (Some(exclusive), _) => {
                let Ok(mut instance) = exclusive.instance.try_borrow_mut() else {
                    return Ok(());
                };
                call(&mut instance)?;
                drop(instance);
                self.deliver_pending_exclusive(exclusive)
            }
            (None, Some(shared)) => {
                let inside = shared
                    .loop_lock
                    .map(|loop_lock| self.enter_loop_lock(loop_lock));
                let Some(mut instance) = self.lock_shared(shared) else {
                    return Ok(());
                };
                call(&mut instance)?;
                drop(instance);
                match inside {
                    Some(_) => self.deliver_pending(shared),
                    None => Ok(()),
                }
            }
            (None, None) => Ok(()),
        }
    }

    fn deliver_pending_exclusive(&self, exclusive: &ExclusiveOperator) -> Result<(), Fault> {
        loop {
            let pending = exclusive.pending.borrow_mut().pop_front();
            let Some(pending) = pending else {
                return Ok(());
            };
            let (port, item) = pending.as_delivery();
            self.deliver_or_catch(&mut exclusive.instance.borrow_mut(), port, item)?;
        }
    }

    fn deliver_shared(
        &self,
        shared: &SharedOperator,
        to: ConsumerPort,
        item: Delivery<'_>,
    ) -> Result<(), Fault> {
        let mut inside = shared
            .loop_lock
            .map(|loop_lock| self.enter_loop_lock(loop_lock));
        let Some(mut instance) = self.lock_shared(shared) else {
            lock(&shared.pending).push_back(item.to_pending(to.port));
            return Ok(());
        };
        // A tuple that came back through a loop waits for no room: others could not enter
        // meanwhile.
        if let (Delivery::Tuple(tuple), true) = (item, instance.flags.is_bounded)
            && inside.as_ref().is_none_or(LoopLockGuard::is_outermost)
        {
            // Other threads that waited may be faster, and then there is no room again.
            let mut somebody_makes_room = true;
            while somebody_makes_room && !instance.has_room(self, to.port, tuple)? {
                drop(instance);
                drop(inside);
                somebody_makes_room = self.wait_for_room(shared, to, tuple)?;
                inside = shared
                    .loop_lock
                    .map(|loop_lock| self.enter_loop_lock(loop_lock));
                instance = self.lock_outside(shared);
            }
        }
        let is_bounded = instance.flags.is_bounded;
        self.deliver_or_catch(&mut instance, to.port, item)?;
        drop(instance);
        if is_bounded {
            self.wiring.waits.notify_room();
        }
        if inside.is_some() {
            self.deliver_pending(shared)?;
        }
        Ok(())
    }

    /// Waits for room, outside the operator's lock. Returns false if no thread can make any more.
    fn wait_for_room(
        &self,
        shared: &SharedOperator,
        to: ConsumerPort,
        tuple: TupleRef<'_>,
    ) -> Result<bool, Fault> {
        let others = self.other_threads(to.operator);
        let has_room = || {
            let _inside = shared
                .loop_lock
                .map(|loop_lock| self.enter_loop_lock(loop_lock));
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

    /// Takes the operator's lock; `None` if this thread holds it already.
    pub(super) fn lock_shared<'s>(
        &self,
        shared: &'s SharedOperator,
    ) -> Option<SharedOperatorGuard<'s>> {
        match shared.instance.try_lock() {
            Ok(instance) => Some(self.shared_guard(shared, instance)),
            Err(TryLockError::Poisoned(instance)) => {
                Some(self.shared_guard(shared, instance.into_inner()))
            }
            // The loop lock is taken, so the thread that holds the operator's lock is this one.
            Err(TryLockError::WouldBlock) if shared.loop_lock.is_some() => None,
            Err(TryLockError::WouldBlock) => Some(self.wait_for_lock(shared)),
        }
    }

    /// Takes the lock of an operator that this thread is not inside of.
    fn lock_outside<'s>(&self, shared: &'s SharedOperator) -> SharedOperatorGuard<'s> {
        let held = self.lock_shared(shared);
        held.unwrap_or_else(|| self.wait_for_lock(shared))
    }

    /// Sends what the thread's operators hold back, and how far the thread has come, before a wait
    /// for a lock in a PE with ordered streams: the thread that holds the lock may wait for just
    /// that.
    fn flush_before_waiting(&self) {
        if self.wiring.is_ordered() {
            before_sleep::flush();
        }
    }

    fn wait_for_lock<'s>(&self, shared: &'s SharedOperator) -> SharedOperatorGuard<'s> {
        self.flush_before_waiting();
        let doing = ThreadActivity::WaitsForLock(shared.holder.clone());
        let waits = &self.wiring.waits;
        let instance = waits.while_waiting(self.thread, doing, || lock(&shared.instance));
        self.shared_guard(shared, instance)
    }

    #[inline]
    fn shared_guard<'s>(
        &self,
        shared: &'s SharedOperator,
        instance: MutexGuard<'s, OperatorInstance>,
    ) -> SharedOperatorGuard<'s> {
        shared.holder.set(self.thread);
        let holder = &shared.holder;
        SharedOperatorGuard { holder, instance }
    }

    pub(super) fn enter_loop_lock(&self, loop_lock: u32) -> LoopLockGuard<'_> {
        let loop_lock = &self.wiring.loop_locks[loop_lock as usize];
        loop_lock.try_enter(self.thread).unwrap_or_else(|| {
            self.flush_before_waiting();
            let doing = ThreadActivity::WaitsForLock(loop_lock.holder.clone());
            let waits = &self.wiring.waits;
            waits.while_waiting(self.thread, doing, || loop_lock.enter(self.thread))
        })
    }

    /// Threads that may make room in an operator, without this one.
    fn other_threads(&self, operator: u32) -> Vec<PeThreadId> {
        let threads = self.wiring.threads[operator as usize].iter();
        threads.copied().filter(|&t| t != self.thread).collect()
    }

    fn deliver_or_catch(
        &self,
        instance: &mut OperatorInstance,
        port: PortIndex,
        item: Delivery<'_>,
    ) -> Result<(), Fault> {
        let result = item.deliver(instance, self, port);
        if let Err(fault) = &result
            && self.faulting_operator.get() == Some(instance.index)
            && instance.flags.catch.catches(fault)
            && !self.wiring.context.is_stdout_closed()
        {
            self.faulting_operator.set(None);
            self.trace_caught(instance, fault, item, port);
            return Ok(());
        }
        result
    }

    fn trace_caught(
        &self,
        instance: &OperatorInstance,
        fault: &Fault,
        item: Delivery<'_>,
        port: PortIndex,
    ) {
        let mut operator_services = &self.wiring.services[instance.index as usize];
        operator_services.add_to_metric("nExceptionsCaught", 1);
        let lost = match item {
            Delivery::Tuple(tuple) if instance.flags.catch.traces_tuple => {
                instance.history.describe_tuple(port, tuple)
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

/// Possession of a shared operator by this thread.
pub(super) struct SharedOperatorGuard<'a> {
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
    /// Clears the holder just before the lock is released.
    fn drop(&mut self) {
        self.holder.clear();
    }
}

impl Delivery<'_> {
    fn deliver(
        self,
        instance: &mut OperatorInstance,
        region: &ThreadRegion,
        port: PortIndex,
    ) -> Result<(), Fault> {
        match self {
            Delivery::Tuple(tuple) => instance.process_tuple(region, port, tuple),
            Delivery::Punctuation(mark) => instance.process_punctuation(region, port, mark),
            Delivery::Watermark((edge, watermark)) => {
                instance.process_watermark(region, port, *edge, *watermark)
            }
            Delivery::Abandon => instance.abandon(region, port),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
