//! The cuts of a plan: from the facts that all PEs share to the program of each.
//!
//! # Cost
//! A walk over the program and the plan, and for each PE one over its operators, crossings and
//! merges: the parts of all PEs together cost in proportion to the program, but for streams whose
//! order counts. Such a stream costs by the cube of the number of its recipients in a PE.

use graph::{PeId, Plan, Program};

use super::cut_facts::CutFacts;
use super::cutter::Cutter;
use super::pe_layout::PeOperator;
use super::pe_program::PeProgram;
use super::watermarks;

/// The cuts of a program and its plan: for more parts than one it is faster than
/// [`cut()`](super::cut()).
pub struct ProgramCuts<'a> {
    facts: CutFacts<'a>,
}

impl<'a> ProgramCuts<'a> {
    /// The cuts of a program and a complete plan of it.
    pub fn new(program: &'a Program, plan: &'a Plan) -> ProgramCuts<'a> {
        ProgramCuts {
            facts: CutFacts::new(program, plan),
        }
    }

    /// Cuts the part of a PE out of the program.
    ///
    /// # Panics
    /// If the plan has no such PE.
    pub fn cut(&self, pe: PeId) -> PeProgram {
        let facts = &self.facts;
        let border = &facts.border_crossings[pe.0 as usize];
        let cutter = Cutter::new(facts, pe, &border.sent);
        let operators = cutter.operators();
        let mut part = PeProgram {
            program: Program {
                name: facts.program.name.clone(),
                files: facts.program.files.clone(),
                functions: facts.program.functions.clone(),
                operators: Vec::with_capacity(operators.len()),
                config: facts.program.config.clone(),
            },
            operator_ids: operators.iter().map(PeOperator::program_id).collect(),
            sent_crossings: border.sent.clone(),
            received_crossings: border.received.clone(),
            pins: Vec::new(),
            rings: cutter.rings().collect(),
            origins: cutter.origins(),
        };
        for (number, operator) in (0..).zip(operators) {
            part.program.operators.push(cutter.operator(operator));
            part.pins
                .extend(cutter.core(operator).map(|core| (number, core)));
        }
        watermarks::insert(&mut part);
        part
    }
}
