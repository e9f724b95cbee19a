//! What follows from a plan's choices: the edges with their media, the regions, what is shared.
//!
//! Chosen are the operators of the PEs, their threaded ports, and the crossings. Everything else is
//! worked out here, and again whenever something was changed.
//!
//! # Cost
//! A walk over the edges, and one over what each thread reaches.

use std::collections::{HashMap, HashSet};

use super::flow::{Consumer, Flow};
use super::homes::Homes;
use super::order::Merge;
use super::receivers::Receiver;
use super::{Edge, Medium, OperatorId, Pe, Plan, Program, Region, Route, ThreadedPort};

impl Plan {
    /// Works out edges, regions and shared operators anew.
    pub fn derive(&mut self, program: &Program) {
        let flow = Flow::new(program);
        let homes = Homes::new(self, program.operators.len());
        let order = self.order(program);
        let links = self.links();
        let mut walk = Walk {
            flow: &flow,
            homes: &homes,
            seen: vec![0; program.operators.len()],
            walks: 0,
        };
        for number in 0..self.pes.len() as u32 {
            let doors = Doors::new(&self.pes[number as usize], &order.merges[number as usize]);
            let receivers = &order.receivers[number as usize];
            let starts = walk.starts(program, self, number, receivers, &doors);
            let regions = starts.into_iter();
            let regions = regions.filter_map(|starts| walk.region(number, starts, &doors));
            let regions: Vec<Region> = regions.collect();
            let pe = &mut self.pes[number as usize];
            pe.edges = edges(program, number, pe, &homes, &links, &doors);
            pe.shared = shared(&regions);
            pe.regions = regions;
        }
    }

    /// The receivers of each PE, in order of their first crossings.
    pub fn receivers(&self, program: &Program) -> Vec<Vec<Receiver>> {
        self.order(program).receivers
    }

    /// The crossing that brings a stream into a PE.
    pub fn links(&self) -> HashMap<(Edge, u32), u32> {
        let all = (0..).zip(&self.crossings).flat_map(|(link, crossing)| {
            let to = crossing.to.iter();
            to.map(move |&pe| ((crossing.from, pe), link))
        });
        all.collect()
    }
}

/// The ports of a PE that a thread of its own feeds.
struct Doors<'o> {
    /// Those of queues.
    queues: HashSet<Consumer>,
    /// Those of merges: the edges that they take.
    merged: HashSet<(Edge, Consumer)>,
    merges: &'o [Merge],
}

impl<'o> Doors<'o> {
    fn new(pe: &Pe, merges: &'o [Merge]) -> Doors<'o> {
        let mut merged = HashSet::new();
        for input in merges.iter().flat_map(|merge| &merge.inputs) {
            merged.extend(input.consumers.iter().map(|&to| (input.from, to)));
        }
        let ports: HashSet<Consumer> = merged.iter().map(|&(_, to)| to).collect();
        let queues = pe.threaded.iter().map(ThreadedPort::consumer);
        Doors {
            queues: queues.filter(|to| !ports.contains(to)).collect(),
            merged,
            merges,
        }
    }

    /// Whether a stream of the PE gets to a port by a call.
    fn is_open(&self, from: Edge, to: Consumer) -> bool {
        !self.queues.contains(&to) && !self.merged.contains(&(from, to))
    }
}

/// Every edge that ends in a PE.
fn edges(
    program: &Program,
    number: u32,
    pe: &Pe,
    homes: &Homes,
    links: &HashMap<(Edge, u32), u32>,
    doors: &Doors<'_>,
) -> Vec<Route> {
    let mut edges = Vec::new();
    for &operator in &pe.operators {
        let inputs = program.operators.get(operator.0 as usize);
        let inputs = inputs.map_or(&[][..], |operator| &operator.inputs);
        for (port, input) in (0..).zip(inputs) {
            for &from in &input.sources {
                let is_near = homes.of(from.operator) == Some(number);
                let to = Consumer { operator, port };
                let medium = match links.get(&(from, number)) {
                    _ if is_near && doors.merged.contains(&(from, to)) => Medium::Merge,
                    _ if is_near && doors.queues.contains(&to) => Medium::Queue,
                    _ if is_near => Medium::Fused,
                    Some(&link) => Medium::Crossing(link),
                    None => continue,
                };
                edges.push(Route {
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
fn shared(regions: &[Region]) -> Vec<OperatorId> {
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

struct Walk<'a> {
    flow: &'a Flow,
    homes: &'a Homes,
    /// The last walk that came by each operator.
    seen: Vec<u32>,
    walks: u32,
}

impl Walk<'_> {
    /// Where the threads of a PE begin: sources, threaded ports, receivers. One that only fills
    /// queues begins nowhere.
    fn starts(
        &self,
        program: &Program,
        plan: &Plan,
        number: u32,
        receivers: &[Receiver],
        doors: &Doors<'_>,
    ) -> Vec<Vec<OperatorId>> {
        let pe = &plan.pes[number as usize];
        let is_source = |id: &&OperatorId| {
            let operator = program.operators.get(id.0 as usize);
            operator.is_some_and(|operator| operator.inputs.is_empty())
        };
        let sources = pe.operators.iter().filter(is_source).map(|&id| vec![id]);
        let threaded = pe.threaded.iter().map(ThreadedPort::consumer);
        let threaded = threaded.filter(|to| doors.queues.contains(to));
        let threaded = threaded.map(|to| vec![to.operator]);
        let merged = doors.merges.iter().map(|merge| {
            let consumers = merge.inputs.iter().flat_map(|input| &input.consumers);
            consumers.map(|to| to.operator).collect()
        });
        let received = receivers.iter().map(|receiver| {
            let links = receiver.links.iter();
            let streams = links.map(|&link| plan.crossings[link as usize].from);
            let consumers =
                streams.flat_map(|from| self.flow.of(from).iter().map(move |to| (from, to)));
            let near = consumers.filter(|(_, to)| self.homes.of(to.operator) == Some(number));
            let direct = near.filter(|(from, to)| doors.is_open(*from, **to));
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
        doors: &Doors<'_>,
    ) -> Option<Region> {
        self.walks += 1;
        let mut operators = Vec::new();
        let mut open = starts;
        open.reverse();
        while let Some(next) = open.pop() {
            let seen = self.seen.get_mut(next.0 as usize)?;
            if std::mem::replace(seen, self.walks) == self.walks {
                continue;
            }
            operators.push(next);
            let flow = self.flow;
            let mut called: Vec<Consumer> = flow
                .streams(next)
                .flat_map(|stream| flow.of(stream).iter().map(move |&to| (stream, to)))
                .filter(|(from, to)| {
                    self.homes.of(to.operator) == Some(number) && doors.is_open(*from, *to)
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
