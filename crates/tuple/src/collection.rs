//! SPL's list, set and map as values.
//!
//! A list of scalars is packed (8 bytes for an int64, not a `Value`), so that compiled code can walk
//! it as plain memory. Sets and maps iterate in the order of insertion (removal moves the last entry
//! into the gap), which makes every run of a program print the same.

use crate::Value;

/// `list<T>`.
#[derive(Clone, Debug)]
pub enum List {
    /// To be replaced by packed variants; use the methods.
    Any(Vec<Value>),
}

/// `set<T>`: an insertion-ordered hash set.
#[derive(Clone, Debug, Default)]
pub struct Set {}

/// `map<K, V>`: an insertion-ordered hash map.
#[derive(Clone, Debug, Default)]
pub struct Map {}
