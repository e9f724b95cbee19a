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

mod cutter;
mod inserted;
mod pe_layout;
mod pe_program;
mod stream_recipients;
mod watermarks;

use cutter::Cutter;
use graph::{PeAssignment, Plan, Program};
use pe_layout::PeOperator;
pub use pe_program::PeProgram;

use crate::order::order;

/// Cuts the part of a PE out of a program.
///
/// # Panics
/// If the plan has no such PE, or is no complete plan of the program ([`check`](crate::check())).
pub fn cut(program: &Program, plan: &Plan, pe: u32) -> PeProgram {
    let order = order(plan, program);
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let cutter = Cutter::new(program, plan, &order, &pe_assignment, pe);
    let mut part = PeProgram {
        program: Program {
            name: program.name.clone(),
            files: program.files.clone(),
            functions: program.functions.clone(),
            operators: Vec::with_capacity(cutter.layout.operators.len()),
        },
        operator_ids: cutter
            .layout
            .operators
            .iter()
            .map(PeOperator::program_id)
            .collect(),
        rings: cutter
            .recipients
            .rings
            .iter()
            .map(|ring| (ring.crossing_number, ring.from))
            .collect(),
        origins: cutter.origins(),
        ..PeProgram::default()
    };
    for (number, operator) in (0..).zip(&cutter.layout.operators) {
        part.program.operators.push(cutter.operator(operator));
        part.pins
            .extend(cutter.core(operator).map(|core| (number, core)));
    }
    watermarks::insert(&mut part);
    for (crossing_number, crossing) in (0..).zip(&plan.crossings) {
        if cutter.pe_assignment.pe_of(crossing.from.operator) == Some(pe) {
            part.sent_crossings.push(crossing_number);
        }
        if let Some(receiver) = crossing.to.iter().position(|&to| to == pe) {
            part.received_crossings
                .push((crossing_number, receiver as u32));
        }
    }
    part
}
