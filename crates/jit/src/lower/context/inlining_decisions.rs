//! Which user functions are lowered where they are called, and whose calls are counted.
//!
//! A call that is lowered in place costs nothing but code, and that code may hold calls again: so
//! what counts is the size of a function with all that is lowered into it. Calls that may nest
//! without end are counted, so that they fault as the interpreter's do and leave the stack whole.

use graph::{Function, FunctionId};

use super::body_usage::BodyUsage;
use super::local_storage::{StorageKind, storage_kind};
use crate::code::MAX_CALL_DEPTH;

/// The largest body that is inlined, in nodes of its own.
const FUNCTION_NODES_MAX: u32 = 80;

/// The largest body that is inlined, in nodes with those of the functions inlined into it.
const INLINED_NODES_MAX: u32 = 4 * FUNCTION_NODES_MAX;

/// Longer chains of functions that call one the next are counted although none calls itself.
const UNCOUNTED_DEPTH_MAX: u32 = MAX_CALL_DEPTH / 10;

/// Decisions on the calls of each user function.
#[derive(Clone, Debug, Default)]
pub struct InliningDecisions {
    /// Whether calls of the function are inlined, by function.
    pub is_inlined: Vec<bool>,
    /// Whether the nesting of the function's calls is counted, by function.
    pub is_counted: Vec<bool>,
}

impl InliningDecisions {
    /// Decides on all user functions of a program.
    pub fn decide(functions: &[Function]) -> InliningDecisions {
        let uses: Vec<BodyUsage> = functions
            .iter()
            .map(|f| BodyUsage::from_body(&f.body))
            .collect();
        let graph = CallGraph::from_usages(&uses);
        let order = acyclic_order(&graph.callees, &graph.callers);
        let is_counted = graph.needs_depth_count(&order);
        let mut is_inlined = vec![false; functions.len()];
        let mut whole = vec![0_u32; functions.len()];
        for f in order {
            let inlined = graph.callees[f]
                .iter()
                .filter(|&&callee| is_inlined[callee]);
            let within = inlined.fold(0_u32, |sum, &callee| sum.saturating_add(whole[callee]));
            whole[f] = uses[f].nodes.saturating_add(within);
            is_inlined[f] = !is_counted[f]
                && uses[f].nodes <= FUNCTION_NODES_MAX
                && whole[f] <= INLINED_NODES_MAX
                && is_simple(&functions[f], &uses[f]);
        }
        InliningDecisions {
            is_inlined,
            is_counted,
        }
    }
}

/// Whether a function takes nothing by reference and keeps nothing in memory.
fn is_simple(function: &Function, uses: &BodyUsage) -> bool {
    let mut locals = function.body.locals.iter().zip(&uses.locals);
    locals.all(|(local, used)| {
        !local.by_reference && storage_kind(&local.ty, used) != StorageKind::Memory
    })
}

/// Calls between user functions, each an edge.
struct CallGraph {
    callees: Vec<Vec<usize>>,
    callers: Vec<Vec<usize>>,
}

impl CallGraph {
    fn from_usages(uses: &[BodyUsage]) -> CallGraph {
        let of_one =
            |uses: &BodyUsage| uses.calls.iter().map(|&FunctionId(f)| f as usize).collect();
        let callees: Vec<Vec<usize>> = uses.iter().map(of_one).collect();
        let mut callers = vec![Vec::new(); uses.len()];
        for (caller, callees) in callees.iter().enumerate() {
            callees
                .iter()
                .for_each(|&callee| callers[callee].push(caller));
        }
        CallGraph { callees, callers }
    }

    /// Whether a function reaches a function that calls itself, or is reached from one, by
    /// function. `order` has the functions that do not reach one, callees before their callers.
    fn needs_depth_count(&self, order: &[usize]) -> Vec<bool> {
        if self.depth(order) > UNCOUNTED_DEPTH_MAX {
            return vec![true; self.callees.len()];
        }
        let mut is_counted = vec![true; self.callees.len()];
        order.iter().for_each(|&f| is_counted[f] = false);
        let mut is_led_to = vec![true; self.callees.len()];
        let roots = acyclic_order(&self.callers, &self.callees);
        roots.iter().for_each(|&f| is_led_to[f] = false);
        let in_cycles = |&f: &usize| is_counted[f] && is_led_to[f];
        let mut todo: Vec<usize> = (0..is_counted.len()).filter(in_cycles).collect();
        while let Some(f) = todo.pop() {
            for &callee in &self.callees[f] {
                if !std::mem::replace(&mut is_counted[callee], true) {
                    todo.push(callee);
                }
            }
        }
        is_counted
    }

    /// How many calls nest at most within functions in `order`, callees before their callers.
    fn depth(&self, order: &[usize]) -> u32 {
        let mut depth = vec![0_u32; self.callees.len()];
        for &f in order {
            let callees = self.callees[f].iter().map(|&callee| depth[callee]);
            depth[f] = 1 + callees.max().unwrap_or(0);
        }
        depth.into_iter().max().unwrap_or(0)
    }
}

/// The nodes from which no edge leads to a cycle, each behind those that its edges lead to. `into`
/// has the edges of `out` the other way round.
fn acyclic_order(out: &[Vec<usize>], into: &[Vec<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = out.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..out.len()).filter(|&node| left[node] == 0).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for &before in &into[node] {
            left[before] -= 1;
            if left[before] == 0 {
                order.push(before);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls between functions by number.
    fn calls(callees: &[&[usize]]) -> CallGraph {
        let callees: Vec<Vec<usize>> = callees.iter().map(|each| each.to_vec()).collect();
        let mut callers = vec![Vec::new(); callees.len()];
        for (caller, callees) in callees.iter().enumerate() {
            callees
                .iter()
                .for_each(|&callee| callers[callee].push(caller));
        }
        CallGraph { callees, callers }
    }

    fn counted_functions(calls: &CallGraph) -> Vec<bool> {
        calls.needs_depth_count(&acyclic_order(&calls.callees, &calls.callers))
    }

    #[test]
    fn what_leads_to_a_cycle_or_comes_from_one_is_counted() {
        // 0 -> 1 <-> 2 -> 3 <- 5, 0 -> 6, 4 -> 4
        let calls = calls(&[&[1, 6], &[2], &[1, 3], &[], &[4], &[3], &[]]);
        let all = [true, true, true, true, true, false, false];
        assert_eq!(counted_functions(&calls), all);
    }

    #[test]
    fn callees_come_before_their_callers() {
        let calls = calls(&[&[1, 1, 2], &[2], &[]]);
        assert_eq!(acyclic_order(&calls.callees, &calls.callers), [2, 1, 0]);
        assert_eq!(counted_functions(&calls), [false; 3]);
    }

    #[test]
    fn a_long_chain_is_counted() {
        let length = UNCOUNTED_DEPTH_MAX as usize + 1;
        let chain: Vec<Vec<usize>> = (1..=length).map(|next| vec![next]).collect();
        let mut chain: Vec<&[usize]> = chain.iter().map(Vec::as_slice).collect();
        chain[length - 1] = &[];
        assert_eq!(counted_functions(&calls(&chain)), vec![true; length]);
        chain[length / 2] = &[];
        assert_eq!(counted_functions(&calls(&chain)), vec![false; length]);
    }
}
