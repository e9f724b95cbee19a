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
use super::receivers::{Receiver, receivers};
use super::{Edge, Medium, OperatorId, Pe, Plan, Program, Region, Route};

impl Plan {
    /// Works out edges, regions and shared operators anew.
    pub fn derive(&mut self, program: &Program) {
        let flow = Flow::new(program);
        let homes = Homes::new(self, program.operators.len());
        let receivers = receivers(self, &flow, &homes);
        let links = self.links();
        let mut walk = Walk {
            flow: &flow,
            homes: &homes,
            seen: vec![0; program.operators.len()],
            walks: 0,
        };
        for (number, receivers) in (0..).zip(&receivers) {
            let starts = walk.starts(program, self, number, receivers);
            let threaded = self.pes[number as usize].queues();
            let regions = starts.into_iter();
            let regions = regions.filter_map(|starts| walk.region(number, starts, &threaded));
            let regions: Vec<Region> = regions.collect();
            let pe = &mut self.pes[number as usize];
            pe.edges = edges(program, number, pe, &homes, &links);
            pe.shared = shared(&regions);
            pe.regions = regions;
        }
    }

    /// The receivers of each PE, in order of their first crossings.
    pub fn receivers(&self, program: &Program) -> Vec<Vec<Receiver>> {
        let homes = Homes::new(self, program.operators.len());
        receivers(self, &Flow::new(program), &homes)
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

impl Pe {
    /// The ports that have a queue.
    fn queues(&self) -> HashSet<Consumer> {
        let ports = self.threaded.iter().map(|queue| Consumer {
            operator: queue.operator,
            port: queue.port,
        });
        ports.collect()
    }
}

/// Every edge that ends in a PE.
fn edges(
    program: &Program,
    number: u32,
    pe: &Pe,
    homes: &Homes,
    links: &HashMap<(Edge, u32), u32>,
) -> Vec<Route> {
    let queues = pe.queues();
    let mut edges = Vec::new();
    for &operator in &pe.operators {
        let inputs = program.operators.get(operator.0 as usize);
        let inputs = inputs.map_or(&[][..], |operator| &operator.inputs);
        for (port, input) in (0..).zip(inputs) {
            for &from in &input.sources {
                let is_near = homes.of(from.operator) == Some(number);
                let medium = match links.get(&(from, number)) {
                    _ if is_near && queues.contains(&Consumer { operator, port }) => Medium::Queue,
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
    ) -> Vec<Vec<OperatorId>> {
        let pe = &plan.pes[number as usize];
        let queues = pe.queues();
        let is_source = |id: &&OperatorId| {
            let operator = program.operators.get(id.0 as usize);
            operator.is_some_and(|operator| operator.inputs.is_empty())
        };
        let sources = pe.operators.iter().filter(is_source).map(|&id| vec![id]);
        let threaded = pe.threaded.iter().map(|queue| vec![queue.operator]);
        let received = receivers.iter().map(|receiver| {
            let links = receiver.links.iter();
            let streams = links.map(|&link| plan.crossings[link as usize].from);
            let consumers = streams.flat_map(|stream| self.flow.of(stream));
            let direct = consumers.filter(|to| self.homes.of(to.operator) == Some(number));
            let direct = direct.filter(|to| !queues.contains(to));
            direct.map(|to| to.operator).collect()
        });
        sources.chain(threaded).chain(received).collect()
    }

    /// What a thread runs that calls these operators.
    fn region(
        &mut self,
        number: u32,
        starts: Vec<OperatorId>,
        queues: &HashSet<Consumer>,
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
                .flat_map(|stream| flow.of(stream).iter().copied())
                .filter(|to| self.homes.of(to.operator) == Some(number) && !queues.contains(to))
                .collect();
            // In order of the receivers, whichever port they are fed by.
            called.sort_unstable();
            open.extend(called.iter().rev().map(|to| to.operator));
        }
        let source = *operators.first()?;
        Some(Region { source, operators })
    }
}
