//! The choices of a plan that the cost model needs: processes, queues and hosts.

use graph::{OperatorId, PeAssignment, Plan};

use super::load_graph::LoadGraph;

/// The process of each unit and the queues before input ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSketch {
    /// PE of each unit of the [`LoadGraph`].
    pub pe_of: Vec<u32>,
    /// Whether each port of the graph has a queue.
    pub is_queued: Vec<bool>,
    /// Host of each PE by number; a PE beyond the end is on host 0.
    pub host_of: Vec<u32>,
}

impl PlanSketch {
    /// All units in one PE, with the queues that the program always has.
    pub fn fused(graph: &LoadGraph) -> PlanSketch {
        PlanSketch {
            pe_of: vec![0; graph.units.len()],
            is_queued: graph
                .ports
                .iter()
                .map(|port| port.is_always_queued)
                .collect(),
            host_of: Vec::new(),
        }
    }

    /// The choices of a complete plan. The hosts `known` have their numbers there, others follow.
    pub fn of_plan(graph: &LoadGraph, plan: &Plan, known: &[&str]) -> PlanSketch {
        let assignment = PeAssignment::new(plan, graph.unit_of.len());
        let pe_of = |id: OperatorId| assignment.pe_of(id).map_or(0, |pe| pe.0);
        let queued = plan.pes.iter().flat_map(|pe| &pe.threaded_ports);
        let queued: std::collections::HashSet<_> = queued.map(|queue| queue.in_port()).collect();
        let mut hosts: Vec<Option<&str>> = known.iter().copied().map(Some).collect();
        let host_of = plan.pes.iter().map(|pe| {
            let name = pe.host.as_deref();
            let number = hosts.iter().position(|host| *host == name);
            number.unwrap_or_else(|| {
                hosts.push(name);
                hosts.len() - 1
            }) as u32
        });
        PlanSketch {
            host_of: host_of.collect(),
            pe_of: graph
                .units
                .iter()
                .map(|unit| pe_of(unit.operators[0]))
                .collect(),
            is_queued: graph
                .ports
                .iter()
                .map(|port| queued.contains(&port.id))
                .collect(),
        }
    }

    /// The host of a PE.
    pub fn host(&self, pe: u32) -> u32 {
        self.host_of.get(pe as usize).copied().unwrap_or_default()
    }

    /// Puts a PE onto a host.
    pub fn set_host(&mut self, pe: u32, host: u32) {
        if self.host_of.len() <= pe as usize {
            self.host_of.resize(pe as usize + 1, 0);
        }
        self.host_of[pe as usize] = host;
    }

    /// Number of processes that have units.
    pub fn pe_count(&self) -> usize {
        let mut pes = self.pe_of.clone();
        pes.sort_unstable();
        pes.dedup();
        pes.len()
    }
}
