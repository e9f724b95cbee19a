//! The program that one process runs: the operators of its PE, and the operators that a plan puts
//! between them.
//!
//! ```text
//!   Trades -> Filter -> Sink, Filter in PE 1        PE 0: Trades, [Trades -> pe 1]
//!             with a threaded port                        [pe 1 -> Filter], Sink
//!                                                   PE 1: [pe 0 -> Trades], [queue of Filter.0],
//!                                                         Filter, [Filter -> pe 0]
//! ```
//!
//! # Invariants
//! Operators keep their order (watermark generators come after all others), input ports keep the
//! order of their sources, and consumers that are called directly keep the order of the calls. A PE
//! that holds the whole program and has no threaded port is the program itself, but for watermark
//! generators.
//!
//! A sender of an ordered stream ([`PlanOrder`](crate::PlanOrder)) is called where the first of its
//! consumers would be: [`stream_recipients`].

mod cut_facts;
mod cutter;
mod inserted;
mod pe_layout;
mod pe_program;
mod program_cuts;
mod stream_recipients;
mod watermarks;

use graph::{PeId, Plan, Program};
pub use pe_program::PeProgram;
pub use program_cuts::ProgramCuts;

/// Cuts the part of a PE out of a program.
///
/// # Panics
/// If the plan has no such PE, or is no complete plan of the program ([`check`](crate::check())).
pub fn cut(program: &Program, plan: &Plan, pe: PeId) -> PeProgram {
    ProgramCuts::new(program, plan).cut(pe)
}
