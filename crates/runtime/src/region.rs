//! What one thread runs: the operators that are its own, the shared ones, and delivering to both.
//!
//! Submitting to a fused edge is [`Region::deliver`]: a call of the consumer's code on this thread.
//! For an operator that only this thread enters that takes no lock and no allocation.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard, PoisonError, TryLockError};

use graph::{Fault, Services, TraceLevel};
use tuple::{Punctuation, TupleBuf, TupleRef, Watermark};

use crate::abi::Batch;
use crate::crossing::{order, quiet};
use crate::desk::Desk;
use crate::gate::Inside;
use crate::node::Node;
use crate::runner;
use crate::wait::{Doing, Holder, ThreadId};
use crate::wiring::{Lane, OutPort, Parcel, Shared, Target, Wiring};

/// One thread's view of the PE.
pub(crate) struct Region {
    pub wiring: Arc<Wiring>,
    pub thread: ThreadId,
    /// By operator: those that no other thread enters.
    own: Box<[Option<Own>]>,
    /// Operators that hold tuples back, own and shared ones.
    flushed: Box<[u32]>,
    /// The operator that the fault on its way up comes from.
    blamed: Cell<Option<u32>>,
}

/// An operator of this thread alone. Busy means borrowed: what comes back through a loop then
/// waits.
struct Own {
    node: RefCell<Node>,
    /// Nothing needs looking at before a tuple is processed.
    is_plain: bool,
    /// And it takes the buffers of tuples.
    takes_made: bool,
    pending: RefCell<VecDeque<Parcel>>,
}

impl Region {
    pub fn new(wiring: Arc<Wiring>, thread: ThreadId, nodes: Vec<Option<Node>>) -> Region {
        let flushed = flushed(&wiring, &nodes);
        let own = nodes.into_iter().map(|node| {
            node.map(|node| Own {
                is_plain: node.traits.is_plain(),
                takes_made: node.traits.is_plain() && node.traits.takes_made,
                node: RefCell::new(node),
                pending: RefCell::default(),
            })
        });
        Region {
            wiring,
            thread,
            own: own.collect(),
            flushed,
            blamed: Cell::new(None),
        }
    }

    /// Hands a tuple to an input port.
    #[inline]
    pub fn deliver(&self, to: Target, tuple: TupleRef<'_>) -> Result<(), Fault> {
        match &self.own[to.node as usize] {
            Some(own) if own.is_plain => {
                let mut node = own.node.borrow_mut();
                node.tuple(self, to.port, tuple)
            }
            _ => self.hand_over(to, Item::Tuple(tuple)),
        }
    }

    /// Hands a tuple to the only input port that it is for, with its buffer if the operator takes it.
    #[inline]
    pub fn deliver_made(&self, to: Target, tuple: &mut TupleBuf) -> Result<(), Fault> {
        match &self.own[to.node as usize] {
            Some(own) if own.takes_made => own.node.borrow_mut().made(self, to.port, tuple),
            _ => self.deliver(to, tuple.as_ref()),
        }
    }

    /// Hands the tuples that a batch begins with to an input port, if its code takes batches; how
    /// many, and how it went.
    pub fn deliver_each(
        &self,
        to: Target,
        batch: &mut Batch<'_>,
        kind: u8,
    ) -> (u64, Result<(), Fault>) {
        match &self.own[to.node as usize] {
            Some(own) if own.is_plain => {
                let mut node = own.node.borrow_mut();
                node.each(self, to.port, batch, kind)
            }
            _ => (0, Ok(())),
        }
    }

    /// Hands a marker of one stream to an input port.
    pub fn deliver_mark(&self, to: Target, mark: Punctuation) -> Result<(), Fault> {
        self.hand_over(to, Item::Mark(mark))
    }

    /// Hands the watermark of one stream to an input port.
    pub fn deliver_watermark(&self, lane: &Lane, mark: Watermark) -> Result<(), Fault> {
        self.hand_over(lane.to, Item::Watermark(&(lane.lane, mark)))
    }

    /// Calls an operator; `None` if it is busy, which only those in loops are, or not here.
    pub fn with_node<T>(&self, node: u32, call: impl FnOnce(&mut Node) -> T) -> Option<T> {
        let at = node as usize;
        match (&self.own[at], &self.wiring.shared[at]) {
            (Some(own), _) => own
                .node
                .try_borrow_mut()
                .ok()
                .map(|mut node| call(&mut node)),
            (None, Some(shared)) => {
                let inside = shared.gate.map(|gate| self.pass(gate));
                let result = self.lock(shared).map(|mut node| call(&mut node));
                drop(inside);
                result
            }
            (None, None) => None,
        }
    }

