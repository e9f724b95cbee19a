//! Derivation: receivers, merges, regions, shared operators and edges of a plan, which follow from
//! its other fields.
//!
//! Operators of the PEs, threaded ports, pins and crossings are chosen. Everything else is worked
//! out here, and again whenever a choice has changed.
//!
//! # Cost
//! A walk over the edges, and one over the operators that each thread reaches.

use std::collections::{HashMap, HashSet};

use graph::{
    EdgeMedium, InPortId, OperatorId, OutPortId, PeAssignment, PePlan, Plan, PlanEdge, Program,
    ReceiverPlan, Region, ThreadedPort,
};

use crate::order::{PlanOrder, order};
use crate::streams::StreamConsumers;

/// Works out the receivers, merges, regions, shared operators and edges of a plan anew.
pub fn derive(plan: &mut Plan, program: &Program) {
    let stream_consumers = StreamConsumers::new(program);
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let PlanOrder {
        receivers, merges, ..
    } = order(plan, program);
    for ((pe, receivers), merges) in plan.pes.iter_mut().zip(receivers).zip(merges) {
        (pe.receivers, pe.merges) = (receivers, merges);
    }
    let crossing_index = plan.crossing_index();
    let mut walk = RegionWalk {
        stream_consumers: &stream_consumers,
        pe_assignment: &pe_assignment,
        last_walk: vec![0; program.operators.len()],
        walk_count: 0,
    };
    for number in 0..plan.pes.len() as u32 {
        let pe = &plan.pes[number as usize];
        let thread_fed_ports = ThreadFedPorts::new(pe);
        let starts = walk.region_starts(program, plan, number, &thread_fed_ports);
        let regions = starts.into_iter();
        let regions = regions.filter_map(|starts| walk.region(number, starts, &thread_fed_ports));
        let regions: Vec<Region> = regions.collect();
        let edges = incoming_edges(
            program,
            number,
            pe,
            &pe_assignment,
            &crossing_index,
            &thread_fed_ports,
        );
        let pe = &mut plan.pes[number as usize];
        pe.edges = edges;
        pe.shared_operators = shared_operators(&regions);
        pe.regions = regions;
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

    /// Whether the thread that submits or receives a stream calls the operator of a port itself.
    fn is_called_directly(&self, from: OutPortId, to: InPortId) -> bool {
        !self.queues.contains(&to) && !self.merged_edges.contains(&(from, to))
    }
}

/// Every edge that ends in a PE, in order of the receiving ports.
fn incoming_edges(
    program: &Program,
    number: u32,
    pe: &PePlan,
    pe_assignment: &PeAssignment,
    crossing_index: &HashMap<(OutPortId, u32), u32>,
    thread_fed_ports: &ThreadFedPorts,
) -> Vec<PlanEdge> {
    let mut edges = Vec::new();
    for &operator in &pe.operators {
        let inputs = program.operators.get(operator.0 as usize);
        let inputs = inputs.map_or(&[][..], |operator| &operator.inputs);
        for (port, input) in (0..).zip(inputs) {
            for &from in &input.sources {
                let is_near = pe_assignment.pe_of(from.operator) == Some(number);
                let to = InPortId { operator, port };
                let medium = match crossing_index.get(&(from, number)) {
                    _ if is_near && thread_fed_ports.merged_edges.contains(&(from, to)) => {
                        EdgeMedium::Merge
                    }
                    _ if is_near && thread_fed_ports.queues.contains(&to) => EdgeMedium::Queue,
                    _ if is_near => EdgeMedium::Fused,
                    Some(&crossing_number) => EdgeMedium::Crossing(crossing_number),
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

/// The operators that are in several regions, in order.
fn shared_operators(regions: &[Region]) -> Vec<OperatorId> {
    let mut all: Vec<OperatorId> = regions.iter().flat_map(|r| r.operators.clone()).collect();
    all.sort_unstable();
    let mut shared: Vec<OperatorId> = all
        .windows(2)
        .filter(|two| two[0] == two[1])
        .map(|two| two[0])
        .collect();
    shared.dedup();
    shared
}

struct RegionWalk<'a> {
    stream_consumers: &'a StreamConsumers,
    pe_assignment: &'a PeAssignment,
    /// By operator: the last walk that came to it.
    last_walk: Vec<u32>,
    walk_count: u32,
}

impl RegionWalk<'_> {
    /// The operators that each thread of a PE calls first: sources, then threaded ports, merges and
    /// receivers. A receiver that only fills queues calls none.
    fn region_starts(
        &self,
        program: &Program,
        plan: &Plan,
        number: u32,
        thread_fed_ports: &ThreadFedPorts,
    ) -> Vec<Vec<OperatorId>> {
        let pe = &plan.pes[number as usize];
        let is_source = |id: &&OperatorId| {
            let operator = program.operators.get(id.0 as usize);
            operator.is_some_and(|operator| operator.inputs.is_empty())
        };
        let sources = pe.operators.iter().filter(is_source).map(|&id| vec![id]);
        let threaded = pe.threaded_ports.iter().map(ThreadedPort::in_port);
        let threaded = threaded.filter(|to| thread_fed_ports.queues.contains(to));
        let threaded = threaded.map(|to| vec![to.operator]);
        let merged = pe.merges.iter().map(|merge| {
            let consumers = merge.inputs.iter().flat_map(|input| &input.consumers);
            consumers.map(|to| to.operator).collect()
        });
        let received = pe.receivers.iter().map(|receiver| {
            let crossings = receiver.crossings.iter();
            let streams = crossings.map(|&crossing| plan.crossings[crossing as usize].from);
            let called = streams.flat_map(|from| self.called(from, number, thread_fed_ports));
            called.map(|to| to.operator).collect()
        });
        sources
            .chain(threaded)
            .chain(merged)
            .chain(received)
            .collect()
    }

    /// The region of a thread that calls `starts` first; `None` if there are none.
    fn region(
        &mut self,
        number: u32,
        starts: Vec<OperatorId>,
        thread_fed_ports: &ThreadFedPorts,
    ) -> Option<Region> {
        self.walk_count += 1;
        let mut operators = Vec::new();
        let mut open = starts;
        open.reverse();
        while let Some(next) = open.pop() {
            let seen = self.last_walk.get_mut(next.0 as usize)?;
            if std::mem::replace(seen, self.walk_count) == self.walk_count {
                continue;
            }
            operators.push(next);
            let streams = self.stream_consumers.streams_of(next);
            let called = streams.flat_map(|from| self.called(from, number, thread_fed_ports));
            let mut called: Vec<InPortId> = called.collect();
            // In order of the consumers, whichever output port feeds them.
            called.sort_unstable();
            open.extend(called.iter().rev().map(|to| to.operator));
        }
        let source = *operators.first()?;
        Some(Region { source, operators })
    }
    /// The input ports of a PE that a thread calls when it has a tuple of a stream there.
    fn called(
        &self,
        from: OutPortId,
        number: u32,
        thread_fed_ports: &ThreadFedPorts,
    ) -> impl Iterator<Item = InPortId> {
        let consumers = self.stream_consumers.consumers_of(from).iter().copied();
        let near =
            consumers.filter(move |to| self.pe_assignment.pe_of(to.operator) == Some(number));
        near.filter(move |&to| thread_fed_ports.is_called_directly(from, to))
    }
}
