//! The bound on the length of sequences.

use super::super::failure::{QueryFailure, QueryResult, failure};
use super::super::item::Sequence;

/// Number of items that a sequence has at most: a range or a product of loops in a query cannot use
/// up the memory.
pub(super) const ITEMS_MAX: usize = 1 << 24;

/// Adds items to a sequence.
///
/// # Errors
/// If the sequence becomes longer than [`ITEMS_MAX`].
pub(super) fn append(items: &mut Sequence, more: Sequence) -> QueryResult<()> {
    if items.len() + more.len() > ITEMS_MAX {
        return Err(too_long());
    }
    items.extend(more);
    Ok(())
}

/// The failure of a sequence that would become too long.
pub(super) fn too_long() -> QueryFailure {
    failure(format!("a sequence of more than {ITEMS_MAX} items"))
}
