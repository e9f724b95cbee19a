//! Contents of an operator's windows that never fired before its input ended.

/// Contents of an operator's windows that never got full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncompleteWindows {
    /// Number of windows that hold a tuple; each partition has its own.
    pub windows: u64,
    /// Number of tuples in these windows. A tuple that lies in several windows counts in each.
    pub tuples: u64,
    /// Advice to the user: how the program gets results from windows that do not get full.
    pub help: &'static str,
}
