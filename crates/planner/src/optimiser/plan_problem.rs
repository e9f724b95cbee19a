//! The problem that the optimiser solves: a program's blocks, what binds them, and their costs.

use std::collections::{BTreeMap, BTreeSet};

use graph::{OperatorId, Program, ThreadedPort};

use super::partition_graph::PartitionGraph;
use super::plan_score::PlanScore;
use crate::choice::{PlanError, PlanGoal, PlanOptions};
use crate::completion::plan_of_pes;
use crate::cost_model::{PlanModel, PlanSketch};
use crate::fusion::PlacementRules;
use crate::hosts::HostRules;
use crate::streams::StreamConsumers;
use crate::threaded_ports::waiting_queue;

/// A program to be planned, with its model and the rules of its placements.
pub struct PlanProblem<'a> {
    /// Model by which plans are scored.
    pub model: &'a PlanModel<'a>,
    /// Rules that no plan breaks.
    pub rules: PlacementRules<'a>,
    /// Rules for hosts; `None` if all processes are on one host.
    pub hosts: Option<HostRules>,
    /// Number that is to be best.
    pub goal: PlanGoal,
    /// The block of each unit.
    pub block_of: Vec<usize>,
    /// The units of each block, upstream first.
    pub units_of: Vec<Vec<usize>>,
    /// The blocks that each block has streams with, in order.
    pub near: Vec<Vec<usize>>,
}

