//! SPL text of the types that every program has without a toolkit: `Sys`, `Log` and `Trace` of
//! namespace `spl`. [`crate::names::SymbolTable`] expects its unit among the others.

/// The path that diagnostics show for it.
pub const PATH: &str = "spl/Sys.spl";

/// SPL text of the prelude.
pub const SOURCE: &str = include_str!("prelude.spl");
