//! The depths at which the expressions of an operator look back on an input port: `In[n]`.
//!
//! An evaluation is given one tuple for each depth that is read, not for each tuple between, so
//! that `In[2000]` costs as much as `In[1]`.

/// Depths of the earlier tuples of a port that expressions read, in ascending order.
///
/// # Example
/// ```
/// use thalweg_graph::HistoryDepths;
///
/// let mut depths = HistoryDepths::default();
/// depths.insert(2000);
/// depths.insert(1);
/// assert_eq!(depths.deepest(), 2000);
/// assert_eq!(depths.slots(), 3);
/// assert_eq!(depths.slot(2000), Some(2));
/// assert_eq!(depths.slot(7), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryDepths {
    /// Ascending, each once, without 0.
    depths: Vec<u32>,
}

impl HistoryDepths {
    /// Every depth from 1 up to `deepest`.
    pub fn up_to(deepest: u32) -> HistoryDepths {
        HistoryDepths {
            depths: (1..=deepest).collect(),
        }
    }

    /// Notes that expressions read the tuple that came `depth` tuples ago; 0 is the current one.
    pub fn insert(&mut self, depth: u32) {
        if depth > 0
            && let Err(at) = self.depths.binary_search(&depth)
        {
            self.depths.insert(at, depth);
        }
    }

    /// The depths, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.depths.iter().copied()
    }

    /// Whether only the current tuple is read.
    pub fn is_empty(&self) -> bool {
        self.depths.is_empty()
    }

    /// Number of earlier tuples that the port has to keep.
    pub fn deepest(&self) -> u32 {
        self.depths.last().copied().unwrap_or(0)
    }

    /// Number of input slots of the port: one for the current tuple, one for each depth.
    pub fn slots(&self) -> u32 {
        1 + self.depths.len() as u32
    }

    /// The slot of a depth among those of the port; `None` if no expression reads it.
    pub fn slot(&self, depth: u32) -> Option<u32> {
        match depth {
            0 => Some(0),
            _ => (self.depths.binary_search(&depth).ok()).map(|at| at as u32 + 1),
        }
    }
}
