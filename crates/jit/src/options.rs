//! What can be chosen when code is made.

/// What can be chosen when code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether the intermediate code is checked before it is compiled. On in debug builds.
    pub verify: bool,
    /// Whether the text of the code is kept, for printing.
    pub texts: bool,
    /// Whether a map of the code is written for `perf`, into `/tmp/perf-<pid>.map`.
    pub perf_map: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            verify: cfg!(debug_assertions),
            texts: false,
            perf_map: false,
        }
    }
}
