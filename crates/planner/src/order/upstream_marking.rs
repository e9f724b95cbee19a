//! Crossings and queues upstream of merges, which have to carry the positions of their tuples.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use graph::{
    CrossingId, InPortId, Merge, MergeInput, OperatorId, OriginId, OutPortId, PeId, PinnedThread,
    PortIndex,
};

use super::arrival_analysis::{ArrivalAnalysis, OrderRequirement};
use super::order_context::{EdgeTransfer, OrderContext};

/// The origins that something is ordered by.
type OriginSet = BTreeSet<OriginId>;

/// The edges marked so far, each with the origins that it is ordered by.
pub(super) struct UpstreamMarking<'g, 'a> {
    context: &'g OrderContext<'a>,
    arrivals: &'g ArrivalAnalysis<'g, 'a>,
    /// The crossings that carry positions.
    crossings: BTreeMap<CrossingId, OriginSet>,
    /// The streams that merges take, by unit and stream.
    merge_streams: BTreeMap<(usize, OutPortKey), OriginSet>,
    /// Queues that keep an order, of operators without a merge, by the port that each feeds.
    relays: BTreeMap<InPortId, OriginSet>,
    /// The relays whose own streams are not marked yet.
    new_relays: Vec<InPortId>,
    /// Operators with the origins for which the edges into them are marked.
    visited: HashSet<(OperatorId, OriginId)>,
}

/// The output port of an edge, as operator and port: ordered, which `OutPortId` is not.
type OutPortKey = (OperatorId, PortIndex);

impl<'g, 'a> UpstreamMarking<'g, 'a> {
    /// A marking of no edges. The streams that merges take are known already: a merge takes them
    /// whether they have an order or not.
    pub fn new(
        context: &'g OrderContext<'a>,
        arrivals: &'g ArrivalAnalysis<'g, 'a>,
    ) -> UpstreamMarking<'g, 'a> {
        let mut merge_streams = BTreeMap::new();
        for &unit in arrivals.contested_units.keys() {
            for (from, to) in arrivals.merged_edges(unit) {
                if !matches!(context.transfer(from, to), EdgeTransfer::OwnOrderQueue) {
                    merge_streams.insert((unit, (from.operator, from.port)), OriginSet::new());
                }
            }
        }
        UpstreamMarking {
            context,
            arrivals,
            crossings: BTreeMap::new(),
            merge_streams,
            relays: BTreeMap::new(),
            new_relays: Vec::new(),
            visited: HashSet::new(),
        }
    }

    /// Marks all edges upstream of a requirement.
    pub fn mark(&mut self, requirement: OrderRequirement) {
        self.mark_all(requirement);
        while let Some(to) = self.new_relays.pop() {
            self.mark_all(self.arrivals.relay_requirement(to));
        }
    }

    fn mark_all(&mut self, requirement: OrderRequirement) {
        for &origin in &requirement.origins {
            let mut open = requirement.edges.clone();
            while let Some((from, to)) = open.pop() {
                if self.mark_edge(from, to, origin) {
                    self.push_edges_into(from.operator, origin, &mut open);
                }
            }
        }
    }

    /// Marks an edge, if tuples of an origin come by it; returns whether they do.
    fn mark_edge(&mut self, from: OutPortId, to: InPortId, origin: OriginId) -> bool {
        let context = self.context;
        if context.origins.of_queue(to).is_some()
            || !context.origins.of_stream(from).contains(&origin)
        {
            return false;
        }
        if let Some(crossing_id) = context.crossing_to(from, to) {
            self.crossings
                .entry(crossing_id)
                .or_default()
                .insert(origin);
        }
        let unit = context.origins.units.unit_of[to.operator.0 as usize];
        let is_inside = context.origins.units.unit_of[from.operator.0 as usize] == unit;
        if self.arrivals.merges_port(unit, to) && !is_inside {
            let source = (from.operator, from.port);
            self.merge_streams
                .entry((unit, source))
                .or_default()
                .insert(origin);
        } else if let EdgeTransfer::RelayQueue = context.transfer(from, to) {
            let marks = self.relays.entry(to).or_insert_with(|| {
                self.new_relays.push(to);
                OriginSet::new()
            });
            marks.insert(origin);
        }
        true
    }

    /// Adds to `open` the edges into the unit of an operator that submits tuples of an origin.
    fn push_edges_into(
        &mut self,
        operator: OperatorId,
        origin: OriginId,
        open: &mut Vec<(OutPortId, InPortId)>,
    ) {
        let context = self.context;
        if context.origins.of_operator(operator) == Some(origin)
            || !self.visited.insert((operator, origin))
        {
            return;
        }
        let unit = context.origins.units.unit_of[operator.0 as usize];
        open.extend(self.arrivals.edges_into(unit));
    }

