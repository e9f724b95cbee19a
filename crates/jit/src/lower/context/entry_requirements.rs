//! What an entry needs of its environment.

use tuple::Type;
/// What is known of an entry when it has been made.
#[derive(Debug)]
pub struct EntryRequirements {
    /// The types of the variables in memory.
    pub local_types: Vec<Type>,
    /// Whether it takes anything temporary.
    pub allocates: bool,
}
