//! What is upstream of merges, and so has to say where its tuples stand.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::entries::{Entries, Need};
use super::{Ground, Merge, MergeInput, Origin, Way};
use crate::plan::flow::Consumer;
use crate::plan::pins::PinnedThread;
use crate::{Edge, OperatorId};

type Marks = BTreeSet<Origin>;

/// What was found so far.
pub(super) struct Upstream<'g, 'a> {
    ground: &'g Ground<'a>,
    entries: &'g Entries<'g, 'a>,
    crossings: BTreeMap<u32, Marks>,
    /// By unit and stream: what a merge takes.
    taken: BTreeMap<(usize, Source), Marks>,
    /// By port: queues that carry on an order, of operators without a merge.
    relays: BTreeMap<Consumer, Marks>,
    /// Those whose own streams were not yet looked at.
    new_relays: Vec<Consumer>,
    seen: HashSet<(OperatorId, Origin)>,
}

/// An edge's beginning, in order.
type Source = (OperatorId, u32);

impl<'g, 'a> Upstream<'g, 'a> {
    /// Nothing yet; but what a merge takes, it takes whether that has an order or not.
    pub fn new(ground: &'g Ground<'a>, entries: &'g Entries<'g, 'a>) -> Upstream<'g, 'a> {
        let mut taken = BTreeMap::new();
        for &unit in entries.merged.keys() {
            for (from, to) in entries.taken(unit) {
                if !matches!(ground.way(from, to), Way::Queue) {
                    taken.insert((unit, (from.operator, from.port)), Marks::new());
                }
            }
        }
        Upstream {
            ground,
            entries,
            crossings: BTreeMap::new(),
            taken,
            relays: BTreeMap::new(),
            new_relays: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Marks all that is upstream of where something has to come in order.
    pub fn mark(&mut self, need: Need) {
        self.mark_all(need);
        while let Some(to) = self.new_relays.pop() {
            self.mark_all(self.entries.relayed(to));
        }
    }

    fn mark_all(&mut self, need: Need) {
        for &origin in &need.origins {
            let mut open = need.edges.clone();
            while let Some((from, to)) = open.pop() {
                if self.edge(from, to, origin) {
                    self.before(from.operator, origin, &mut open);
                }
            }
        }
    }

    /// Marks an edge; whether what an origin began comes by it.
    fn edge(&mut self, from: Edge, to: Consumer, origin: Origin) -> bool {
        let ground = self.ground;
        if ground.origins.queue(to).is_some() || !ground.origins.of(from).contains(&origin) {
            return false;
        }
        if let Some(link) = ground.crossing(from, to) {
            self.crossings.entry(link).or_default().insert(origin);
        }
        let unit = ground.origins.units.of[to.operator.0 as usize];
        let is_inside = ground.origins.units.of[from.operator.0 as usize] == unit;
        if self.entries.takes(unit, to) && !is_inside {
            let source = (from.operator, from.port);
            self.taken.entry((unit, source)).or_default().insert(origin);
        } else if let Way::Relay = ground.way(from, to) {
            let marks = self.relays.entry(to).or_insert_with(|| {
                self.new_relays.push(to);
                Marks::new()
            });
            marks.insert(origin);
        }
        true
    }

    /// The edges that lead to an operator which submits what an origin began.
    fn before(&mut self, operator: OperatorId, origin: Origin, open: &mut Vec<(Edge, Consumer)>) {
        let ground = self.ground;
        if ground.origins.own(operator) == Some(origin) || !self.seen.insert((operator, origin)) {
            return;
        }
        let unit = ground.origins.units.of[operator.0 as usize];
        open.extend(self.entries.outside(unit));
    }

    /// The merges of each PE, and what each crossing is ordered by.
    pub fn found(self) -> (Vec<Vec<Merge>>, BTreeMap<u32, Vec<Origin>>) {
        let mut merges: Vec<Vec<Merge>> = vec![Vec::new(); self.ground.plan.pes.len()];
        let units = self.entries.merged.keys().map(|&unit| self.of_unit(unit));
        let relays = self.relays.keys().map(|&to| self.of_relay(to));
        for merge in units.chain(relays) {
            let first = merge.operators.first();
            let pe = first.and_then(|&first| self.ground.homes.of(first));
            if let Some(merges) = pe.and_then(|pe| merges.get_mut(pe as usize)) {
                merges.push(merge);
            }
        }
        for merges in &mut merges {
            merges.sort_by_key(|merge| merge.inputs.first().map(|input| input.consumers.clone()));
        }
        self.take_crossings(&mut merges);
        let crossings = self.crossings.into_iter();
        let crossings = crossings.map(|(link, marks)| (link, marks.into_iter().collect()));
        (merges, crossings.collect())
    }

    fn of_unit(&self, unit: usize) -> Merge {
        let edges: Vec<_> = self.entries.taken(unit).collect();
        let taken = self.taken.range((unit, (OperatorId(0), 0))..);
        let taken = taken.take_while(|((of, _), _)| *of == unit);
        let inputs = taken.map(|(&(_, (operator, port)), marks)| {
            let from = Edge { operator, port };
            let edges = edges.iter().filter(|(other, _)| *other == from);
            self.input(from, edges.map(|&(_, to)| to).collect(), marks)
        });
        let operators = self.ground.origins.units.all[unit].clone();
        self.merge(operators, inputs.collect())
    }

    fn of_relay(&self, to: Consumer) -> Merge {
        let port = &self.ground.program.operators[to.operator.0 as usize].inputs[to.port as usize];
        let marks = &self.relays[&to];
        let inputs = port
            .sources
            .iter()
            .map(|&from| self.input(from, vec![to], marks));
        self.merge(vec![to.operator], inputs.collect())
    }

    /// The consumers of a stream that a merge takes, without those behind a queue of their own.
    fn input(&self, from: Edge, consumers: Vec<Consumer>, marks: &Marks) -> MergeInput {
        let ground = self.ground;
        let has_order = |to: &Consumer| ground.origins.queue(*to).is_none();
        let mut consumers: Vec<Consumer> = consumers.into_iter().filter(has_order).collect();
        consumers.sort_unstable();
        let of = ground.origins.of(from);
        MergeInput {
            from,
            crossing: None,
            origins: marks.intersection(of).copied().collect(),
            consumers,
        }
    }

    fn merge(&self, operators: Vec<OperatorId>, mut inputs: Vec<MergeInput>) -> Merge {
        inputs.sort_by_key(|input| {
            (
                input.consumers.clone(),
                input.from.operator,
                input.from.port,
            )
        });
        let ports = inputs.iter().flat_map(|input| &input.consumers);
        let mut queues = ports.filter_map(|to| self.ground.queues.get(to));
        let core = queues.find_map(|queue| queue.core);
        let core = core.or_else(|| self.pinned(&operators, &inputs));
        Merge {
            operators,
            inputs,
            core,
        }
    }

    /// The core of a receiver whose place a merge takes.
    fn pinned(&self, operators: &[OperatorId], inputs: &[MergeInput]) -> Option<u32> {
        let pe = self.ground.homes.of(*operators.first()?)?;
        let pe = self.ground.plan.pes.get(pe as usize)?;
        let mut streams = inputs
            .iter()
            .map(|input| PinnedThread::Receiver(input.from));
        streams.find_map(|stream| pe.core_of(stream))
    }

    /// A crossing that only a merge wants goes straight to it.
    fn take_crossings(&self, merges: &mut [Vec<Merge>]) {
        let ground = self.ground;
        for (pe, merges) in (0..).zip(merges) {
            for input in merges.iter_mut().flat_map(|merge| &mut merge.inputs) {
                let Some(&link) = ground.links.get(&(input.from, pe)) else {
                    continue;
                };
                let consumers = ground.flow.of(input.from).iter();
                let mut near = consumers.filter(|to| ground.homes.of(to.operator) == Some(pe));
                if near.all(|to| input.consumers.contains(to)) {
                    input.crossing = Some(link);
                }
            }
        }
    }
}
