//! The threads of a PE while it runs, and the operators that each may enter.
//!
//! A thread begins at each source, receiver and merge, behind each queue, and at each operator that
//! submits from a thread of its own; all timers of a PE share one more. A submission to a fused
//! edge is a call of the consumer, so a thread enters all operators downstream of its beginning, up
//! to and including those that submit from threads of their own. A timer that submits nothing leads
//! into its operator alone.
//!
//! A pooled queue has no thread of its own: any thread of the pool takes the part of its thread for
//! a while, so the operators are shared as if it had one.
//!
//! ```text
//!   Beacon -> Functor -> [queue of Sink.0] -> Sink       Beacon's thread enters Functor and the
//!                `-----> Delay -> Log                    queue, and Delay; the queue's thread
//!                                                        enters Sink, and Delay's enters Log
//! ```
//!
//! # Cost
//! One walk from each beginning of a thread over the operators that it enters, two over the edges
//! for loops, and one for the order of all operators.

use std::collections::HashSet;

use graph::{
    CaughtFaults, ExprKind, OperatorId, OperatorNode, ParamValue, PeThreadId, PeThreads,
    PlannedThread, Program, ThreadPool, ThreadStartPoint, inserted_operators,
};
use tuple::Value;

use crate::streams::{DisjointSets, StreamConsumers, find_loops};

/// The threads of a PE, from the program that the PE runs and from the cores that sources and
/// receivers have for themselves ([`crate::PeProgram::pins`]).
///
/// Operators with threads and timers are those whose models say so
/// ([`OperatorNode::has_own_thread`], [`OperatorNode::timers`]).
pub fn pe_threads(program: &Program, pins: &[(u32, u32)]) -> PeThreads {
    let calls = PeCallGraph::new(program, pins);
    let starts = calls.thread_starts();
    let threads: Vec<PlannedThread> = starts
        .into_iter()
        .map(|start| PlannedThread {
            operators: calls.entered_from(&start),
            core: calls.core(&start),
            is_pooled: calls.pool(&start).is_some(),
            start,
        })
        .collect();
    let entering = entering_threads(&threads, program.operators.len());
    let call_loops = find_loops(calls.callees_by_operator());
    let all_loops = find_loops(calls.consumers_by_operator());
    let upstream_first = calls.upstream_first(&call_loops, &all_loops);
    let is_looped =
        |id: &OperatorId| calls.has_own_thread(*id) && all_loops[id.0 as usize].is_some();
    PeThreads {
        pool: threads.iter().find_map(|thread| calls.pool(&thread.start)),
        looped_threads: calls.ids().filter(is_looped).collect(),
        chains: calls.chains(&entering, &call_loops, &upstream_first),
        call_loops: members_by_loop(&call_loops),
        upstream_first,
        threads,
    }
}

/// By operator: the threads that enter it, in order.
fn entering_threads(threads: &[PlannedThread], operators: usize) -> Vec<Vec<PeThreadId>> {
    let mut entering = vec![Vec::new(); operators];
    for (thread, planned) in (0..).map(PeThreadId).zip(threads) {
        for id in &planned.operators {
            entering[id.0 as usize].push(thread);
        }
    }
    entering
}

/// The operators of each loop, in order of their first operators.
fn members_by_loop(loops: &[Option<u32>]) -> Vec<Vec<OperatorId>> {
    let mut members: Vec<Vec<OperatorId>> = vec![Vec::new(); loops.len()];
    for (id, number) in (0..).map(OperatorId).zip(loops) {
        if let Some(number) = number {
            members[*number as usize].push(id);
        }
    }
    members.retain(|operators| !operators.is_empty());
    members.sort_unstable();
    members
}

/// The operators of a PE and the calls between them.
struct PeCallGraph<'a> {
    program: &'a Program,
    pins: &'a [(u32, u32)],
    consumers: StreamConsumers,
}

