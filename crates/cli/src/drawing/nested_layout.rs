//! Corners and sizes of boxes in boxes, and the ways of the arrows between them.
//!
//! Each container is laid out alone, the innermost first: its children are the nodes of a layered
//! layout, and columns are as wide as their widest child. An arrow that leaves a container passes
//! beside the children there to the right border, and comes in from the left border.
//!
//! ```text
//!   +- container ----------------+   +- container -------+
//!   |  +---+         +---+       |   |          +---+    |
//!   |  | a |-------->| b |-------|---|--------->| c |    |
//!   |  +---+---------+---+-------|---|----.     +---+    |
//!   +----------------------------+   +----|--------------+
//! ```
//! # Invariants
//! Children of a container lie within it, below its head and above its foot, and no two of them
//! overlap.

use std::collections::HashMap;

use super::layered_layout::{GridCell, layered_layout};

/// Pixels between the border of a container and its children.
const PADDING: u32 = 12;

/// Pixels between two columns with boxes: room for arrows that spread.
const COLUMN_GAP: u32 = 56;

/// Pixels between a column with boxes and the border, where arrows come in or leave.
const BORDER_GAP: u32 = 28;

/// Pixels between two cells of a column.
const CELL_GAP: u32 = 16;

/// Pixels of height that a passing arrow takes in a column.
const PASS_HEIGHT: u32 = 4;

/// A box to be laid out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LayoutBox {
    /// Index of the container, which is less than that of the box; `None` for the drawing itself.
    pub parent: Option<usize>,
    /// Pixels that the box is wide at least; a box without children is just so wide.
    pub width: u32,
    /// Pixels that a box without children is high.
    pub height: u32,
    /// Pixels above the children of a container, for its title.
    pub head: u32,
    /// Pixels below the children of a container, for its notes.
    pub foot: u32,
}

/// A rectangle in pixels; the upper left corner is the least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BoxBounds {
    /// Left end of the rectangle.
    pub x: u32,
    /// Upper end of the rectangle.
    pub y: u32,
    /// Width of the rectangle.
    pub width: u32,
    /// Height of the rectangle.
    pub height: u32,
}

/// A level part of an arrow's way, from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelPass {
    /// Left end of the part.
    pub from_x: u32,
    /// Right end of the part.
    pub to_x: u32,
    /// Height at which the arrow passes.
    pub y: u32,
}

/// The bounds of all boxes and the ways of all arrows.
#[derive(Clone, Debug, Default)]
pub(super) struct NestedLayout {
    /// Bounds of the boxes by index.
    pub bounds: Vec<BoxBounds>,
    /// The level parts of each arrow, in order; none for an arrow that leads back.
    pub passes: Vec<Vec<LevelPass>>,
    /// Whether each arrow leads back, against the order of the columns.
    pub leads_back: Vec<bool>,
    /// Width and height of all boxes together.
    pub size: (u32, u32),
}

/// Lays out boxes and the arrows between those without children.
pub(super) fn nested_layout(boxes: &[LayoutBox], arrows: &[(usize, usize)]) -> NestedLayout {
    let ways: Vec<ArrowWay> = arrows
        .iter()
        .map(|&(from, to)| ArrowWay::new(boxes, from, to))
        .collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); boxes.len() + 1];
    // The drawing itself is the container behind all others.
    let root = boxes.len();
    for (at, one) in boxes.iter().enumerate() {
        children[one.parent.unwrap_or(root)].push(at);
    }
    let mut sizes: Vec<(u32, u32)> = boxes.iter().map(|one| (one.width, one.height)).collect();
    let mut contents: Vec<ContainerContent> = vec![ContainerContent::default(); root + 1];
    for at in (0..root).rev().chain([root]) {
        if children[at].is_empty() {
            continue;
        }
        let content = ContainerContent::new(&children[at], at, &ways, &sizes);
        if let Some(one) = boxes.get(at) {
            let width = content.size.0.max(one.width) + 2 * PADDING;
            sizes[at] = (width, one.head + content.size.1 + one.foot + 2 * PADDING);
        }
        contents[at] = content;
    }
    let mut layout = NestedLayout {
        bounds: vec![BoxBounds::default(); root],
        size: contents[root].size,
        ..NestedLayout::default()
    };
    for (at, one) in boxes.iter().enumerate() {
        let (left, top) = origin(&layout.bounds, boxes, one.parent);
        let (x, y) = contents[one.parent.unwrap_or(root)].corners[&at];
        let (width, height) = sizes[at];
        layout.bounds[at] = BoxBounds {
            x: left + x,
            y: top + y,
            width,
            height,
        };
    }
    for way in &ways {
        let passes = way.passes(boxes, &layout.bounds, &contents);
        let shared = &contents[way.shared.unwrap_or(root)];
        let leads_back = way.from == way.to || !shared.forward.contains_key(&(way.from, way.to));
        layout.leads_back.push(leads_back);
        layout
            .passes
            .push(if leads_back { Vec::new() } else { passes });
    }
    layout
}

