//! From a program to operators that can run.
//!
//! ```text
//!   operator_factory   asks the registry for each operator
//!   pe_topology        edges, threads, loops
//!   compile_bodies     statements get code
//!   chains             which edges may be inlined or called directly in that code
//!   pe_assembly        calls these, and gives each thread its operators
//! ```

pub(crate) mod batch_forwarder;
mod chains;
pub(crate) mod compile_bodies;
pub(crate) mod operator_factory;
pub(crate) mod pe_assembly;
pub(crate) mod pe_topology;
