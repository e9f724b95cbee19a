//! Which source file uses which: the module trees of all crates, and the arrows between their
//! files.
//!
//! ```text
//!   sources  --tree-->  modules with their names  --arrows-->  file -> file  --circles-->  knots
//! ```
//! An arrow from one file to another means that the first names something that the second defines.
//! A name is followed through re-exports to its definition, so the `mod.rs` of a folder that only
//! hands names on has no arrows. Method calls have no path and draw none. Test modules are left
//! out.

mod arrows;
mod circles;
mod tree;

pub use arrows::{Arrow, arrows, paths_to_crates};
pub use circles::circles;
pub use tree::{ModuleTree, read};