    /// Whether it has operators that hold tuples back.
    pub fn holds_back(&self) -> bool {
        !self.flushed.is_empty()
    }

    /// What operators hold back gets out; whoever is busy is left alone.
    pub fn flush(&self) {
        self.each_flushed(Node::flush);
    }

    /// Operators say downstream how far the thread has come; whoever is busy is left alone.
    pub fn say_reached(&self) {
        self.each_flushed(Node::say_reached);
    }

    fn each_flushed(&self, call: impl Fn(&mut Node, &Region) -> Result<(), Fault>) {
        for &node in &self.flushed {
            let at = node as usize;
            runner::guard(self, node, || {
                match (&self.own[at], &self.wiring.shared[at]) {
                    (Some(own), _) => own
                        .node
                        .try_borrow_mut()
                        .map_or(Ok(()), |mut node| call(&mut node, self)),
                    (None, Some(shared)) => match shared.node.try_lock() {
                        Ok(mut node) => call(&mut node, self),
                        // Another thread is inside, and says nothing for this one.
                        Err(_) => {
                            if self.wiring.is_ordered() {
                                order::pend();
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
    pub fn own_nodes(&self) -> impl Iterator<Item = u32> {
        let nodes = self.own.iter().enumerate();
        nodes
            .filter(|(_, own)| own.is_some())
            .map(|(at, _)| at as u32)
    }
}

/// An operator that is being called: if it panics, it is to blame.
pub(crate) struct Suspect<'a> {
    region: &'a Region,
    node: u32,
}

impl Suspect<'_> {
    /// It has not panicked.
    #[inline]
    pub fn defuse(self) {
        std::mem::forget(self);
    }
}

impl Drop for Suspect<'_> {
    fn drop(&mut self) {
        if self.region.blamed.get().is_none() {
            self.region.blamed.set(Some(self.node));
        }
    }
}

/// A shared operator that this thread is inside of.
struct Held<'a> {
    holder: &'a Holder,
    node: MutexGuard<'a, Node>,
}

impl std::ops::Deref for Held<'_> {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl std::ops::DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Node {
        &mut self.node
    }
}

impl Drop for Held<'_> {
    /// The lock is left afterwards.
    fn drop(&mut self) {
        self.holder.leaves();
    }
}

/// What is handed over.
#[derive(Clone, Copy)]
enum Item<'a> {
    Tuple(TupleRef<'a>),
    Mark(Punctuation),
    /// Of a lane.
    Watermark(&'a (u32, Watermark)),
    Abandon,
}

impl Item<'_> {
    fn deliver(self, node: &mut Node, region: &Region, port: u32) -> Result<(), Fault> {
        match self {
            Item::Tuple(tuple) => node.tuple(region, port, tuple),
            Item::Mark(mark) => node.mark(region, port, mark),
            Item::Watermark((lane, mark)) => node.watermark(region, port, *lane, *mark),
            Item::Abandon => node.abandon(region, port),
        }
    }

    fn keep(self, port: u32) -> Parcel {
        match self {
            Item::Tuple(tuple) => {
                let mut copy = TupleBuf::default();
                copy.copy_from(tuple);
                Parcel::Tuple(port, copy)
            }
            Item::Mark(mark) => Parcel::Mark(port, mark),
            Item::Watermark((lane, mark)) => Parcel::Watermark(port, (*lane, *mark)),
            Item::Abandon => Parcel::Abandon(port),
        }
    }
}

impl Parcel {
    fn item(&self) -> (u32, Item<'_>) {
        match self {
            Parcel::Tuple(port, tuple) => (*port, Item::Tuple(tuple.as_ref())),
            Parcel::Mark(port, mark) => (*port, Item::Mark(*mark)),
            Parcel::Watermark(port, mark) => (*port, Item::Watermark(mark)),
            Parcel::Abandon(port) => (*port, Item::Abandon),
        }
    }
}

/// Delivering where something has to be looked at: bounds, loops, locks, `@catch`.
impl Region {
    fn hand_over(&self, to: Target, item: Item<'_>) -> Result<(), Fault> {
        let at = to.node as usize;
        match (&self.own[at], &self.wiring.shared[at]) {
            (Some(own), _) => self.hand_to_own(own, to, item),
            (None, Some(shared)) => self.hand_to_shared(shared, to, item),
            // No thread enters it: it is fed by nothing that runs.
            (None, None) => Ok(()),
        }
    }