/// Upper left corner of the area for children.
fn origin(bounds: &[BoxBounds], boxes: &[LayoutBox], container: Option<usize>) -> (u32, u32) {
    container.map_or((0, 0), |at| {
        let BoxBounds { x, y, .. } = bounds[at];
        (x + PADDING, y + boxes[at].head + PADDING)
    })
}

/// The containers that an arrow passes.
struct ArrowWay {
    /// Boxes that the arrow leaves, the innermost first, without the last one.
    leaves: Vec<usize>,
    /// The children of the shared container that the arrow joins.
    from: usize,
    to: usize,
    /// Innermost container of both ends.
    shared: Option<usize>,
    /// Boxes that the arrow enters behind the first one, the outermost first.
    enters: Vec<usize>,
}

impl ArrowWay {
    fn new(boxes: &[LayoutBox], from: usize, to: usize) -> ArrowWay {
        let ancestors =
            |at: usize| std::iter::successors(Some(at), |&at| boxes[at].parent).collect::<Vec<_>>();
        let (mut leaves, mut enters) = (ancestors(from), ancestors(to));
        let mut shared = None;
        while leaves.len() > 1 && enters.len() > 1 && leaves.last() == enters.last() {
            shared = leaves.pop();
            enters.pop();
        }
        let ends = (leaves.pop(), enters.pop());
        enters.reverse();
        ArrowWay {
            leaves,
            from: ends.0.unwrap_or(from),
            to: ends.1.unwrap_or(to),
            shared,
            enters,
        }
    }

    /// The level parts of the arrow's way, in order.
    fn passes(
        &self,
        boxes: &[LayoutBox],
        bounds: &[BoxBounds],
        contents: &[ContainerContent],
    ) -> Vec<LevelPass> {
        let mut passes = Vec::new();
        let mut add = |container: Option<usize>, inner: &[LevelPass]| {
            let (left, top) = origin(bounds, boxes, container);
            passes.extend(inner.iter().map(|pass| LevelPass {
                from_x: left + pass.from_x,
                to_x: left + pass.to_x,
                y: top + pass.y,
            }));
        };
        let to_border = |container: Option<usize>| match container {
            Some(at) => bounds[at].width - 2 * PADDING,
            None => 0,
        };
        for at in &self.leaves {
            let container = boxes[*at].parent;
            let mut inner = contents[container.unwrap_or(boxes.len())].leaving[at].clone();
            if let Some(last) = inner.last_mut() {
                last.to_x = to_border(container).max(last.from_x);
            }
            add(container, &inner);
        }
        let shared = &contents[self.shared.unwrap_or(boxes.len())];
        if let Some(inner) = shared.forward.get(&(self.from, self.to)) {
            add(self.shared, inner);
        }
        for at in &self.enters {
            let container = boxes[*at].parent;
            add(
                container,
                &contents[container.unwrap_or(boxes.len())].entering[at],
            );
        }
        passes
    }
}

