//! What a machine function needs of the environment that it runs in.

use std::sync::Arc;

use tuple::{Layout, Type};

/// Needs of a function: memory for variables, input slots, an arena.
#[derive(Clone, Debug)]
pub struct EnvRequirements {
    /// The types of its variables in memory.
    pub local_types: Vec<Type>,
    /// The input slots that it reads.
    pub inputs: Vec<(u32, Arc<Layout>)>,
    /// Whether it takes anything temporary.
    pub allocates: bool,
}
