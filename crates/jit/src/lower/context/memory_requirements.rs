//! Memory that a machine function needs of its environment.

use tuple::Type;

/// Memory needs of a function that has been lowered.
#[derive(Debug)]
pub struct MemoryRequirements {
    /// Types of the variables in memory.
    pub local_types: Vec<Type>,
    /// Whether the function takes temporary memory.
    pub allocates: bool,
}