/// The inside of a container, from the corner of the area for children.
#[derive(Clone, Debug, Default)]
struct ContainerContent {
    size: (u32, u32),
    corners: HashMap<usize, (u32, u32)>,
    /// Ways between two children, but for those that lead back.
    forward: HashMap<(usize, usize), Vec<LevelPass>>,
    /// Ways from a child to the right border.
    leaving: HashMap<usize, Vec<LevelPass>>,
    /// Ways from the left border to a child.
    entering: HashMap<usize, Vec<LevelPass>>,
}

impl ContainerContent {
    fn new(
        children: &[usize],
        container: usize,
        ways: &[ArrowWay],
        sizes: &[(u32, u32)],
    ) -> ContainerContent {
        let nodes = ContainerNodes::new(children, container, ways, sizes.len());
        let count = nodes.children.len() + nodes.entering.len() + nodes.leaving.len();
        let last = count - nodes.leaving.len();
        let layout = layered_layout(count, last, &nodes.edges);
        let size_of = |node: usize| nodes.children.get(node).map(|&child| sizes[child]);
        let mut columns: Vec<Vec<(u32, Option<usize>)>> = layout
            .column_heights
            .iter()
            .map(|&height| vec![(PASS_HEIGHT, None); height])
            .collect();
        for (node, &(column, row)) in layout.node_cells.iter().enumerate() {
            let height = size_of(node).map_or(PASS_HEIGHT, |(_, height)| height);
            columns[column as usize][row as usize] = (height, Some(node));
        }
        let grid = CellGrid::new(&columns, size_of);
        let mut content = ContainerContent {
            size: grid.size,
            ..ContainerContent::default()
        };
        for (node, &child) in nodes.children.iter().enumerate() {
            content
                .corners
                .insert(child, grid.corner(layout.node_cells[node]));
        }
        for (&(from, to), cells) in nodes.edges.iter().zip(&layout.edge_cells) {
            let ends = (from as usize, to as usize);
            let is_forward = layout.node_cells[ends.0].0 < layout.node_cells[ends.1].0;
            let mut passes: Vec<LevelPass> = cells.iter().map(|&cell| grid.pass(cell)).collect();
            let border = |node: usize| grid.pass(layout.node_cells[node]);
            if ends.1 >= last {
                passes.push(border(ends.1));
                let child = nodes.leaving[ends.1 - last];
                content.leaving.insert(child, passes);
            } else if let Some(entry) = ends.0.checked_sub(nodes.children.len()) {
                passes.insert(0, border(ends.0));
                content.entering.insert(nodes.entering[entry], passes);
            } else if is_forward {
                let pair = (nodes.children[ends.0], nodes.children[ends.1]);
                content.forward.insert(pair, passes);
            }
        }
        content
    }
}

/// The nodes of a container's layered layout: children, then arrows that come in, then those that
/// leave.
struct ContainerNodes {
    children: Vec<usize>,
    /// Children that arrows from outside lead to.
    entering: Vec<usize>,
    /// Children from which arrows lead outside.
    leaving: Vec<usize>,
    edges: Vec<(u32, u32)>,
}

impl ContainerNodes {
    /// The nodes of a container; that of index `root` is the drawing itself.
    fn new(children: &[usize], container: usize, ways: &[ArrowWay], root: usize) -> ContainerNodes {
        let mut pairs = Vec::new();
        let mut entering = Vec::new();
        let mut leaving = Vec::new();
        let number: HashMap<usize, u32> = children.iter().copied().zip(0..).collect();
        for way in ways {
            if way.shared.unwrap_or(root) == container {
                pairs.push((number[&way.from], number[&way.to]));
            }
            let is_child = |at: &&usize| number.contains_key(at);
            leaving.extend(way.leaves.iter().find(is_child));
            entering.extend(way.enters.iter().find(is_child));
        }
        let mut edges = distinct(pairs);
        let (entering, leaving) = (distinct(entering), distinct(leaving));
        let first = children.len() as u32;
        let numbered = entering.iter().zip(first..);
        edges.extend(numbered.map(|(at, node)| (node, number[at])));
        let numbered = leaving.iter().zip(first + entering.len() as u32..);
        edges.extend(numbered.map(|(at, node)| (number[at], node)));
        ContainerNodes {
            children: children.to_vec(),
            entering,
            leaving,
            edges,
        }
    }
}

