//! The column and row of each node in a drawing.
//!
//! A layered layout in three steps. Edges that close a loop are set aside (depth-first search). A
//! node's column is one behind the last node that feeds it (longest path). The order within a
//! column is improved by sweeps that sort nodes by the mean row of their neighbours.
//!
//! # Cost
//! Linear in nodes and in the columns that edges pass, but for the sorting of columns.

/// Number of sweeps over the columns; further sweeps change little.
const SWEEPS: usize = 8;

/// Position in the grid: column and row, from 0.
pub(super) type GridCell = (u32, u32);

/// Grid positions of the nodes and of the edges between them.
#[derive(Clone, Debug, Default)]
pub(super) struct LayeredLayout {
    /// The cell of each node.
    pub node_cells: Vec<GridCell>,
    /// The cells that each edge passes on its way, in order. An edge into the next column passes
    /// none, nor does one that leads back.
    pub edge_cells: Vec<Vec<GridCell>>,
    /// How many cells each column has.
    pub column_heights: Vec<usize>,
}

/// Lays out `count` nodes joined by `edges`. An edge over several columns gets a cell in each
/// column between, so that it passes beside the nodes there. The nodes from `last` on, which
/// nothing follows, share the last column.
pub(super) fn layered_layout(count: usize, last: usize, edges: &[(u32, u32)]) -> LayeredLayout {
    let after = adjacency(count, edges.iter().copied());
    let forward = forward_edges(&after);
    let after = adjacency(count, forward.iter().copied());
    let before = adjacency(count, forward.iter().map(|&(a, b)| (b, a)));
    let mut depth = longest_paths(&after, &before);
    if last < count {
        let behind = depth[..last].iter().max().map_or(0, |&column| column + 1);
        depth[last..].fill(behind);
    }
    let chains = chains(edges, &mut depth);
    let chain_edges = || {
        chains
            .iter()
            .flat_map(|chain| chain.windows(2).map(|pair| (pair[0], pair[1])))
    };
    let after = adjacency(depth.len(), chain_edges());
    let before = adjacency(depth.len(), chain_edges().map(|(a, b)| (b, a)));
    let mut columns = vec![Vec::new(); depth.iter().max().map_or(0, |&d| d as usize + 1)];
    for (node, &column) in depth.iter().enumerate() {
        columns[column as usize].push(node as u32);
    }
    let mut row = initial_rows(depth.len(), &columns);
    for sweep in 0..SWEEPS {
        let neighbours = if sweep % 2 == 0 { &before } else { &after };
        sort_columns(&mut columns, neighbours, &mut row);
    }
    let cell = |node: &u32| (depth[*node as usize], row[*node as usize]);
    let between = |chain: &Vec<u32>| {
        let inner = chain.get(1..chain.len().saturating_sub(1));
        inner.unwrap_or_default().iter().map(cell).collect()
    };
    LayeredLayout {
        node_cells: (0..count as u32).map(|node| cell(&node)).collect(),
        edge_cells: chains.iter().map(between).collect(),
        column_heights: columns.iter().map(Vec::len).collect(),
    }
}

/// Each edge as the nodes on its way; new nodes, with their columns, stand for the cells between.
/// Empty for an edge that leads back.
fn chains(edges: &[(u32, u32)], depth: &mut Vec<u32>) -> Vec<Vec<u32>> {
    let mut chains = Vec::with_capacity(edges.len());
    for &(from, to) in edges {
        let (first, last) = (depth[from as usize], depth[to as usize]);
        let mut chain = Vec::new();
        if first < last {
            chain.push(from);
            for column in first + 1..last {
                chain.push(depth.len() as u32);
                depth.push(column);
            }
            chain.push(to);
        }
        chains.push(chain);
    }
    chains
}

fn adjacency(count: usize, edges: impl Iterator<Item = (u32, u32)>) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); count];
    for (from, to) in edges {
        if from != to {
            lists[from as usize].push(to);
        }
    }
    lists
}

