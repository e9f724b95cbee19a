//! Options of code generation.

/// Options of code generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitOptions {
    /// Whether the intermediate code is checked before it is compiled. On in debug builds.
    pub verify: bool,
    /// Whether the text of the code is kept, for printing.
    pub listings: bool,
    /// Whether a map of the code is written for `perf`, into `/tmp/perf-<pid>.map`.
    pub perf_map: bool,
    /// Whether it is kept which instructions are whose operator's, and code says before each call
    /// which operator it is of: for samples of running threads.
    pub for_samples: bool,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            verify: cfg!(debug_assertions),
            listings: false,
            perf_map: false,
            for_samples: false,
        }
    }
}
