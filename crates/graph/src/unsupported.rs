//! Operators and functions of the language that are known by name only.

/// Why something cannot be used, and what to do instead. `docs/compatibility.md` lists them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The reason, as a clause without a full stop: "there is no Java in this engine".
    pub reason: &'static str,
    /// The way round, without a full stop: "write the logic in a Custom".
    pub alternative: &'static str,
}
