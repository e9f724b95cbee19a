//! Loops in a graph: Tarjan's search for strongly connected components, without recursion.
//!
//! # Cost
//! One walk over the graph.

/// The loop of each node, given the nodes behind it. A node that is behind itself is a loop too.
pub(super) fn find_loops(after: Vec<Vec<u32>>) -> Vec<Option<u32>> {
    let count = after.len();
    let mut search = LoopSearch {
        after,
        low: vec![UNVISITED; count],
        entered: 0,
        open: Vec::new(),
        loops: vec![None; count],
        count: 0,
    };
    for root in 0..count as u32 {
        search.search_from(root);
    }
    search.loops
}

/// Not yet seen.
const UNVISITED: u32 = u32::MAX;
/// Its component is complete.
const DONE: u32 = u32::MAX - 1;

struct LoopSearch {
    /// What is still to be looked at behind each node.
    after: Vec<Vec<u32>>,
    /// When the earliest node was entered that can be reached and is not done.
    low: Vec<u32>,
    entered: u32,
    /// Nodes whose component is not complete, in order of entry.
    open: Vec<u32>,
    loops: Vec<Option<u32>>,
    count: u32,
}

/// A node on the way from the root.
struct SearchNode {
    node: u32,
    /// When it was entered.
    entered: u32,
    /// It is behind itself.
    has_self_edge: bool,
}

impl LoopSearch {
    fn search_from(&mut self, root: u32) {
        let mut path = Vec::new();
        if self.low[root as usize] == UNVISITED {
            path.push(self.enter(root));
        }
        while let Some(step) = path.last_mut() {
            let node = step.node as usize;
            match self.after[node].pop() {
                Some(next) if self.low[next as usize] == UNVISITED => path.push(self.enter(next)),
                Some(next) => {
                    step.has_self_edge |= next == step.node;
                    let next = self.low[next as usize];
                    if next != DONE {
                        self.low[node] = self.low[node].min(next);
                    }
                }
                None => {
                    let low = self.low[node];
                    if let Some(done) = path.pop() {
                        self.leave(&done);
                    }
                    if let Some(before) = path.last().map(|step| step.node as usize) {
                        self.low[before] = self.low[before].min(low);
                    }
                }
            }
        }
    }

    fn enter(&mut self, node: u32) -> SearchNode {
        let entered = self.entered;
        self.entered += 1;
        self.low[node as usize] = entered;
        self.open.push(node);
        SearchNode {
            node,
            entered,
            has_self_edge: false,
        }
    }

    /// Everything behind a node was seen: the component that it began, if any, is complete.
    fn leave(&mut self, step: &SearchNode) {
        if self.low[step.node as usize] != step.entered {
            return;
        }
        let begin = self.open.iter().rposition(|&node| node == step.node);
        let component = self.open.split_off(begin.unwrap_or(0));
        let is_loop = component.len() > 1 || step.has_self_edge;
        for node in component {
            self.low[node as usize] = DONE;
            self.loops[node as usize] = is_loop.then_some(self.count);
        }
        self.count += u32::from(is_loop);
    }
}

#[cfg(test)]
mod tests {
    use super::find_loops;

    #[test]
    fn loops_are_told_apart() {
        // 0 -> 1 <-> 2 -> 3 -> 3 -> 4
        let after = vec![vec![1], vec![2], vec![1, 3], vec![3, 4], vec![]];
        assert_eq!(find_loops(after), [None, Some(1), Some(1), Some(0), None]);
    }

    #[test]
    fn a_way_into_a_finished_part_is_no_loop() {
        // 0 -> 1 -> 2, 3 -> 1, 3 -> 0
        let after = vec![vec![1], vec![2], vec![], vec![1, 0]];
        assert_eq!(find_loops(after), [None; 4]);
    }

    #[test]
    fn loops_that_touch_are_one() {
        // 0 <-> 1 <-> 2
        let after = vec![vec![1], vec![0, 2], vec![1]];
        assert_eq!(find_loops(after), [Some(0); 3]);
    }

    #[test]
    fn a_chain_as_long_as_a_program_may_be_needs_no_stack() {
        let count = 1 << 18;
        let after = (0..count).map(|node| vec![(node + 1) % count]).collect();
        assert!(find_loops(after).iter().all(|found| *found == Some(0)));
    }
}