    fn hand_to_own(&self, own: &Own, to: Target, item: Item<'_>) -> Result<(), Fault> {
        let Ok(mut node) = own.node.try_borrow_mut() else {
            own.pending.borrow_mut().push_back(item.keep(to.port));
            return Ok(());
        };
        if let (Item::Tuple(tuple), true) = (item, node.traits.is_bounded)
            && !node.has_room(self, to.port, tuple)?
        {
            drop(node);
            let others = self.others(to.node);
            let mut has_room = || own.node.borrow_mut().has_room(self, to.port, tuple);
            self.wiring
                .waits
                .wait_for_room(self.thread, &others, &mut has_room)?;
            node = own.node.borrow_mut();
        }
        self.call(&mut node, to.port, item)?;
        drop(node);
        loop {
            let parcel = own.pending.borrow_mut().pop_front();
            let Some(parcel) = parcel else {
                return Ok(());
            };
            let (port, item) = parcel.item();
            self.call(&mut own.node.borrow_mut(), port, item)?;
        }
    }

    fn hand_to_shared(&self, shared: &Shared, to: Target, item: Item<'_>) -> Result<(), Fault> {
        let mut inside = shared.gate.map(|gate| self.pass(gate));
        let Some(mut node) = self.lock(shared) else {
            lock(&shared.pending).push_back(item.keep(to.port));
            return Ok(());
        };
        // Who came back through a loop waits for nobody: others could not enter meanwhile.
        if let (Item::Tuple(tuple), true) = (item, node.traits.is_bounded)
            && inside.as_ref().is_none_or(Inside::is_outermost)
        {
            // Others that waited may be faster, and then there is no room again.
            let mut somebody_makes_room = true;
            while somebody_makes_room && !node.has_room(self, to.port, tuple)? {
                drop(node);
                drop(inside);
                somebody_makes_room = self.wait_for_room(shared, to, tuple)?;
                inside = shared.gate.map(|gate| self.pass(gate));
                node = self.hold(shared);
            }
        }
        let is_bounded = node.traits.is_bounded;
        self.call(&mut node, to.port, item)?;
        drop(node);
        if is_bounded {
            self.wiring.waits.made_room();
        }
        if inside.is_some() {
            self.deliver_pending(shared)?;
        }
        Ok(())
    }

    /// False if nobody can make room any more.
    fn wait_for_room(
        &self,
        shared: &Shared,
        to: Target,
        tuple: TupleRef<'_>,
    ) -> Result<bool, Fault> {
        let others = self.others(to.node);
        let has_room = || {
            let _inside = shared.gate.map(|gate| self.pass(gate));
            self.hold(shared).has_room(self, to.port, tuple)
        };
        self.wiring
            .waits
            .wait_for_room(self.thread, &others, has_room)
    }

    fn deliver_pending(&self, shared: &Shared) -> Result<(), Fault> {
        loop {
            let parcel = lock(&shared.pending).pop_front();
            let Some(parcel) = parcel else {
                return Ok(());
            };
            let (port, item) = parcel.item();
            self.call(&mut lock(&shared.node), port, item)?;
        }
    }

