//! The types that every program has without a toolkit: `Sys`, `Log`, `Trace` of namespace `spl`, as
//! SPL text. Whoever builds a [`crate::names::World`] parses it like any other file.

/// The path that diagnostics show for it.
pub const PATH: &str = "spl/Sys.spl";

/// SPL text of the prelude.
pub const SOURCE: &str = include_str!("prelude.spl");
