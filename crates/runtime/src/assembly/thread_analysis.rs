//! Which threads enter which operators, and which operators stand in loops.
//!
//! There is one thread for every source, one for each operator that asked for its own, and one for
//! all timers. A thread that submits to a fused edge runs the consumer, so it enters all operators
//! downstream of where it begins, up to those that submit from a thread of their own.

use std::collections::VecDeque;

use crate::blocking::pe_thread::PeThreadId;
use crate::execution::port_state::ConsumerPort;

/// Input of the analysis, by operator.
pub(crate) struct ThreadAnalysis<'a> {
    /// The consumers of each output port.
    pub consumers: &'a [Vec<Vec<ConsumerPort>>],
    /// Whether the operator submits from a thread of its own although it has input ports.
    pub own_thread: &'a [bool],
}

/// The operator at which a thread begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadStart {
    pub thread: PeThreadId,
    pub operator: u32,
    /// Whether the thread enters the operator itself; else it enters only operators downstream.
    pub enters: bool,
}

impl ThreadAnalysis<'_> {
    /// The operators that a call of `operator` may call.
    fn callees(&self, operator: u32) -> impl Iterator<Item = u32> {
        let submits = !self.own_thread[operator as usize];
        let ports = self.consumers[operator as usize]
            .iter()
            .filter(move |_| submits);
        ports.flatten().map(|consumer| consumer.operator)
    }

    /// By operator: the threads that enter it, in order.
    pub fn entering_threads(&self, starts: &[ThreadStart]) -> Vec<Vec<PeThreadId>> {
        let mut threads = vec![Vec::new(); self.consumers.len()];
        for start in starts {
            let mut first: Vec<u32> = if start.enters {
                vec![start.operator]
            } else {
                Vec::new()
            };
            let downstream = self.consumers[start.operator as usize].iter().flatten();
            first.extend(downstream.map(|consumer| consumer.operator));
            for operator in self.reachable(first) {
                let threads = &mut threads[operator as usize];
                if threads.last() != Some(&start.thread) {
                    threads.push(start.thread);
                }
            }
        }
        threads
    }

    /// By operator: number of the loop that it stands in. Operators of one loop have one number.
    pub fn loops(&self) -> Vec<Option<u32>> {
        let count = self.consumers.len();
        let calls: Vec<Vec<u32>> = (0..count as u32)
            .map(|n| self.callees(n).collect())
            .collect();
        let mut callers = vec![Vec::new(); count];
        for (caller, called) in calls.iter().enumerate() {
            called
                .iter()
                .for_each(|&n| callers[n as usize].push(caller as u32));
        }
        // An operator stands in a loop only if loops lead to it and it leads to loops. Nearly all
        // operators fail one of these tests, which are cheap.
        let mut may_loop = vec![true; count];
        remove_unreached(&calls, &callers, &mut may_loop);
        remove_unreached(&callers, &calls, &mut may_loop);
        let mut loops = vec![None; count];
        let mut next = 0;
        for operator in 0..count {
            if !may_loop[operator] || loops[operator].is_some() {
                continue;
            }
            let (after, before) = (
                reachable_from(&calls, operator),
                reachable_from(&callers, operator),
            );
            if after[operator] {
                let both = (0..count).filter(|&other| after[other] && before[other]);
                both.for_each(|other| loops[other] = Some(next));
                next += 1;
            }
        }
        loops
    }

    /// By operator: whether it submits from a thread of its own and stands in a loop, which may
    /// lead over other such threads. False for all other operators: they end when their callers do.
    pub fn in_threaded_loops(&self) -> Vec<bool> {
        let ports = self.consumers.iter();
        let steps = ports.map(|ports| {
            ports
                .iter()
                .flatten()
                .map(|consumer| consumer.operator)
                .collect()
        });
        let steps: Vec<Vec<u32>> = steps.collect();
        let operators = self.own_thread.iter().enumerate();
        operators
            .map(|(operator, &own_thread)| own_thread && reachable_from(&steps, operator)[operator])
            .collect()
    }

    /// All operators, upstream before downstream but for loops.
    pub fn topological_order(&self) -> Vec<u32> {
        let count = self.consumers.len();
        let mut feeders = vec![0; count];
        for consumer in self.consumers.iter().flatten().flatten() {
            feeders[consumer.operator as usize] += 1;
        }
        let mut ready: VecDeque<u32> = VecDeque::new();
        ready.extend((0..count as u32).filter(|&n| feeders[n as usize] == 0));
        let mut order = Vec::with_capacity(count);
        while let Some(operator) = ready.pop_front() {
            order.push(operator);
            for consumer in self.consumers[operator as usize].iter().flatten() {
                let left = &mut feeders[consumer.operator as usize];
                *left -= 1;
                if *left == 0 {
                    ready.push_back(consumer.operator);
                }
            }
        }
        let in_loops = (0..count as u32).filter(|&n| feeders[n as usize] > 0);
        order.extend(in_loops);
        order
    }

    /// The operators `first` and all that they call, directly or not.
    fn reachable(&self, first: Vec<u32>) -> Vec<u32> {
        let mut seen = vec![false; self.consumers.len()];
        let mut reached = Vec::new();
        let mut todo = first;
        while let Some(operator) = todo.pop() {
            if !std::mem::replace(&mut seen[operator as usize], true) {
                reached.push(operator);
                todo.extend(self.callees(operator));
            }
        }
        reached
    }
}