    /// Takes the operator's lock; `None` if this thread is inside already.
    fn lock<'s>(&self, shared: &'s Shared) -> Option<Held<'s>> {
        match shared.node.try_lock() {
            Ok(node) => Some(self.held(shared, node)),
            Err(TryLockError::Poisoned(node)) => Some(self.held(shared, node.into_inner())),
            // Whoever is inside the gate is this thread.
            Err(TryLockError::WouldBlock) if shared.gate.is_some() => None,
            Err(TryLockError::WouldBlock) => Some(self.wait_for_lock(shared)),
        }
    }

    /// The same of an operator that this thread is not inside of.
    fn hold<'s>(&self, shared: &'s Shared) -> Held<'s> {
        let held = self.lock(shared);
        held.unwrap_or_else(|| self.wait_for_lock(shared))
    }

    /// Whoever has a lock may wait for somebody who waits to be told how far this thread has come.
    fn say_before_waiting(&self) {
        if self.wiring.is_ordered() {
            quiet::flush();
        }
    }

    fn wait_for_lock<'s>(&self, shared: &'s Shared) -> Held<'s> {
        self.say_before_waiting();
        let doing = Doing::Lock(shared.holder.clone());
        let waits = &self.wiring.waits;
        let node = waits.while_doing(self.thread, doing, || lock(&shared.node));
        self.held(shared, node)
    }

    #[inline]
    fn held<'s>(&self, shared: &'s Shared, node: MutexGuard<'s, Node>) -> Held<'s> {
        shared.holder.took(self.thread);
        let holder = &shared.holder;
        Held { holder, node }
    }

    fn pass(&self, gate: u32) -> Inside<'_> {
        let gate = &self.wiring.gates[gate as usize];
        gate.try_enter(self.thread).unwrap_or_else(|| {
            self.say_before_waiting();
            let doing = Doing::Lock(gate.holder.clone());
            let waits = &self.wiring.waits;
            waits.while_doing(self.thread, doing, || gate.enter(self.thread))
        })
    }

    /// The threads that may make room in an operator, but for this one.
    fn others(&self, node: u32) -> Vec<ThreadId> {
        let threads = self.wiring.threads[node as usize].iter();
        threads.copied().filter(|&t| t != self.thread).collect()
    }

    fn call(&self, node: &mut Node, port: u32, item: Item<'_>) -> Result<(), Fault> {
        let result = item.deliver(node, self, port);
        if let Err(fault) = &result
            && self.blamed.get() == Some(node.index)
            && node.traits.catch.takes(fault)
            && !self.wiring.house.is_quiet()
        {
            self.blamed.set(None);
            self.note_caught(node, fault, item, port);
            return Ok(());
        }
        result
    }

    fn note_caught(&self, node: &Node, fault: &Fault, item: Item<'_>, port: u32) {
        let mut voice = &self.wiring.voices[node.index as usize];
        voice.add("nExceptionsCaught", 1);
        let lost = match item {
            Item::Tuple(tuple) if node.traits.catch.traces_tuple => node.past.show(port, tuple),
            _ => String::new(),
        };
        voice.trace(
            TraceLevel::Error,
            &format!("caught: {fault}{lost}"),
            "catch",
        );
    }
}

/// Ends and faults.
impl Region {
    /// Sends the final marker on every output port of an operator.
    pub fn end_outputs(&self, node: u32) -> Result<(), Fault> {
        for (port, out) in (0..).zip(&self.wiring.outs[node as usize]) {
            if out.close() {
                out.marks.count(Punctuation::Final);
                self.end_watermarks(node, port)?;
                for &target in &out.targets {
                    self.deliver_mark(target, Punctuation::Final)?;
                }
            }
        }
        Ok(())
    }

    /// The stream of an output port is about to end: it holds nobody's watermark up any more.
    pub fn end_watermarks(&self, node: u32, port: u32) -> Result<(), Fault> {
        let mut lanes = self.wiring.lanes(node, port).iter();
        lanes.try_for_each(|lane| self.deliver_watermark(lane, Watermark::Over))
    }

    /// The operator has failed and submits no more: whoever waits for its final markers is told.
    pub fn abandon_outputs(&self, node: u32) {
        for out in &self.wiring.outs[node as usize] {
            self.abandon(out);
        }
    }

    /// The same for one port.
    pub fn abandon(&self, out: &OutPort) {
        if out.close() {
            for &target in &out.targets {
                // What fails now fails because something else has; that one is reported.
                let _ = self.hand_over(target, Item::Abandon);
            }
        }
    }

    /// Remembers where a fault comes from, if it is new.
    #[inline]
    pub fn blame_on_error(&self, result: Result<(), Fault>, desk: &Desk<'_>) -> Result<(), Fault> {
        result.map_err(|fault| {
            let node = desk.node();
            if self.blamed.get().is_none() {
                self.blamed.set(Some(node));
            }
            fault.at(self.wiring.heads[node as usize].pos)
        })
    }

    /// Remembers who panics, unless it is defused.
    #[inline]
    pub fn blame_on_panic(&self, node: u32) -> Suspect<'_> {
        Suspect { region: self, node }
    }

    /// Where the last fault comes from.
    pub fn take_blamed(&self) -> Option<u32> {
        self.blamed.take()
    }
}

/// The operators that hold tuples back: of these, and of the shared ones.
fn flushed(wiring: &Wiring, nodes: &[Option<Node>]) -> Box<[u32]> {
    let holds_back = |(at, node): (u32, &Option<Node>)| {
        let shared = wiring.shared[at as usize].as_ref();
        let shared = shared.is_some_and(|shared| shared.holds_back);
        let own = node.as_ref().is_some_and(|node| node.traits.holds_back);
        (own || shared).then_some(at)
    };
    (0..).zip(nodes).filter_map(holds_back).collect()
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
