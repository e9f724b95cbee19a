//! SPL's list, set and map as values.
//!
//! A list of scalars is packed (8 bytes for an int64, not a `Value`), so that compiled code can
//! walk it as plain memory. Sets and maps are hash tables that compiled code may search itself
//! ([`TableLayout`]). They iterate in the order of insertion (removal moves the last
//! entry into the gap), which makes every run of a program print the same.

mod hash_index;
mod hash_table;
mod key;
mod list;
mod map;
#[cfg(test)]
mod model;
mod packed_scalar;
mod set;
mod table_layout;
#[cfg(test)]
mod tests;

use hash_index::HashIndex;
use hash_table::HashTable;
pub use key::Key;
pub(crate) use key::{float_key, hash_bytes, hash_float, hash_units, hash_word};
pub use list::List;
pub(crate) use list::total_cmp;
pub use map::Map;
pub use packed_scalar::PackedScalar;
pub use set::Set;
pub use table_layout::TableLayout;

/// The hasher of sets and maps: fast, and the same in every run, so that iteration after removals
/// and hash-dependent timing repeat.
pub(crate) type KeyHasher = rustc_hash::FxBuildHasher;
