//! Instruction counts of hot paths under callgrind. A count is the same in each run, whatever else
//! the machine does, so a limit on it can be held.
//!
//! ```text
//!   set up (not counted) --> [ the path, N times ]  at most LIMIT instructions, else a failure
//! ```
//! `.ci/counts` runs them. Each limit is the count when it was set and a twentieth more, since
//! other processors run other variants of memcpy and other compilers order code otherwise. A change
//! that costs more says why and sets the limit anew; one that costs less lowers it.

mod compiled;
mod frames;
mod operators;
mod records;
mod text;

use compiled::compiled_group;
use frames::frames_group;
use gungraun::{Callgrind, EventKind, LibraryBenchmarkConfig, main};
use operators::operators_group;
use records::records_group;
use text::text_group;

/// A limit of `instructions` and a twentieth more.
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
    records_group,
    text_group
);