impl<'a> PlanProblem<'a> {
    /// The problem of a program.
    ///
    /// # Errors
    /// All placements of the program that contradict each other, or that its hosts cannot keep.
    pub fn new(
        (program, options): (&'a Program, &PlanOptions<'_>),
        stream_consumers: &StreamConsumers,
        model: &'a PlanModel<'a>,
        goal: PlanGoal,
    ) -> Result<PlanProblem<'a>, Vec<PlanError>> {
        let rules = PlacementRules::new(program, stream_consumers)?;
        let hosts = match options.hosts {
            [] => None,
            hosts => Some(HostRules::new(program, &rules, hosts)?),
        };
        let graph = &model.graph;
        // Blocks are numbered anew, in order of their first units.
        let mut number = vec![None; rules.block_count()];
        let mut units_of: Vec<Vec<usize>> = Vec::new();
        let mut block_of = Vec::with_capacity(graph.units.len());
        for (at, unit) in graph.units.iter().enumerate() {
            let block = rules.block_of()[unit.operators[0].0 as usize];
            let block = *number[block].get_or_insert_with(|| {
                units_of.push(Vec::new());
                units_of.len() - 1
            });
            units_of[block].push(at);
            block_of.push(block);
        }
        let partition = PartitionGraph::new(graph, &block_of, units_of.len());
        let near = partition.edges.iter();
        let near = near.map(|edges| edges.iter().map(|edge| edge.to).collect());
        Ok(PlanProblem {
            near: near.collect(),
            model,
            rules,
            hosts,
            goal,
            block_of,
            units_of,
        })
    }

    /// The graph of the blocks, for partitioning.
    pub fn partition_graph(&self) -> PartitionGraph {
        PartitionGraph::new(&self.model.graph, &self.block_of, self.units_of.len())
    }

    /// The score of some choices on the media that streams probably get.
    pub fn score(&self, sketch: &PlanSketch) -> PlanScore {
        PlanScore::new(self.model, &self.model.graph.costs, sketch, self.goal)
    }

    /// Edges that are visited for a score: the work of a search is counted in them.
    pub fn score_edges(&self) -> u64 {
        let inputs = self
            .model
            .graph
            .units
            .iter()
            .map(|unit| unit.inputs.len() as u64 + 1);
        inputs.sum()
    }

    /// Whether choices keep all rules of the placements.
    pub fn is_allowed(&self, sketch: &PlanSketch) -> bool {
        let are_hosts_allowed = |hosts: &HostRules| {
            let pe_of = self.pe_of_blocks(sketch);
            hosts.allow(|block| pe_of[block], |pe| sketch.host(pe))
        };
        self.is_allowed_up_to(sketch, self.model.graph.units.len())
            && self.hosts.as_ref().is_none_or(are_hosts_allowed)
    }

    /// The process of each block of the placement rules.
    fn pe_of_blocks(&self, sketch: &PlanSketch) -> Vec<u32> {
        let mut pe_of = vec![0; self.rules.block_count()];
        for (at, unit) in self.model.graph.units.iter().enumerate() {
            pe_of[self.rules.block_of()[unit.operators[0].0 as usize]] = sketch.pe_of[at];
        }
        pe_of
    }

    /// Choices with a host for each process, if they keep all rules then. The work of the processes
    /// is divided over the cores of the hosts as far as the rules allow.
    pub fn placed(&self, mut sketch: PlanSketch) -> Option<PlanSketch> {
        if let Some(hosts) = &self.hosts {
            let mut work: BTreeMap<u32, f64> = BTreeMap::new();
            for (unit, pe) in self.model.graph.units.iter().zip(&sketch.pe_of) {
                *work.entry(*pe).or_default() += unit.work_ns;
            }
            let pe_of = self.pe_of_blocks(&sketch);
            for (pe, host) in hosts.place(|block| pe_of[block], &work)? {
                sketch.set_host(pe, host);
            }
        }
        self.is_allowed(&sketch).then_some(sketch)
    }

    /// Processes that have to be on the host of one process, with that one.
    pub fn on_host_with(&self, sketch: &PlanSketch, pe: u32) -> BTreeSet<u32> {
        match &self.hosts {
            Some(hosts) => {
                let pe_of = self.pe_of_blocks(sketch);
                hosts.together(&[pe], |block| pe_of[block])
            }
            None => BTreeSet::from([pe]),
        }
    }

    /// A plan whose processes, which are those of a sketch, are on the hosts of the sketch.
    pub fn with_hosts(&self, mut plan: graph::Plan, sketch: &PlanSketch) -> graph::Plan {
        if self.hosts.is_none() {
            return plan;
        }
        for (number, pe) in (0..).zip(&mut plan.pes) {
            let name = self.model.host_names.get(sketch.host(number) as usize);
            pe.host = name.map(|name| (*name).into());
        }
        plan
    }

    /// Whether the choices for the first `units` units keep the rules.
    pub fn is_allowed_up_to(&self, sketch: &PlanSketch, units: usize) -> bool {
        if self.rules.are_free() {
            return true;
        }
        let mut pe_of = vec![None; self.rules.block_count()];
        for (at, unit) in self.model.graph.units[..units].iter().enumerate() {
            let block = self.rules.block_of()[unit.operators[0].0 as usize];
            let pe = sketch.pe_of[at];
            if *pe_of[block].get_or_insert(pe) != pe {
                return false;
            }
        }
        self.rules.allow(|block| pe_of[block])
    }

    /// The plan of some choices: its processes and queues, without crossings. Processes are
    /// numbered in order of their first operators.
    pub fn plan(&self, sketch: &PlanSketch) -> graph::Plan {
        let graph = &self.model.graph;
        let operators = self.model.program.operators.len() as u32;
        let mut pes: Vec<Vec<OperatorId>> = Vec::new();
        let mut renumbered = sketch.clone();
        let mut number = std::collections::HashMap::new();
        for id in (0..operators).map(OperatorId) {
            let pe = sketch.pe_of[graph.unit_of[id.0 as usize]];
            let pe = *number.entry(pe).or_insert_with(|| {
                renumbered.set_host(pes.len() as u32, sketch.host(pe));
                pes.push(Vec::new());
                pes.len() - 1
            });
            pes[pe].push(id);
        }
        let mut plan = plan_of_pes(pes);
        for (port, _) in graph
            .ports
            .iter()
            .zip(&sketch.is_queued)
            .filter(|(port, is_queued)| **is_queued && !port.is_always_queued)
        {
            let pe = number[&sketch.pe_of[port.unit]];
            let queue: ThreadedPort = waiting_queue(port.id);
            plan.pes[pe].threaded_ports.push(queue);
        }
        self.with_hosts(plan, &renumbered)
    }
}