/// The edges without those that lead back to a node whose search is still open.
fn forward_edges(after: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    let mut state = vec![0u8; after.len()]; // 0 new, 1 open, 2 done
    for root in 0..after.len() as u32 {
        let mut open = vec![(root, 0usize)];
        while let Some((node, next)) = open.pop() {
            if next == 0 && std::mem::replace(&mut state[node as usize], 1) != 0 {
                state[node as usize] = 2;
                continue;
            }
            let Some(&to) = after[node as usize].get(next) else {
                state[node as usize] = 2;
                continue;
            };
            open.push((node, next + 1));
            if state[to as usize] != 1 {
                edges.push((node, to));
            }
            if state[to as usize] == 0 {
                open.push((to, 0));
            }
        }
    }
    edges
}

/// The length of the longest path that ends at each node.
fn longest_paths(after: &[Vec<u32>], before: &[Vec<u32>]) -> Vec<u32> {
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut depth = vec![0; after.len()];
    let mut ready: Vec<u32> = (0..after.len() as u32).collect();
    ready.retain(|&o| missing[o as usize] == 0);
    while let Some(node) = ready.pop() {
        for &to in &after[node as usize] {
            depth[to as usize] = depth[to as usize].max(depth[node as usize] + 1);
            missing[to as usize] -= 1;
            if missing[to as usize] == 0 {
                ready.push(to);
            }
        }
    }
    depth
}

fn initial_rows(count: usize, columns: &[Vec<u32>]) -> Vec<u32> {
    let mut row = vec![0; count];
    for column in columns {
        for (at, &operator) in column.iter().enumerate() {
            row[operator as usize] = at as u32;
        }
    }
    row
}

fn sort_columns(columns: &mut [Vec<u32>], neighbours: &[Vec<u32>], row: &mut [u32]) {
    for column in columns {
        let mean = |&operator: &u32| {
            let near = &neighbours[operator as usize];
            let sum: f64 = near.iter().map(|&n| f64::from(row[n as usize])).sum();
            if near.is_empty() {
                f64::from(row[operator as usize])
            } else {
                sum / near.len() as f64
            }
        };
        let mut keyed: Vec<_> = column.iter().map(|o| (mean(o), *o)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, (_, operator)) in keyed.into_iter().enumerate() {
            column[at] = operator;
            row[operator as usize] = at as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::layered_layout;

    #[test]
    fn a_column_is_one_behind_the_last_that_feeds_it() {
        let found = layered_layout(4, 4, &[(0, 1), (1, 2), (0, 3), (2, 3)]);
        let columns: Vec<u32> = found.node_cells.iter().map(|p| p.0).collect();
        assert_eq!(columns, [0, 1, 2, 3]);
    }

    #[test]
    fn a_loop_ends_and_keeps_its_order() {
        let found = layered_layout(3, 3, &[(0, 1), (1, 2), (2, 1), (2, 2)]);
        let columns: Vec<u32> = found.node_cells.iter().map(|p| p.0).collect();
        assert_eq!(columns, [0, 1, 2]);
    }

    #[test]
    fn a_long_edge_passes_beside_what_is_between() {
        let found = layered_layout(3, 3, &[(0, 1), (1, 2), (0, 2)]);
        assert_eq!(found.edge_cells[..2], [vec![], vec![]]);
        let [(column, row)] = found.edge_cells[2][..] else {
            panic!("it passes one column");
        };
        assert_eq!(column, 1);
        assert_ne!((column, row), found.node_cells[1]);
        assert_eq!(found.column_heights, [1, 2, 1]);
    }

    #[test]
    fn crossed_edges_are_uncrossed() {
        let found = layered_layout(4, 4, &[(0, 3), (1, 2)]);
        let rows: Vec<u32> = found.node_cells.iter().map(|p| p.1).collect();
        assert_eq!(rows, [0, 1, 1, 0]);
    }

    #[test]
    fn the_last_nodes_share_a_column() {
        let found = layered_layout(5, 3, &[(0, 1), (1, 2), (0, 3), (2, 4)]);
        let columns: Vec<u32> = found.node_cells.iter().map(|p| p.0).collect();
        assert_eq!(columns, [0, 1, 2, 3, 3]);
        assert_eq!(found.edge_cells[2].len(), 2);
    }
}
