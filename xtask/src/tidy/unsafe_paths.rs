//! Unsafe code stands only in named rooms.

use super::TidySource;

/// Files and folders that may hold unsafe code.
const UNSAFE_PATHS: [&str; 10] = [
    "crates/tuple/src/layout",
    "crates/ring",
    "crates/fabric/src",
    "crates/runtime/src/abi",
    "crates/jit/src/code",
    "crates/plugin/src",
    "crates/sampling/src",
    "crates/transport/benches/shm/shared_ring",
    "lab/conformance/src/compiled.rs",
    "pubsub/capi/src",
];

/// Findings on one file.
pub fn check(source: &TidySource) -> Vec<String> {
    if UNSAFE_PATHS
        .iter()
        .any(|room| source.path.starts_with(room))
        || source.path.starts_with("xtask/")
    {
        return Vec::new();
    }
    let lines = source.text.lines().enumerate();
    let found = lines.filter(|(_, line)| {
        let code = line.split("//").next().unwrap_or("");
        code.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == "unsafe")
    });
    found
        .map(|(at, _)| format!("{}:{}: unsafe outside its rooms", source.path, at + 1))
        .collect()
}
