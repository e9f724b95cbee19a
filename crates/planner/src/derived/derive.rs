//! Derivation: receivers, merges and edges of a plan, which follow from its other fields.
//!
//! Operators of the PEs, threaded ports, pins and crossings are chosen. Everything else is worked
//! out here, and again whenever a choice has changed; threads follow from the program of each PE
//! ([`pe_threads`](crate::pe_threads())).
//!
//! # Cost
//! A walk over the edges.

use std::collections::{HashMap, HashSet};

use graph::{
    CrossingId, EdgeMedium, InPortId, OutPortId, PeAssignment, PeId, PePlan, Plan, PlanEdge,
    PortIndex, Program, ReceiverPlan, ThreadedPort,
};

use crate::order::{PlanOrder, order};

/// Works out the receivers, merges and edges of a plan anew.
pub fn derive(plan: &mut Plan, program: &Program) {
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let PlanOrder {
        receivers, merges, ..
    } = order(plan, program);
    for ((pe, receivers), merges) in plan.pes.iter_mut().zip(receivers).zip(merges) {
        (pe.receivers, pe.merges) = (receivers, merges);
    }
    let crossing_index = plan.crossing_index();
    for (id, pe) in plan.pe_ids().zip(&mut plan.pes) {
        pe.edges = incoming_edges(program, id, pe, &pe_assignment, &crossing_index);
    }
}

/// The receivers of each PE of a plan, in order of their first crossings: the thread of a receiver
/// takes several streams where they feed one input port or have to keep an order.
pub fn receivers(plan: &Plan, program: &Program) -> Vec<Vec<ReceiverPlan>> {
    order(plan, program).receivers
}

/// The input ports of a PE that queues and merges feed.
struct ThreadFedPorts {
    /// Input ports with a queue, without those whose queue a merge replaces.
    queues: HashSet<InPortId>,
    /// The edges that merges take.
    merged_edges: HashSet<(OutPortId, InPortId)>,
}

impl ThreadFedPorts {
    fn new(pe: &PePlan) -> ThreadFedPorts {
        let mut merged = HashSet::new();
        for input in pe.merges.iter().flat_map(|merge| &merge.inputs) {
            merged.extend(input.consumers.iter().map(|&to| (input.from, to)));
        }
        let ports: HashSet<InPortId> = merged.iter().map(|&(_, to)| to).collect();
        let queues = pe.threaded_ports.iter().map(ThreadedPort::in_port);
        ThreadFedPorts {
            queues: queues.filter(|to| !ports.contains(to)).collect(),
            merged_edges: merged,
        }
    }

    /// The way of a stream within its PE.
    fn medium(&self, from: OutPortId, to: InPortId) -> EdgeMedium {
        if self.merged_edges.contains(&(from, to)) {
            EdgeMedium::Merge
        } else if self.queues.contains(&to) {
            EdgeMedium::Queue
        } else {
            EdgeMedium::Fused
        }
    }
}

/// Every edge that ends in a PE, in order of the receiving ports.
fn incoming_edges(
    program: &Program,
    pe_id: PeId,
    pe: &PePlan,
    pe_assignment: &PeAssignment,
    crossing_index: &HashMap<(OutPortId, PeId), CrossingId>,
) -> Vec<PlanEdge> {
    let thread_fed_ports = ThreadFedPorts::new(pe);
    let mut edges = Vec::new();
    for &operator in &pe.operators {
        let inputs = program.operators.get(operator.0 as usize);
        let inputs = inputs.map_or(&[][..], |operator| &operator.inputs);
        for (port, input) in (0..).map(PortIndex).zip(inputs) {
            for &from in &input.sources {
                let is_near = pe_assignment.pe_of(from.operator) == Some(pe_id);
                let medium = match crossing_index.get(&(from, pe_id)) {
                    _ if is_near => thread_fed_ports.medium(from, InPortId { operator, port }),
                    Some(&crossing_id) => EdgeMedium::Crossing(crossing_id),
                    None => continue,
                };
                edges.push(PlanEdge {
                    from,
                    operator,
                    port,
                    medium,
                });
            }
        }
    }
    edges
}
