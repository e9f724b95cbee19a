//! The facts of a program and its plan that the parts of all PEs are cut by, worked out once.

use std::collections::HashMap;

use graph::{CrossingId, OutPortId, PeAssignment, PeId, Plan, Program};

use crate::order::{PlanOrder, order};
use crate::streams::StreamConsumers;

/// The facts of a program and its plan that the parts of all PEs are cut by.
pub(super) struct CutFacts<'a> {
    pub program: &'a Program,
    pub plan: &'a Plan,
    pub order: PlanOrder,
    pub pe_assignment: PeAssignment,
    pub stream_consumers: StreamConsumers,
    /// The crossings that take a stream to other PEs, in order.
    pub crossings_of: HashMap<OutPortId, Vec<CrossingId>>,
    /// The crossing that brings a stream into a PE.
    pub crossing_index: HashMap<(OutPortId, PeId), CrossingId>,
    /// By PE: the crossings that the PE sends on and receives from.
    pub border_crossings: Vec<BorderCrossings>,
}

/// The crossings at the border of a PE.
#[derive(Clone, Debug, Default)]
pub(super) struct BorderCrossings {
    /// The crossings that the PE sends on, in order.
    pub sent: Vec<CrossingId>,
    /// The crossings that the PE receives from, in order, each with the PE's index among the
    /// crossing's receivers.
    pub received: Vec<(CrossingId, u32)>,
}

impl<'a> CutFacts<'a> {
    /// The facts of a program and a complete plan of it.
    pub fn new(program: &'a Program, plan: &'a Plan) -> CutFacts<'a> {
        let pe_assignment = PeAssignment::new(plan, program.operators.len());
        let mut border_crossings = vec![BorderCrossings::default(); plan.pes.len()];
        for (crossing_id, crossing) in plan.crossing_ids().zip(&plan.crossings) {
            if let Some(pe) = pe_assignment.pe_of(crossing.from.operator) {
                border_crossings[pe.0 as usize].sent.push(crossing_id);
            }
            for (receiver, &pe) in (0..).zip(&crossing.to) {
                let received = &mut border_crossings[pe.0 as usize].received;
                received.push((crossing_id, receiver));
            }
        }
        CutFacts {
            program,
            plan,
            crossings_of: plan.crossings_of(),
            order: order(plan, program),
            pe_assignment,
            stream_consumers: StreamConsumers::new(program),
            crossing_index: plan.crossing_index(),
            border_crossings,
        }
    }
}
