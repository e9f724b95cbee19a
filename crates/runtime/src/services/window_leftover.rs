//! Leftovers of windows: tuples in windows that did not get full before their input ended, and
//! tuples that came too late for any window.

use std::sync::Arc;

use graph::Pos;

use crate::contract::incomplete_windows::IncompleteWindows;

/// The leftover of one operator's windows.
#[derive(Clone, Debug)]
pub struct WindowLeftover {
    /// Name of the operator instance.
    pub operator: Arc<str>,
    /// Kind of the operator: `spl.relational::Aggregate`.
    pub kind: Arc<str>,
    /// Position of the operator's invocation.
    pub pos: Pos,
    /// Whether the operator has ever submitted a tuple.
    pub has_results: bool,
    /// Windows that did not get full, and their tuples.
    pub incomplete: IncompleteWindows,
    /// Number of tuples that came too late for windows over event time.
    pub late_tuples: u64,
}
