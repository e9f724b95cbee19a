//! The focus of an expression: the item of `.`, and its position.

use super::item::Item;

/// The item that an expression is evaluated for, and its place among others.
#[derive(Clone, Debug)]
pub(super) struct Focus {
    pub(super) item: Item,
    /// Position of the item, from 1.
    pub(super) position: usize,
    /// Number of items, the greatest position.
    pub(super) count: usize,
}