/// Clears in `left` the operators that nothing leads to, then those that only these led to, and so
/// on.
fn remove_unreached(calls: &[Vec<u32>], callers: &[Vec<u32>], left: &mut [bool]) {
    let mut feeders: Vec<usize> = callers.iter().map(Vec::len).collect();
    let mut free: Vec<usize> = (0..feeders.len())
        .filter(|&operator| feeders[operator] == 0)
        .collect();
    while let Some(operator) = free.pop() {
        left[operator] = false;
        for &called in &calls[operator] {
            feeders[called as usize] -= 1;
            if feeders[called as usize] == 0 {
                free.push(called as usize);
            }
        }
    }
}

/// Operators that are reached from one of them in at least one step.
fn reachable_from(steps: &[Vec<u32>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; steps.len()];
    let mut todo = steps[from].clone();
    while let Some(operator) = todo.pop() {
        if !std::mem::replace(&mut reached[operator as usize], true) {
            todo.extend(&steps[operator as usize]);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edges between operators, one output port each.
    fn consumers(edges: &[&[u32]]) -> Vec<Vec<Vec<ConsumerPort>>> {
        let port = |to: &&[u32]| {
            to.iter()
                .map(|&operator| ConsumerPort::new(operator, 0))
                .collect()
        };
        edges.iter().map(|to| vec![port(to)]).collect()
    }

    fn start(thread: PeThreadId, operator: u32) -> ThreadStart {
        let enters = true;
        ThreadStart {
            thread,
            operator,
            enters,
        }
    }

    #[test]
    fn what_two_sources_reach_is_entered_by_two_threads() {
        // 0 -> 2, 1 -> 2 -> 3, 1 -> 4
        let consumers = consumers(&[&[2], &[2, 4], &[3], &[], &[]]);
        let analysis = ThreadAnalysis {
            consumers: &consumers,
            own_thread: &[false; 5],
        };
        let entered = analysis.entering_threads(&[start(0, 0), start(1, 1)]);
        assert_eq!(entered, [vec![0], vec![1], vec![0, 1], vec![0, 1], vec![1]]);
        assert_eq!(analysis.loops(), [None; 5]);
        assert_eq!(analysis.topological_order(), [0, 1, 2, 4, 3]);
    }

    #[test]
    fn a_thread_of_its_own_cuts() {
        // 0 -> 1 (own thread) -> 2 -> 1
        let consumers = consumers(&[&[1], &[2], &[1]]);
        let own_thread = [false, true, false];
        let analysis = ThreadAnalysis {
            consumers: &consumers,
            own_thread: &own_thread,
        };
        let own = ThreadStart {
            enters: false,
            ..start(1, 1)
        };
        let entered = analysis.entering_threads(&[start(0, 0), own]);
        assert_eq!(entered, [vec![0], vec![0, 1], vec![1]]);
        assert_eq!(analysis.loops(), [None; 3]);
        assert_eq!(analysis.in_threaded_loops(), [false, true, false]);
    }

    #[test]
    fn loops_are_told_apart() {
        // 0 -> 1 <-> 2 -> 3 -> 3
        let consumers = consumers(&[&[1], &[2], &[1, 3], &[3]]);
        let analysis = ThreadAnalysis {
            consumers: &consumers,
            own_thread: &[false; 4],
        };
        assert_eq!(analysis.loops(), [None, Some(0), Some(0), Some(1)]);
        assert_eq!(analysis.topological_order(), [0, 1, 2, 3]);
    }
}
