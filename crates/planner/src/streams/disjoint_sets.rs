//! Disjoint sets of numbers, joined two by two (union-find).
//!
//! ```
//! use thalweg_planner::DisjointSets;
//! let mut sets = DisjointSets::new(4);
//! sets.join(3, 1);
//! assert_eq!(sets.sets(), [vec![0], vec![1, 3], vec![2]]);
//! ```

/// Disjoint sets of the numbers below a count.
#[derive(Clone, Debug)]
pub struct DisjointSets {
    parent: Vec<usize>,
}

impl DisjointSets {
    /// The numbers below `count`, each in a set of its own.
    pub fn new(count: usize) -> DisjointSets {
        DisjointSets {
            parent: (0..count).collect(),
        }
    }

    /// The least number of the set that `at` is in.
    ///
    /// # Panics
    /// If `at` is not below the count.
    pub fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// Joins the sets of two numbers.
    ///
    /// # Panics
    /// If one of them is not below the count.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// All sets, each in order, in order of their least numbers.
    pub fn sets(mut self) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = vec![Vec::new(); self.parent.len()];
        for at in 0..self.parent.len() {
            sets[self.find(at)].push(at);
        }
        sets.retain(|set| !set.is_empty());
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::DisjointSets;

    #[test]
    fn what_is_joined_is_one_set() {
        let mut sets = DisjointSets::new(6);
        sets.join(4, 1);
        sets.join(5, 3);
        sets.join(4, 5);
        assert_eq!(sets.find(5), 1);
        assert_eq!(sets.sets(), [vec![0], vec![1, 3, 4, 5], vec![2]]);
    }
}
