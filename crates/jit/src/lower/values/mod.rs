//! Values and memory: instructions, parts of values, literals, local variables, elements of
//! collections, and operations that are left to a function on `Value`s.

mod cached_words;
mod emit;
mod fallback_site;
mod list;
mod literal;
mod locals;
mod table;
mod value_parts;

pub use emit::AccessRegion;
pub use fallback_site::{FallbackOperand, FallbackOperandKind};
pub use list::ListElements;
pub use table::{HashTableEntries, LoweredTable};
pub use value_parts::attribute;
