//! Depth-first search for the edges that close the loops of a graph. Without them the graph has no
//! loop.

/// An edge, seen from the node that it comes from.
pub(super) trait DfsEdge: Copy {
    /// The number of the node that it leads to.
    fn to(self) -> usize;
}

/// A node in a depth-first search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DfsState {
    New,
    /// The search is below this node: an edge to it closes a loop.
    Open,
    Done,
}

/// The edges that lead back to where a depth-first search comes from: each loop has one at least.
/// It begins at these nodes in turn; `after` are the edges from each node, the last one first.
pub(super) fn back_edges<E: DfsEdge>(
    mut after: Vec<Vec<E>>,
    roots: impl IntoIterator<Item = usize>,
) -> Vec<E> {
    let mut state = vec![DfsState::New; after.len()];
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for root in roots {
        if state[root] == DfsState::New {
            state[root] = DfsState::Open;
            open.push(root);
        }
        while let Some(&node) = open.last() {
            let Some(edge) = after[node].pop() else {
                state[node] = DfsState::Done;
                open.pop();
                continue;
            };
            let to = edge.to();
            match state[to] {
                DfsState::New => {
                    state[to] = DfsState::Open;
                    open.push(to);
                }
                DfsState::Open => found.push(edge),
                DfsState::Done => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    impl DfsEdge for (usize, usize) {
        fn to(self) -> usize {
            self.1
        }
    }

    fn closing_of(nodes: usize, edges: &[(usize, usize)], roots: &[usize]) -> Vec<(usize, usize)> {
        let mut after = vec![Vec::new(); nodes];
        for edge in edges.iter().rev() {
            after[edge.0].push(*edge);
        }
        back_edges(after, roots.iter().copied())
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
