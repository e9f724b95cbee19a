//! What windows hold when their input ends, and nothing is made of.
//!
//! ```text
//!   final marker, or the PE's end -> Operator::leftover -> metrics of the operator
//!                                                       -> Leftover, for the end of the job
//! ```

use std::sync::Arc;

use graph::Pos;

use crate::contract::incomplete_windows::IncompleteWindows;

/// What the windows of one operator held when its input ended.
#[derive(Clone, Debug)]
pub struct WindowLeftover {
    /// The operator instance.
    pub operator: Arc<str>,
    /// What sort of operator: `spl.relational::Aggregate`.
    pub kind: Arc<str>,
    /// Where it is invoked.
    pub pos: Pos,
    /// Whether it has ever submitted a tuple.
    pub has_results: bool,
    /// What was left.
    pub incomplete: IncompleteWindows,
}
