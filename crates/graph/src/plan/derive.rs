//! What follows from a plan's choices: the edges with their media, the regions, what is shared.
//!
//! Chosen are the operators of the PEs, their threaded ports, and the crossings. Everything else is
//! worked out here, and again whenever something was changed.
//!
//! # Cost
//! A walk over the edges, and one over what each thread reaches.

use std::collections::{HashMap, HashSet};

use super::order::Merge;
use super::pe_assignment::PeAssignment;
use super::receivers::ReceiverPlan;
use super::stream_consumers::{InPortId, StreamConsumers};
use super::{
    EdgeMedium, OperatorId, OutPortId, PePlan, Plan, PlanEdge, Program, Region, ThreadedPort,
};

impl Plan {
    /// Works out edges, regions and shared operators anew.
    pub fn derive(&mut self, program: &Program) {
        let stream_consumers = StreamConsumers::new(program);
        let pe_assignment = PeAssignment::new(self, program.operators.len());
        let order = self.order(program);
        let crossing_index = self.crossing_index();
        let mut walk = RegionWalk {
            stream_consumers: &stream_consumers,
            pe_assignment: &pe_assignment,
            last_walk: vec![0; program.operators.len()],
            walk_count: 0,
        };
        for number in 0..self.pes.len() as u32 {
            let thread_fed_ports =
                ThreadFedPorts::new(&self.pes[number as usize], &order.merges[number as usize]);
            let receivers = &order.receivers[number as usize];
            let starts = walk.region_starts(program, self, number, receivers, &thread_fed_ports);
            let regions = starts.into_iter();
            let regions =
                regions.filter_map(|starts| walk.region(number, starts, &thread_fed_ports));
            let regions: Vec<Region> = regions.collect();
            let pe = &mut self.pes[number as usize];
            pe.edges = incoming_edges(
                program,
                number,
                pe,
                &pe_assignment,
                &crossing_index,
                &thread_fed_ports,
            );
            pe.shared_operators = shared_operators(&regions);
            pe.regions = regions;
        }
    }

    /// The receivers of each PE, in order of their first crossings.
    pub fn receivers(&self, program: &Program) -> Vec<Vec<ReceiverPlan>> {
        self.order(program).receivers
    }

    /// The crossing that brings a stream into a PE.
    pub fn crossing_index(&self) -> HashMap<(OutPortId, u32), u32> {
        let all = (0..)
            .zip(&self.crossings)
            .flat_map(|(crossing_number, crossing)| {
                let to = crossing.to.iter();
                to.map(move |&pe| ((crossing.from, pe), crossing_number))
            });
        all.collect()
    }
}

/// The ports of a PE that a thread of its own feeds.
struct ThreadFedPorts<'o> {
    /// Those of queues.
    queues: HashSet<InPortId>,
    /// Those of merges: the edges that they take.
    merged_edges: HashSet<(OutPortId, InPortId)>,
    merges: &'o [Merge],
}

impl<'o> ThreadFedPorts<'o> {
    fn new(pe: &PePlan, merges: &'o [Merge]) -> ThreadFedPorts<'o> {
        let mut merged = HashSet::new();
        for input in merges.iter().flat_map(|merge| &merge.inputs) {
            merged.extend(input.consumers.iter().map(|&to| (input.from, to)));
        }
        let ports: HashSet<InPortId> = merged.iter().map(|&(_, to)| to).collect();
        let queues = pe.threaded_ports.iter().map(ThreadedPort::in_port);
        ThreadFedPorts {
            queues: queues.filter(|to| !ports.contains(to)).collect(),
            merged_edges: merged,
            merges,
        }
    }

    /// Whether a stream of the PE gets to a port by a call.
    fn is_called_directly(&self, from: OutPortId, to: InPortId) -> bool {
        !self.queues.contains(&to) && !self.merged_edges.contains(&(from, to))
    }
}

/// Every edge that ends in a PE.
fn incoming_edges(
    program: &Program,
    number: u32,
    pe: &PePlan,
    pe_assignment: &PeAssignment,
    crossing_index: &HashMap<(OutPortId, u32), u32>,
    thread_fed_ports: &ThreadFedPorts<'_>,
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

/// Operators of several regions.
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
    /// The last walk that came by each operator.
    last_walk: Vec<u32>,
    walk_count: u32,
}

impl RegionWalk<'_> {
    /// Where the threads of a PE begin: sources, threaded ports, receivers. One that only fills
    /// queues begins nowhere.
    fn region_starts(
        &self,
        program: &Program,
        plan: &Plan,
        number: u32,
        receivers: &[ReceiverPlan],
        doors: &ThreadFedPorts<'_>,
    ) -> Vec<Vec<OperatorId>> {
        let pe = &plan.pes[number as usize];
        let is_source = |id: &&OperatorId| {
            let operator = program.operators.get(id.0 as usize);
            operator.is_some_and(|operator| operator.inputs.is_empty())
        };
        let sources = pe.operators.iter().filter(is_source).map(|&id| vec![id]);
        let threaded = pe.threaded_ports.iter().map(ThreadedPort::in_port);
        let threaded = threaded.filter(|to| doors.queues.contains(to));
        let threaded = threaded.map(|to| vec![to.operator]);
        let merged = doors.merges.iter().map(|merge| {
            let consumers = merge.inputs.iter().flat_map(|input| &input.consumers);
            consumers.map(|to| to.operator).collect()
        });
        let received = receivers.iter().map(|receiver| {
            let crossings = receiver.crossings.iter();
            let streams =
                crossings.map(|&crossing_number| plan.crossings[crossing_number as usize].from);
            let consumers = streams.flat_map(|from| {
                self.stream_consumers
                    .consumers_of(from)
                    .iter()
                    .map(move |to| (from, to))
            });
            let near =
                consumers.filter(|(_, to)| self.pe_assignment.pe_of(to.operator) == Some(number));
            let direct = near.filter(|(from, to)| doors.is_called_directly(*from, **to));
            direct.map(|(_, to)| to.operator).collect()
        });
        let own = sources.chain(threaded).chain(merged);
        own.chain(received).collect()
    }

    /// What a thread runs that calls these operators.
    fn region(
        &mut self,
        number: u32,
        starts: Vec<OperatorId>,
        doors: &ThreadFedPorts<'_>,
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
            let stream_consumers = self.stream_consumers;
            let mut called: Vec<InPortId> = stream_consumers
                .streams_of(next)
                .flat_map(|stream| {
                    stream_consumers
                        .consumers_of(stream)
                        .iter()
                        .map(move |&to| (stream, to))
                })
                .filter(|(from, to)| {
                    self.pe_assignment.pe_of(to.operator) == Some(number)
                        && doors.is_called_directly(*from, *to)
                })
                .map(|(_, to)| to)
                .collect();
            // In order of the receivers, whichever port they are fed by.
            called.sort_unstable();
            open.extend(called.iter().rev().map(|to| to.operator));
        }
        let source = *operators.first()?;
        Some(Region { source, operators })
    }
}