impl<'a> PeCallGraph<'a> {
    fn new(program: &'a Program, pins: &'a [(u32, u32)]) -> PeCallGraph<'a> {
        PeCallGraph {
            program,
            pins,
            consumers: StreamConsumers::new(program),
        }
    }

    fn operator(&self, id: OperatorId) -> &'a OperatorNode {
        &self.program.operators[id.0 as usize]
    }

    fn ids(&self) -> impl Iterator<Item = OperatorId> + use<> {
        (0..self.program.operators.len() as u32).map(OperatorId)
    }

    fn is_kind(&self, id: OperatorId, kind: &str) -> bool {
        *self.operator(id).kind == *kind
    }

    /// Whether an operator that has input ports submits from a thread of its own.
    fn has_own_thread(&self, id: OperatorId) -> bool {
        let operator = self.operator(id);
        operator.has_own_thread && !operator.inputs.is_empty()
    }

    /// The beginnings of all threads, the timers' last.
    fn thread_starts(&self) -> Vec<ThreadStartPoint> {
        let mut starts: Vec<ThreadStartPoint> = Vec::new();
        for id in self.ids() {
            if self.is_kind(id, inserted_operators::RECEIVE) {
                starts.push(ThreadStartPoint::Receiver(id));
            } else if self.operator(id).inputs.is_empty() {
                starts.push(ThreadStartPoint::Source(id));
            } else if self.has_own_thread(id) {
                starts.push(match self.is_kind(id, inserted_operators::QUEUE) {
                    true => ThreadStartPoint::Queue(id),
                    false => ThreadStartPoint::Operator(id),
                });
            }
        }
        let timed = self.ids().filter(|id| self.operator(*id).timers.exist());
        let timed: Vec<OperatorId> = timed.collect();
        if !timed.is_empty() {
            starts.push(ThreadStartPoint::Timers(timed));
        }
        starts
    }

    /// The operators that a thread may enter, in order.
    fn entered_from(&self, start: &ThreadStartPoint) -> Vec<OperatorId> {
        let is_timer = matches!(start, ThreadStartPoint::Timers(_));
        let mut entered: HashSet<OperatorId> = HashSet::new();
        let mut open: Vec<OperatorId> = Vec::new();
        for &id in start.operators() {
            // The thread submits from here, also if the operator cuts other threads off.
            if !is_timer || self.operator(id).timers.submit() {
                open.extend(self.consumers_of_operator(id));
            }
        }
        if !is_timer && !self.has_own_thread(start.operators()[0]) {
            open.extend(start.operators());
        }
        while let Some(id) = open.pop() {
            if entered.insert(id) {
                open.extend(self.callees(id));
            }
        }
        if is_timer {
            // Not before: a silent timer calls nothing, but another operator's tuple may.
            entered.extend(start.operators());
        }
        let mut entered: Vec<OperatorId> = entered.into_iter().collect();
        entered.sort_unstable();
        entered
    }

    /// The operators that take an operator's streams, once for each edge.
    fn consumers_of_operator(&self, id: OperatorId) -> impl Iterator<Item = OperatorId> {
        let streams = self.consumers.streams_of(id);
        let edges = streams.flat_map(|stream| self.consumers.consumers_of(stream));
        edges.map(|to| to.operator)
    }

    /// The operators that a call of an operator may call: none, if it submits from its own thread.
    fn callees(&self, id: OperatorId) -> impl Iterator<Item = OperatorId> {
        let submits = !self.has_own_thread(id);
        self.consumers_of_operator(id).filter(move |_| submits)
    }

    fn callees_by_operator(&self) -> Vec<Vec<u32>> {
        let numbers = |id| self.callees(id).map(|to| to.0).collect();
        self.ids().map(numbers).collect()
    }

    fn consumers_by_operator(&self) -> Vec<Vec<u32>> {
        let numbers = |id| self.consumers_of_operator(id).map(|to| to.0).collect();
        self.ids().map(numbers).collect()
    }

    /// The core that a thread has for itself, by the pins of the part or the queue's parameter.
    fn core(&self, start: &ThreadStartPoint) -> Option<u32> {
        match start {
            ThreadStartPoint::Queue(id) => self.numbers(*id, "core").next(),
            ThreadStartPoint::Operator(_) | ThreadStartPoint::Timers(_) => None,
            ThreadStartPoint::Source(id) | ThreadStartPoint::Receiver(id) => {
                let mut pins = self.pins.iter();
                let pin = pins.find(|(operator, _)| *operator == id.0);
                pin.map(|(_, core)| *core)
            }
        }
    }

    /// The pool that takes the part of a thread, by the queue's parameter.
    fn pool(&self, start: &ThreadStartPoint) -> Option<ThreadPool> {
        let ThreadStartPoint::Queue(id) = start else {
            return None;
        };
        let mut numbers = self.numbers(*id, "pool");
        Some(ThreadPool {
            threads: numbers.next()?,
            elastic_max: numbers.next(),
        })
    }

    /// The numbers that a parameter of an inserted operator has.
    fn numbers(&self, id: OperatorId, param: &str) -> impl Iterator<Item = u32> {
        let param = self.operator(id).param(param);
        let values = match param.map(|param| &param.value) {
            Some(ParamValue::Exprs(values)) => &values[..],
            _ => &[],
        };
        values.iter().filter_map(|value| match value.kind {
            ExprKind::Const(Value::Uint32(number)) => Some(number),
            _ => None,
        })
    }

    /// All operators, each behind those that feed it. Edges that stand in a loop do not count, but
    /// for calls that close no loop of calls: so each call goes forward, or within a call loop.
    fn upstream_first(
        &self,
        call_loops: &[Option<u32>],
        all_loops: &[Option<u32>],
    ) -> Vec<OperatorId> {
        let is_in_one = |loops: &[Option<u32>], from: OperatorId, to: OperatorId| {
            let number = loops[from.0 as usize];
            number.is_some() && number == loops[to.0 as usize]
        };
        let counts = |from: OperatorId, to: OperatorId| {
            let is_call = !self.has_own_thread(from);
            !is_in_one(all_loops, from, to) || (is_call && !is_in_one(call_loops, from, to))
        };
        let counted = |from| {
            let consumers = self.consumers_of_operator(from);
            consumers.filter(move |&to| counts(from, to))
        };
        let mut feeders = vec![0; self.program.operators.len()];
        for to in self.ids().flat_map(counted) {
            feeders[to.0 as usize] += 1;
        }
        let is_free = |id: &OperatorId| feeders[id.0 as usize] == 0;
        let mut ready: Vec<OperatorId> = self.ids().filter(is_free).collect();
        ready.reverse();
        let mut ordered = Vec::with_capacity(feeders.len());
        while let Some(id) = ready.pop() {
            ordered.push(id);
            for to in counted(id) {
                let left = &mut feeders[to.0 as usize];
                *left -= 1;
                if *left == 0 {
                    ready.push(to);
                }
            }
        }
        ordered
    }

    /// The groups of operators that may be compiled into one function, each in the order of
    /// `upstream_first`.
    fn chains(
        &self,
        entering: &[Vec<PeThreadId>],
        loops: &[Option<u32>],
        upstream_first: &[OperatorId],
    ) -> Vec<Vec<OperatorId>> {
        let mut sets = DisjointSets::new(entering.len());
        let may_have_code = |id: OperatorId| {
            let at = id.0 as usize;
            entering[at].len() == 1 && loops[at].is_none() && self.may_be_lowered(id)
        };
        for id in self.ids().filter(|id| may_have_code(*id)) {
            for to in self.consumers_of_operator(id) {
                let is_same_thread = entering[to.0 as usize] == entering[id.0 as usize];
                if is_same_thread && may_have_code(to) && self.may_join(to) {
                    sets.join(id.0 as usize, to.0 as usize);
                }
            }
        }
        let mut positions = vec![0; upstream_first.len()];
        for (position, id) in upstream_first.iter().enumerate() {
            positions[id.0 as usize] = position;
        }
        let in_order = |set: Vec<usize>| {
            let mut chain: Vec<OperatorId> = set.iter().map(|&at| OperatorId(at as u32)).collect();
            chain.sort_unstable_by_key(|id| positions[id.0 as usize]);
            chain
        };
        let chains = sets.sets().into_iter().filter(|set| set.len() > 1);
        chains.map(in_order).collect()
    }

    /// Whether an operator may have its behaviour as typed statements: operators that encode,
    /// decode or order tuples, and those with threads and timers of their own, are Rust code.
    fn may_be_lowered(&self, id: OperatorId) -> bool {
        let inserted = [
            inserted_operators::SEND,
            inserted_operators::RECEIVE,
            inserted_operators::ORDERED_CALL,
        ];
        !inserted.iter().any(|kind| self.is_kind(id, kind))
            && !self.has_own_thread(id)
            && !self.operator(id).timers.exist()
    }

    /// Whether an operator's statements may be part of its caller's function.
    fn may_join(&self, id: OperatorId) -> bool {
        let operator = self.operator(id);
        !operator.keeps_history() && operator.caught_faults() == CaughtFaults::None
    }
}
