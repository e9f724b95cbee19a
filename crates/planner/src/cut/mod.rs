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
//! A sender of an ordered stream ([`PlanOrder`]) is called where the first of its consumers would
//! be: [`stream_recipients`].

mod cutter;
mod inserted;
mod pe_layout;
mod pe_program;
mod stream_recipients;
mod watermarks;

use std::collections::HashMap;

use cutter::Cutter;
use graph::{OutPortId, PeAssignment, Plan, Program};
use pe_layout::PeOperator;
pub use pe_program::PeProgram;

use crate::order::{PlanOrder, order};
use crate::streams::StreamConsumers;

/// Cuts the part of a PE out of a program.
///
/// # Panics
/// If the plan has no such PE, or is no complete plan of the program ([`check`](crate::check())).
pub fn cut(program: &Program, plan: &Plan, pe: u32) -> PeProgram {
    ProgramCuts::new(program, plan).cut(pe)
}

/// The facts of a program and its plan that the parts of all PEs are cut by: for more parts than
/// one it is faster than [`cut()`].
pub struct ProgramCuts<'a> {
    program: &'a Program,
    plan: &'a Plan,
    order: PlanOrder,
    pe_assignment: PeAssignment,
    stream_consumers: StreamConsumers,
    /// The crossings that take a stream to other PEs, in order.
    crossings_of: HashMap<OutPortId, Vec<u32>>,
    /// The crossing that brings a stream into a PE.
    crossing_index: HashMap<(OutPortId, u32), u32>,
}

impl<'a> ProgramCuts<'a> {
    /// The facts of a program and a complete plan of it.
    pub fn new(program: &'a Program, plan: &'a Plan) -> ProgramCuts<'a> {
        let mut crossings_of: HashMap<OutPortId, Vec<u32>> = HashMap::new();
        for (number, crossing) in (0..).zip(&plan.crossings) {
            crossings_of.entry(crossing.from).or_default().push(number);
        }
        ProgramCuts {
            program,
            plan,
            crossings_of,
            order: order(plan, program),
            pe_assignment: PeAssignment::new(plan, program.operators.len()),
            stream_consumers: StreamConsumers::new(program),
            crossing_index: plan.crossing_index(),
        }
    }

    /// Cuts the part of a PE out of the program.
    ///
    /// # Panics
    /// If the plan has no such PE.
    pub fn cut(&self, pe: u32) -> PeProgram {
        cut_part(&Cutter::new(self, pe))
    }
}

fn cut_part(cutter: &Cutter<'_>) -> PeProgram {
    let (program, plan, pe) = (cutter.program, cutter.plan, cutter.pe);
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