/// The first of each value of a list, in order.
fn distinct<T: Copy + Eq + std::hash::Hash>(mut all: Vec<T>) -> Vec<T> {
    let mut known = std::collections::HashSet::new();
    all.retain(|one| known.insert(*one));
    all
}

/// Columns of cells in pixels. Each column stands in the middle of the height.
struct CellGrid {
    size: (u32, u32),
    /// Left end and width of each column.
    columns: Vec<(u32, u32)>,
    /// Upper end and height of each cell, by column.
    cells: Vec<Vec<(u32, u32)>>,
}

impl CellGrid {
    /// The grid of columns, each with the heights of its cells and the nodes in them.
    fn new(
        columns: &[Vec<(u32, Option<usize>)>],
        size_of: impl Fn(usize) -> Option<(u32, u32)>,
    ) -> CellGrid {
        let stacked = |column: &Vec<(u32, Option<usize>)>| {
            let heights: u32 = column.iter().map(|(height, _)| height + CELL_GAP).sum();
            heights.saturating_sub(CELL_GAP)
        };
        let height = columns.iter().map(stacked).max().unwrap_or_default();
        let mut grid = CellGrid {
            size: (0, height),
            columns: Vec::new(),
            cells: Vec::new(),
        };
        let mut left = 0;
        let mut before = None;
        for column in columns {
            let nodes = column.iter().filter_map(|(_, node)| *node);
            let widths = nodes.filter_map(&size_of).map(|(width, _)| width);
            let width = widths.max().unwrap_or_default();
            left += match before {
                None => 0,
                Some(0) => BORDER_GAP,
                Some(_) if width == 0 => BORDER_GAP,
                Some(_) => COLUMN_GAP,
            };
            before = Some(width);
            grid.columns.push((left, width));
            left += width;
            let mut top = (height - stacked(column)) / 2;
            let cells = column.iter().map(|&(height, _)| {
                let cell = (top, height);
                top += height + CELL_GAP;
                cell
            });
            grid.cells.push(cells.collect());
        }
        grid.size.0 = left;
        grid
    }

    fn corner(&self, (column, row): GridCell) -> (u32, u32) {
        (
            self.columns[column as usize].0,
            self.cells[column as usize][row as usize].0,
        )
    }

    /// The way of an arrow through the middle of a cell.
    fn pass(&self, (column, row): GridCell) -> LevelPass {
        let (left, width) = self.columns[column as usize];
        let (top, height) = self.cells[column as usize][row as usize];
        LevelPass {
            from_x: left,
            to_x: left + width,
            y: top + height / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LayoutBox, nested_layout};

    fn leaf(parent: Option<usize>) -> LayoutBox {
        LayoutBox {
            parent,
            width: 50,
            height: 20,
            ..LayoutBox::default()
        }
    }

    #[test]
    fn an_arrow_between_containers_passes_the_borders_of_both() {
        // Two containers of two boxes each; the first box of one feeds the last of the other.
        let boxes = [
            leaf(None),
            leaf(None),
            leaf(Some(0)),
            leaf(Some(0)),
            leaf(Some(1)),
            leaf(Some(1)),
        ];
        let layout = nested_layout(&boxes, &[(2, 3), (4, 5), (2, 5), (5, 2)]);
        assert_eq!(layout.leads_back, [false, false, false, true]);
        let [one, other] = [layout.bounds[0], layout.bounds[1]];
        assert!(one.x + one.width < other.x, "{layout:?}");
        let passes = &layout.passes[2];
        // Beside the second box of each container, and to or from a border.
        assert!(passes.len() >= 3, "{passes:?}");
        let rises = passes.windows(2).all(|two| two[0].to_x <= two[1].from_x);
        assert!(rises, "{passes:?}");
        assert!(passes[0].from_x > layout.bounds[2].x);
        assert!(passes[passes.len() - 1].to_x <= layout.bounds[5].x);
    }

    #[test]
    fn nothing_is_laid_out_to_nothing() {
        assert_eq!(nested_layout(&[], &[]).size, (0, 0));
    }
}
