//! Loops in a graph: Tarjan's search for strongly connected components, without recursion. Every
//! loop of the planner and the compiler is found here.
//!
//! ```
//! use thalweg_planner::{closing_edges, find_loops};
//! // 0 -> 1 <-> 2 -> 3: the nodes behind each node
//! let after = vec![vec![1], vec![2], vec![1, 3], vec![]];
//! assert_eq!(find_loops(after.clone()), [None, Some(0), Some(0), None]);
//! // One edge closes the loop: the one from 2 that leads back to 1.
//! assert_eq!(closing_edges(after, [0]), [1]);
//! ```
//!
//! # Cost
//! One walk over the graph.

/// An edge of a graph, seen from the node that it leaves.
pub trait GraphEdge: Copy {
    /// The number of the node that the edge leads to, from 0.
    fn to(self) -> usize;
}

impl GraphEdge for u32 {
    fn to(self) -> usize {
        self as usize
    }
}

/// The loop of each node, given the edges that leave each node; `None` for a node in no loop. A
/// node that leads to itself is a loop. Loops that share a node are one loop.
///
/// Loops are numbered from 0.
///
/// # Panics
/// If an edge leads to a node that is not there.
pub fn find_loops<E: GraphEdge>(after: Vec<Vec<E>>) -> Vec<Option<u32>> {
    let nodes = 0..after.len();
    LoopSearch::run(after, nodes).loops
}

/// The edges that lead back to a node from which a depth-first search has come to them: each loop
/// that the search reaches has at least one, and without these edges there is no loop.
///
/// The search begins at the `roots` in turn and takes the last edge of each node first.
///
/// # Panics
/// If an edge or a root leads to a node that is not there.
pub fn closing_edges<E: GraphEdge>(
    after: Vec<Vec<E>>,
    roots: impl IntoIterator<Item = usize>,
) -> Vec<E> {
    LoopSearch::run(after, roots).closing
}

/// Time of entry of a node that the search has not seen.
const UNVISITED: u32 = u32::MAX;
/// Time of entry that stands for a node whose component is complete.
const DONE: u32 = u32::MAX - 1;

struct LoopSearch<E> {
    /// Edges that the search has not taken yet, by the node that they leave.
    after: Vec<Vec<E>>,
    /// By node: the time of entry of the earliest node of an open component that can be reached.
    low: Vec<u32>,
    /// Number of nodes entered so far, which is the time of the next entry.
    entered: u32,
    /// Nodes whose component is not complete, in order of entry.
    open: Vec<usize>,
    /// By node: whether the search stands on it or has come through it.
    is_on_path: Vec<bool>,
    loops: Vec<Option<u32>>,
    loop_count: u32,
    /// Edges that lead to a node on the path.
    closing: Vec<E>,
}

/// A node on the way from the root.
struct SearchNode {
    node: usize,
    /// The node's time of entry.
    entered: u32,
    /// Whether an edge leads from the node to itself.
    has_self_edge: bool,
}

impl<E: GraphEdge> LoopSearch<E> {
    fn run(after: Vec<Vec<E>>, roots: impl IntoIterator<Item = usize>) -> LoopSearch<E> {
        let count = after.len();
        let mut search = LoopSearch {
            after,
            low: vec![UNVISITED; count],
            entered: 0,
            open: Vec::new(),
            is_on_path: vec![false; count],
            loops: vec![None; count],
            loop_count: 0,
            closing: Vec::new(),
        };
        for root in roots {
            search.search_from(root);
        }
        search
    }

    fn search_from(&mut self, root: usize) {
        let mut path = Vec::new();
        if self.low[root] == UNVISITED {
            path.push(self.enter(root));
        }
        while let Some(step) = path.last_mut() {
            let node = step.node;
            let Some(edge) = self.after[node].pop() else {
                let low = self.low[node];
                if let Some(done) = path.pop() {
                    self.leave(&done);
                }
                if let Some(before) = path.last().map(|step| step.node) {
                    self.low[before] = self.low[before].min(low);
                }
                continue;
            };
            let next = edge.to();
            if self.low[next] == UNVISITED {
                path.push(self.enter(next));
                continue;
            }
            step.has_self_edge |= next == node;
            if self.low[next] != DONE {
                self.low[node] = self.low[node].min(self.low[next]);
            }
            if self.is_on_path[next] {
                self.closing.push(edge);
            }
        }
    }

    fn enter(&mut self, node: usize) -> SearchNode {
        let entered = self.entered;
        self.entered += 1;
        self.low[node] = entered;
        self.is_on_path[node] = true;
        self.open.push(node);
        SearchNode {
            node,
            entered,
            has_self_edge: false,
        }
    }

    /// Leaves a node whose edges have all been taken: the component that it began, if any, is
    /// complete.
    fn leave(&mut self, step: &SearchNode) {
        self.is_on_path[step.node] = false;
        if self.low[step.node] != step.entered {
            return;
        }
        let begin = self.open.iter().rposition(|&node| node == step.node);
        let component = self.open.split_off(begin.unwrap_or(0));
        let is_loop = component.len() > 1 || step.has_self_edge;
        for node in component {
            self.low[node] = DONE;
            self.loops[node] = is_loop.then_some(self.loop_count);
        }
        self.loop_count += u32::from(is_loop);
    }
}

#[cfg(test)]
mod tests {
    use super::{GraphEdge, closing_edges, find_loops};

    #[test]
    fn loops_are_told_apart() {
        // 0 -> 1 <-> 2 -> 3 -> 3 -> 4
        let after: Vec<Vec<u32>> = vec![vec![1], vec![2], vec![1, 3], vec![3, 4], vec![]];
        assert_eq!(find_loops(after), [None, Some(1), Some(1), Some(0), None]);
    }

    #[test]
    fn a_way_into_a_finished_part_is_no_loop() {
        // 0 -> 1 -> 2, 3 -> 1, 3 -> 0
        let after: Vec<Vec<u32>> = vec![vec![1], vec![2], vec![], vec![1, 0]];
        assert_eq!(find_loops(after), [None; 4]);
    }

    #[test]
    fn loops_that_touch_are_one() {
        // 0 <-> 1 <-> 2
        let after: Vec<Vec<u32>> = vec![vec![1], vec![0, 2], vec![1]];
        assert_eq!(find_loops(after), [Some(0); 3]);
    }

    #[test]
    fn a_chain_as_long_as_a_program_may_be_needs_no_stack() {
        let count = 1_u32 << 18;
        let after = (0..count).map(|node| vec![(node + 1) % count]).collect();
        assert!(find_loops(after).iter().all(|found| *found == Some(0)));
    }

    impl GraphEdge for (usize, usize) {
        fn to(self) -> usize {
            self.1
        }
    }

    fn closing_of(nodes: usize, edges: &[(usize, usize)], roots: &[usize]) -> Vec<(usize, usize)> {
        let mut after = vec![Vec::new(); nodes];
        for edge in edges.iter().rev() {
            after[edge.0].push(*edge);
        }
        closing_edges(after, roots.iter().copied())
    }

    #[test]
    fn every_loop_is_closed_where_the_search_comes_back() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 0), (3, 3)];
        assert_eq!(closing_of(4, &edges, &[0]), [(2, 1), (3, 0), (3, 3)]);
        // The way from 1 to 2 is in two loops, and closes both.
        assert_eq!(closing_of(4, &edges, &[2, 0]), [(1, 2), (3, 3)]);
    }

    #[test]
    fn streams_that_part_and_meet_again_are_no_loop() {
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
        assert!(closing_of(4, &edges, &[0, 3]).is_empty());
    }
}
