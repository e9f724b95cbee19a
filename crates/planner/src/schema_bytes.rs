//! Bytes of the tuples of a schema, as far as the schema tells.

use std::sync::Arc;

use tuple::{Layout, TupleType};

/// Bytes that an attribute of no fixed size is taken to have beside its slot. Nothing is known of
/// its values before the program runs; short names and symbols are common.
const UNKNOWN_BYTES: u64 = 16;

/// Bytes that a tuple of a schema probably has.
pub fn tuple_bytes(schema: &Arc<TupleType>) -> u64 {
    let slots: u64 = schema
        .attributes
        .iter()
        .map(|a| u64::from(Layout::slot(&a.ty).0))
        .sum();
    let unknown = schema
        .attributes
        .iter()
        .filter(|a| !Layout::is_in_slot(&a.ty))
        .count();
    slots + unknown as u64 * UNKNOWN_BYTES
}
