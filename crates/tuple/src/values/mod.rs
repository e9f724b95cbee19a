//! SPL values in ordinary Rust containers: a [`Value`] of any type, and SPL's list, set and map.
//!
//! A list of scalars is packed (8 bytes for an int64, not a `Value`), so that compiled code can
//! walk it as plain memory. Sets and maps are hash tables that compiled code may search itself
//! ([`TableLayout`]). They iterate in the order of insertion (removal moves the last
//! entry into the gap), which makes every run of a program print the same.

mod hash_index;
mod hash_table;
mod key;
mod key_hasher;
mod list;
mod map;
#[cfg(test)]
mod model;
mod packed_scalar;
mod set;
mod table_layout;
#[cfg(test)]
mod tests;
mod value;

pub use key::Key;
#[cfg(test)]
pub(crate) use key_hasher::KeyHasher;
pub use list::List;
pub use map::Map;
pub use packed_scalar::PackedScalar;
pub use set::Set;
pub use table_layout::TableLayout;
pub use value::Value;
