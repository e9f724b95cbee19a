//! Layout of a set or map as far as compiled code needs it to search for an integer.

/// Where things are in the hash table of a [`crate::Set`] or [`crate::Map`], in bytes.
///
/// The search for an integer `key` among the `keys`, all of one type, as compiled code may begin it
/// (`word` is the key extended to 64 bits, by its sign if it has one):
/// ```text
///   if entries.len == 0: not there
///   slot = slots[(word * multiplier) >> shift]
///   if entries[slot & 0xffff_ffff].key == key: it is that entry
///   if slot == 0: not there
/// ```
/// Else the search goes on, which is left to the methods.
#[derive(Clone, Copy, Debug)]
pub struct TableLayout {
    /// The vector of entries.
    pub entries: usize,
    /// The vector of 64-bit slots.
    pub slots: usize,
    /// Offset of the 32-bit shift.
    pub shift: usize,
    /// Offset of the 64-bit multiplier.
    pub multiplier: usize,
    /// Bytes from one entry to the next.
    pub entry_bytes: usize,
    /// The key, a `Value`, from the start of an entry.
    pub key: usize,
    /// The value of a map's entry.
    pub value: usize,
}
