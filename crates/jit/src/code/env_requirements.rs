//! Requirements of a machine function on the environment that it runs in.

use std::sync::Arc;

use tuple::{Layout, Type};

/// Needs of a function: memory for variables, input slots, an arena.
#[derive(Clone, Debug)]
pub struct EnvRequirements {
    /// Types of the function's variables in memory.
    pub local_types: Vec<Type>,
    /// Input slots that the function reads, with their layouts.
    pub inputs: Vec<(u32, Arc<Layout>)>,
    /// Whether the function takes temporary memory.
    pub allocates: bool,
}
