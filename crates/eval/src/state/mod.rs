//! State of operators between tuples: variables, and tables of entries that are found by key.
//!
//! ```text
//!  Index       hash of a key -> id of an entry
//!  Direct      the same for small tables, in compiled code
//!  Pages       id -> | key | links of orders | attributes |   words of 8 bytes
//!  Strings     what is long in keys
//! ```
//! Memory comes and goes in pieces of at most 64 KiB (an index of millions of entries has a
//! directory beside), so no operation takes long, however many entries there are.

mod direct_index;
mod entry_layout;
mod entry_order;
mod entry_queue;
mod entry_store;
mod entry_table;
mod index;
mod key_bytes;
mod key_layout;
mod key_strings;
mod pages;
mod scalar_slot;
mod state_memory;
mod table_layouts;
mod table_state;
mod variables;

pub use direct_index::{DirectSlot, DirectSlots};
pub use entry_layout::EntryTableType;
pub use entry_table::{EntryTable, TableMemoryError};
pub use index::DirectoryEntry;
pub use key_bytes::encode_key_value;
pub use key_layout::{HASH_MULTIPLIER, KeyLayout, TableKey, hash_seed};
pub use pages::EntryId;
pub use state_memory::StateMemory;
pub use table_layouts::{TableLayouts, TableVariable, ValueBlockLayout};
pub use table_state::TableState;
pub use variables::State;
