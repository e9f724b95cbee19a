//! Instructions of hot paths, counted by callgrind: the same number in each run, whatever else the
//! machine does, so that a limit on it can be held.
//!
//! ```text
//!   set up (not counted) --> [ the path, N times ]  at most LIMIT instructions, else a failure
//! ```
//! `.ci/counts` runs them. Each limit is what was counted when it was set and a twentieth more:
//! other processors run other variants of memcpy, other compilers order code otherwise. A change
//! that costs more says why and sets it anew; one that costs less sets it lower.

mod compiled;
mod frames;
mod operators;
mod records;

use compiled::compiled_group;
use frames::frames_group;
use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig, main};
use operators::operators_group;
use records::records_group;

/// At most so many instructions, and a twentieth.
fn about(instructions: u64) -> LibraryBenchmarkConfig {
    let limit = instructions + instructions / 20;
    LibraryBenchmarkConfig::default()
        .tool(Callgrind::default().hard_limits([(EventKind::Ir, limit)]))
        .clone()
}

main!(
    library_benchmark_groups = frames_group,
    compiled_group,
    operators_group,
    records_group
);
