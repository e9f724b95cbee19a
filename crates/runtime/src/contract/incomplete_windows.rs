//! What the windows of an operator hold when its input ends.

/// What an operator's windows hold that has not been full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncompleteWindows {
    /// How many windows hold something; each partition has its own.
    pub windows: u64,
    /// How many tuples they hold; one that lies in several windows counts in each.
    pub tuples: u64,
    /// What the program would have to say to get results of them.
    pub help: &'static str,
}