    /// The merges of each PE, and the origins that each crossing is ordered by.
    pub fn into_merges(self) -> (Vec<Vec<Merge>>, BTreeMap<CrossingId, Vec<OriginId>>) {
        let mut merges: Vec<Vec<Merge>> = vec![Vec::new(); self.context.plan.pes.len()];
        let units = self
            .arrivals
            .contested_units
            .keys()
            .map(|&unit| self.merge_of_unit(unit));
        let relays = self.relays.keys().map(|&to| self.merge_of_relay(to));
        for merge in units.chain(relays) {
            let first = merge.operators.first();
            let pe = first.and_then(|&first| self.context.pe_assignment.pe_of(first));
            if let Some(merges) = pe.and_then(|pe| merges.get_mut(pe.0 as usize)) {
                merges.push(merge);
            }
        }
        for merges in &mut merges {
            merges.sort_by_key(|merge| merge.inputs.first().map(|input| input.consumers.clone()));
        }
        self.assign_direct_crossings(&mut merges);
        let crossings = self.crossings.into_iter();
        let crossings =
            crossings.map(|(crossing_id, marks)| (crossing_id, marks.into_iter().collect()));
        (merges, crossings.collect())
    }

    fn merge_of_unit(&self, unit: usize) -> Merge {
        let edges: Vec<_> = self.arrivals.merged_edges(unit).collect();
        let taken = self
            .merge_streams
            .range((unit, (OperatorId(0), PortIndex(0)))..);
        let taken = taken.take_while(|((of, _), _)| *of == unit);
        let inputs = taken.map(|(&(_, (operator, port)), marks)| {
            let from = OutPortId { operator, port };
            let edges = edges.iter().filter(|(other, _)| *other == from);
            self.merge_input(from, edges.map(|&(_, to)| to).collect(), marks)
        });
        let operators = self.context.origins.units.operators_of[unit].clone();
        self.new_merge(operators, inputs.collect())
    }

    fn merge_of_relay(&self, to: InPortId) -> Merge {
        let port = &self.context.program.operators[to.operator.0 as usize].inputs[to.port.index()];
        let marks = &self.relays[&to];
        let inputs = port
            .sources
            .iter()
            .map(|&from| self.merge_input(from, vec![to], marks));
        self.new_merge(vec![to.operator], inputs.collect())
    }

    /// A stream that a merge takes, without the consumers behind a queue that is an origin.
    fn merge_input(
        &self,
        from: OutPortId,
        consumers: Vec<InPortId>,
        marks: &OriginSet,
    ) -> MergeInput {
        let context = self.context;
        let has_order = |to: &InPortId| context.origins.of_queue(*to).is_none();
        let mut consumers: Vec<InPortId> = consumers.into_iter().filter(has_order).collect();
        consumers.sort_unstable();
        let of = context.origins.of_stream(from);
        MergeInput {
            from,
            crossing: None,
            origins: marks.intersection(of).copied().collect(),
            consumers,
        }
    }

    fn new_merge(&self, operators: Vec<OperatorId>, mut inputs: Vec<MergeInput>) -> Merge {
        inputs.sort_by_key(|input| {
            (
                input.consumers.clone(),
                input.from.operator,
                input.from.port,
            )
        });
        let ports = inputs.iter().flat_map(|input| &input.consumers);
        let mut queues = ports.filter_map(|to| self.context.queues.get(to));
        let core = queues.find_map(|queue| queue.core);
        let core = core.or_else(|| self.replaced_receiver_core(&operators, &inputs));
        Merge {
            operators,
            inputs,
            core,
        }
    }

    /// The core of a receiver that a merge replaces.
    fn replaced_receiver_core(
        &self,
        operators: &[OperatorId],
        inputs: &[MergeInput],
    ) -> Option<u32> {
        let pe = self.context.pe_assignment.pe_of(*operators.first()?)?;
        let pe = self.context.plan.pes.get(pe.0 as usize)?;
        let mut streams = inputs
            .iter()
            .map(|input| PinnedThread::Receiver(input.from));
        streams.find_map(|stream| pe.core_of(stream))
    }

    /// Lets a merge read a crossing itself if no other operator of the PE takes the crossing's
    /// stream.
    fn assign_direct_crossings(&self, merges: &mut [Vec<Merge>]) {
        let context = self.context;
        for (pe, merges) in (0..).map(PeId).zip(merges) {
            for input in merges.iter_mut().flat_map(|merge| &mut merge.inputs) {
                let Some(&crossing_id) = context.crossing_index.get(&(input.from, pe)) else {
                    continue;
                };
                let consumers = context.stream_consumers.consumers_of(input.from).iter();
                let mut near =
                    consumers.filter(|to| context.pe_assignment.pe_of(to.operator) == Some(pe));
                if near.all(|to| input.consumers.contains(to)) {
                    input.crossing = Some(crossing_id);
                }
            }
        }
    }
}
