//! SPL text of the types that every program has without a toolkit: `Sys`, `Log` and `Trace` of
//! namespace `spl`, and those of the functions in `com.ibm.streamsx.json`.
//! [`crate::names::SymbolTable`] expects their units among the others.

/// A unit of the prelude.
#[derive(Clone, Copy, Debug)]
pub struct PreludeUnit {
    /// The path that diagnostics show for it.
    pub path: &'static str,
    /// SPL text of the unit.
    pub source: &'static str,
    /// Whether files of its namespace that a program has take its place.
    pub is_replaced: bool,
}

/// The units of the prelude.
pub const UNITS: [PreludeUnit; 2] = [
    PreludeUnit {
        path: "spl/Sys.spl",
        source: include_str!("prelude.spl"),
        is_replaced: false,
    },
    PreludeUnit {
        path: "com.ibm.streamsx.json/Json.spl",
        source: include_str!("prelude_json.spl"),
        is_replaced: true,
    },
];
