//! Circles of files: sets in which each file reaches every other along arrows.

use super::Arrow;

/// The circles of more than one file, the largest first; each sorted.
pub fn circles(files: usize, arrows: impl Iterator<Item = Arrow>) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); files];
    for (from, to) in arrows {
        next[from].push(to);
    }
    let mut search = Search {
        next: &next,
        order: vec![0; files],
        low: vec![0; files],
        open: Vec::new(),
        is_open: vec![false; files],
        count: 0,
        found: Vec::new(),
    };
    for file in 0..files {
        if search.order[file] == 0 {
            search.visit(file);
        }
    }
    let mut found = search.found;
    found.iter_mut().for_each(|circle| circle.sort_unstable());
    found.sort_by_key(|circle| (usize::MAX - circle.len(), circle[0]));
    found
}

/// Tarjan's search for strongly connected components.
struct Search<'a> {
    next: &'a [Vec<usize>],
    /// When a file was reached, from 1 on; 0 before.
    order: Vec<usize>,
    /// The earliest file that is reached from it.
    low: Vec<usize>,
    open: Vec<usize>,
    is_open: Vec<bool>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, file: usize) {
        self.count += 1;
        self.order[file] = self.count;
        self.low[file] = self.count;
        self.open.push(file);
        self.is_open[file] = true;
        for &next in &self.next[file] {
            if self.order[next] == 0 {
                self.visit(next);
                self.low[file] = self.low[file].min(self.low[next]);
            } else if self.is_open[next] {
                self.low[file] = self.low[file].min(self.order[next]);
            }
        }
        if self.low[file] == self.order[file] {
            let start = self.open.iter().rposition(|open| *open == file);
            let circle = self.open.split_off(start.expect("an open file"));
            circle.iter().for_each(|file| self.is_open[*file] = false);
            if circle.len() > 1 {
                self.found.push(circle);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::circles;

    #[test]
    fn two_circles_and_a_chain() {
        let arrows = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2), (4, 5)];
        assert_eq!(circles(6, arrows.into_iter()), [vec![2, 3, 4], vec![0, 1]]);
    }
}
