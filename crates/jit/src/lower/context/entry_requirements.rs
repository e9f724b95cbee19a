//! Requirements of an entry on its environment.

use tuple::Type;
/// Needs of an entry that has been lowered.
#[derive(Debug)]
pub struct EntryRequirements {
    /// The types of the variables in memory.
    pub local_types: Vec<Type>,
    /// Whether it takes anything temporary.
    pub allocates: bool,
}
