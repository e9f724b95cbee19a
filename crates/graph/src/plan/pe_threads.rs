//! The threads of one PE while it runs, the operators that each may enter, and what follows:
//! shared operators, loops, and chains of operators that may be compiled into one function.
//!
//! The numbers are those of the PE's own program, which has the inserted operators too.
//! `planner::pe_threads` works the threads out.
//!
//! ```text
//!   Trades -> [queue of Filter.0] -> Filter -> Count      Count has a timer
//!
//!   thread 0 source Trades: Trades [queue of Filter.0]
//!   thread 1 queue [queue of Filter.0]: Filter Count
//!   thread 2 timers Count: Count
//!   shared: Count
//! ```

use std::collections::BTreeSet;
use std::fmt;

use super::{PeThreadId, ThreadPool};
use crate::{OperatorId, Program};

/// The threads of a PE, and what follows from which thread may enter which operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeThreads {
    /// All threads that enter operators; a [`PeThreadId`] is the index of one. The threads of
    /// sources, receivers, queues and operators come first, in order of the operators; the thread
    /// of the timers, if any operator has one, comes last.
    pub threads: Vec<PlannedThread>,
    /// Loops that direct calls close, each in order of its operators. The operators of one loop
    /// share one lock if several threads enter them, so that no two threads wait for each other
    /// within the loop.
    pub call_loops: Vec<Vec<OperatorId>>,
    /// Operators with a thread of their own to which their own tuples may come back, by whatever
    /// threads: no final marker ends such a thread, so a shutdown has to.
    pub looped_threads: Vec<OperatorId>,
    /// Groups of operators that one thread alone enters, that call each other and that may be
    /// compiled into one function, upstream first. No two operators of different groups are
    /// compiled into one function, but those of one group may be several: operators that are Rust
    /// code, and logic that looks before each submission whether its port is still open, divide the
    /// group when the operators are constructed.
    pub chains: Vec<Vec<OperatorId>>,
    /// All operators, each behind those that feed it but for edges of loops. Code is made in this
    /// order: a call goes forward in it, unless it stands in one of [`PeThreads::call_loops`].
    pub upstream_first: Vec<OperatorId>,
    /// The threads of the pool, if any of [`PeThreads::threads`] are pooled.
    pub pool: Option<ThreadPool>,
}

/// A thread of a PE and the operators that it may enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedThread {
    /// The operator, or the operators' timers, that the thread belongs to.
    pub start: ThreadStartPoint,
    /// The operators that the thread may enter by direct calls, in order. The operator of a queue,
    /// or of another thread with input ports, is entered by the threads that feed it, not by its
    /// own.
    pub operators: Vec<OperatorId>,
    /// The core that the thread has for itself; `None` for any of the PE's cores.
    pub core: Option<u32>,
    /// Whether the operators have no thread of their own: any thread of the pool takes the part of
    /// this one for a while.
    pub is_pooled: bool,
}

/// The place where a thread of a PE begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadStartPoint {
    /// A source of the program.
    Source(OperatorId),
    /// A receiver or a merge.
    Receiver(OperatorId),
    /// The queue of a threaded port.
    Queue(OperatorId),
    /// An operator of the program that has input ports and submits from a thread of its own.
    Operator(OperatorId),
    /// The timers of these operators, in order.
    Timers(Vec<OperatorId>),
}

impl ThreadStartPoint {
    /// The operators at which the thread begins: several only for timers.
    pub fn operators(&self) -> &[OperatorId] {
        match self {
            ThreadStartPoint::Source(id)
            | ThreadStartPoint::Receiver(id)
            | ThreadStartPoint::Queue(id)
            | ThreadStartPoint::Operator(id) => std::slice::from_ref(id),
            ThreadStartPoint::Timers(ids) => ids,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            ThreadStartPoint::Source(_) => "source",
            ThreadStartPoint::Receiver(_) => "receiver",
            ThreadStartPoint::Queue(_) => "queue",
            ThreadStartPoint::Operator(_) => "operator",
            ThreadStartPoint::Timers(_) => "timers",
        }
    }
}

impl PeThreads {
    /// The operators that more than one thread may enter, in order: they need a lock.
    pub fn shared_operators(&self) -> Vec<OperatorId> {
        let mut entered = BTreeSet::new();
        let mut shared = BTreeSet::new();
        for &id in self.threads.iter().flat_map(|thread| &thread.operators) {
            if !entered.insert(id) {
                shared.insert(id);
            }
        }
        shared.into_iter().collect()
    }

    /// The threads as text, one line each, with the names of the PE's program. Names with blanks
    /// stand in brackets.
    pub fn display<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        PeThreadsText {
            threads: self,
            program,
        }
    }
}

struct PeThreadsText<'a> {
    threads: &'a PeThreads,
    program: &'a Program,
}

impl PeThreadsText<'_> {
    fn names(&self, ids: &[OperatorId]) -> String {
        let name = |id: &OperatorId| {
            let operator = self.program.operators.get(id.0 as usize);
            let name = operator.map_or("?", |operator| &*operator.name);
            match name.contains(' ') {
                true => format!(" [{name}]"),
                false => format!(" {name}"),
            }
        };
        ids.iter().map(name).collect()
    }
}

impl fmt::Display for PeThreadsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PeThreads {
            threads,
            call_loops,
            looped_threads,
            chains,
            upstream_first: _,
            pool,
        } = self.threads;
        if let Some(pool) = pool {
            writeln!(f, "pool {pool}")?;
        }
        for (id, thread) in (0..).map(PeThreadId).zip(threads) {
            let (word, starts) = (thread.start.word(), thread.start.operators());
            write!(f, "thread {id} {word}{}", self.names(starts))?;
            if let Some(core) = thread.core {
                write!(f, " core {core}")?;
            }
            if thread.is_pooled {
                f.write_str(" pooled")?;
            }
            writeln!(f, ":{}", self.names(&thread.operators))?;
        }
        let shared = self.threads.shared_operators();
        if !shared.is_empty() {
            writeln!(f, "shared:{}", self.names(&shared))?;
        }
        for operators in call_loops {
            writeln!(f, "loop:{}", self.names(operators))?;
        }
        if !looped_threads.is_empty() {
            writeln!(f, "looped threads:{}", self.names(looped_threads))?;
        }
        for operators in chains {
            writeln!(f, "may fuse:{}", self.names(operators))?;
        }
        Ok(())
    }
}
