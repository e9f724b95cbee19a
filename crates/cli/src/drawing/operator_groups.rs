//! Operators that a drawing shows as one box: copies of one invocation that are joined alike.
//!
//! Operators begin in one group if they come from one invocation in the source, as the copies of a
//! parallel region and of a composite do. Groups are divided until all operators of a group have as
//! many streams of each kind to and from every other group (partition refinement), and so have
//! their processes. So a box of a group stands for each of its operators, and an arrow between two
//! boxes for the arrows of each.
//!
//! # Cost
//! A walk over the edges for each round; a round follows the longest way by one operator.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use graph::{OperatorId, PeId, Program};

use super::composite_levels::{CompositeLevel, composite_levels};
use super::drawn_plan::DrawnPlan;
use super::{DrawnEdge, StreamWay};

/// Operators up to which each has a box of its own.
const SINGLE_MAX: usize = 40;

/// Rounds of refinement at most; a program that needs more keeps a box for each operator.
const ROUNDS_MAX: usize = 200;

/// The groups of a program's operators and of a plan's PEs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OperatorGroups {
    /// The group of each operator.
    pub group_of: Vec<usize>,
    /// The operators of each group, in order; groups are in order of their first operators.
    pub operators: Vec<Vec<OperatorId>>,
    /// The PEs that each group of PEs stands for, in order.
    pub pes: Vec<Vec<PeId>>,
    /// The group of the PEs of each group of operators; `None` without a plan.
    pub pe_group_of: Vec<Option<usize>>,
    /// The composite that each group stands for with all its operators, if it is one.
    pub folded: Vec<Option<CompositeLevel>>,
    /// Whether any box stands for several operators, or might.
    pub are_collapsed: bool,
}

impl OperatorGroups {
    /// The groups of a program with these edges.
    pub fn new(program: &Program, plan: &DrawnPlan<'_>, edges: &[DrawnEdge]) -> OperatorGroups {
        let count = program.operators.len();
        let mut single: BTreeSet<usize> = BTreeSet::new();
        if count <= SINGLE_MAX {
            return OperatorGroups::of_colours(&(0..count).collect::<Vec<_>>(), None, plan);
        }
        loop {
            let Some(refined) = RefinedColours::new(program, plan, edges, &single) else {
                return OperatorGroups::of_colours(&(0..count).collect::<Vec<_>>(), None, plan);
            };
            let groups = OperatorGroups::of_colours(&refined.operators, Some(&refined.pes), plan);
            let joined = groups.joined_with_themselves(plan, edges);
            if joined.is_empty() {
                return OperatorGroups {
                    are_collapsed: true,
                    ..groups
                };
            }
            single.extend(joined);
        }
    }

    /// The groups of equal colours; PEs without colours are groups of one.
    fn of_colours(
        colours: &[usize],
        pe_colours: Option<&[usize]>,
        plan: &DrawnPlan<'_>,
    ) -> OperatorGroups {
        let mut number: HashMap<usize, usize> = HashMap::new();
        let mut groups = OperatorGroups::default();
        for (id, colour) in (0..).map(OperatorId).zip(colours) {
            let next = number.len();
            let group = *number.entry(*colour).or_insert(next);
            if group == next {
                groups.operators.push(Vec::new());
            }
            groups.operators[group].push(id);
            groups.group_of.push(group);
        }
        let mut number: HashMap<usize, usize> = HashMap::new();
        let mut pe_groups: HashMap<PeId, usize> = HashMap::new();
        for (at, (pe, _)) in plan.pes().enumerate() {
            let next = number.len();
            let colour = pe_colours.map_or(at, |colours| colours[at]);
            let group = *number.entry(colour).or_insert(next);
            if group == next {
                groups.pes.push(Vec::new());
            }
            groups.pes[group].push(pe);
            pe_groups.insert(pe, group);
        }
        let of = |operators: &Vec<OperatorId>| {
            let pe = plan.pe_of(*operators.first()?)?;
            pe_groups.get(&pe).copied()
        };
        groups.pe_group_of = groups.operators.iter().map(of).collect();
        groups.folded = vec![None; groups.operators.len()];
        groups
    }

    /// The groups with one for each composite within so many others, and for its part in each
    /// process.
    pub fn folded(self, program: &Program, depth: usize) -> OperatorGroups {
        let mut number = HashMap::new();
        let mut new_group_of = Vec::with_capacity(self.operators.len());
        let mut groups = OperatorGroups {
            pes: self.pes,
            are_collapsed: self.are_collapsed,
            ..OperatorGroups::default()
        };
        for (group, operators) in self.operators.iter().enumerate() {
            let composite = composite_levels(program, operators).into_iter().nth(depth);
            let alone = composite.is_none().then_some(group);
            let pe_group = self.pe_group_of[group];
            let next = number.len();
            let at = *number
                .entry((pe_group, composite.clone(), alone))
                .or_insert(next);
            if at == next {
                groups.operators.push(Vec::new());
                groups.pe_group_of.push(pe_group);
                groups.folded.push(composite);
            }
            groups.operators[at].extend(operators);
            new_group_of.push(at);
        }
        groups
            .operators
            .iter_mut()
            .for_each(|operators| operators.sort());
        let group_of = self.group_of.iter().map(|&group| new_group_of[group]);
        groups.group_of = group_of.collect();
        groups
    }

    /// Operators of groups that stand upstream of themselves: in a box they would look like a loop.
    fn joined_with_themselves(&self, plan: &DrawnPlan<'_>, edges: &[DrawnEdge]) -> Vec<usize> {
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); self.group_of.len()];
        for edge in edges {
            after[edge.from.0 as usize].push(edge.to.0 as usize);
        }
        let mut found = Vec::new();
        for (group, operators) in self.operators.iter().enumerate() {
            if operators.len() > 1 && self.reaches_itself(group, &after) {
                found.extend(operators.iter().map(|id| id.0 as usize));
            }
        }
        let pe_group = |id: OperatorId| {
            let group = self.pe_group_of[self.group_of[id.0 as usize]]?;
            Some((group, plan.pe_of(id)))
        };
        for edge in edges {
            let (from, to) = (pe_group(edge.from), pe_group(edge.to));
            let is_between = from.zip(to).is_some_and(|(a, b)| a.0 == b.0 && a.1 != b.1);
            if is_between {
                found.extend([edge.from.0 as usize, edge.to.0 as usize]);
            }
        }
        found
    }

    fn reaches_itself(&self, group: usize, after: &[Vec<usize>]) -> bool {
        let mut seen = vec![false; after.len()];
        let first = self.operators[group].iter();
        let mut open: Vec<usize> = first.map(|id| id.0 as usize).collect();
        while let Some(at) = open.pop() {
            for &next in &after[at] {
                if self.group_of[next] == group {
                    return true;
                }
                if !std::mem::replace(&mut seen[next], true) {
                    open.push(next);
                }
            }
        }
        false
    }
}

/// Colours of operators and PEs that no further round divides.
struct RefinedColours {
    operators: Vec<usize>,
    pes: Vec<usize>,
}

/// Colour of an operator at the other end of a stream, the port that it comes to, and its way.
type NeighbourKey = (bool, usize, u32, StreamWay);

impl RefinedColours {
    /// Colours of a program, where operators of `single` share theirs with none; `None` if there
    /// would be too many rounds.
    fn new(
        program: &Program,
        plan: &DrawnPlan<'_>,
        edges: &[DrawnEdge],
        single: &BTreeSet<usize>,
    ) -> Option<RefinedColours> {
        let operators = program.operators.iter().enumerate();
        let first = operators.map(|(at, operator)| {
            let pos = operator.pos;
            let ports = (operator.inputs.len(), operator.outputs.len());
            let alone = single.contains(&at).then_some(at);
            (
                &operator.kind,
                (pos.file, pos.line, pos.column),
                ports,
                alone,
            )
        });
        let mut operators = numbered(first.collect());
        let pes: Vec<PeId> = plan.pes().map(|(pe, _)| pe).collect();
        let mut pe_colours = numbered(plan.pes().map(|(_, pe)| pe.host.clone()).collect());
        for _ in 0..ROUNDS_MAX {
            let mut near: Vec<Vec<NeighbourKey>> = vec![Vec::new(); operators.len()];
            for edge in edges {
                let (from, to) = (edge.from.0 as usize, edge.to.0 as usize);
                let way = || edge.way.clone();
                near[from].push((true, operators[to], edge.port.0, way()));
                near[to].push((false, operators[from], edge.port.0, way()));
            }
            near.iter_mut().for_each(|keys| keys.sort());
            let pe_of = |at: usize| plan.pe_of(OperatorId(at as u32)).map(|pe| pe.0 as usize);
            let mut within: Vec<Vec<usize>> = vec![Vec::new(); pes.len()];
            for (at, colour) in operators.iter().enumerate() {
                if let Some(pe) = pe_of(at) {
                    within[pe].push(*colour);
                }
            }
            within
                .iter_mut()
                .for_each(|colours| colours.sort_unstable());
            let keys = near.into_iter().enumerate().map(|(at, near)| {
                let pe = pe_of(at).map(|pe| pe_colours[pe]);
                (operators[at], pe, near)
            });
            let next = numbered(keys.collect());
            let next_pes = numbered(pe_colours.iter().copied().zip(within).collect());
            let is_stable = (&next, &next_pes) == (&operators, &pe_colours);
            (operators, pe_colours) = (next, next_pes);
            if is_stable {
                return Some(RefinedColours {
                    operators,
                    pes: pe_colours,
                });
            }
        }
        None
    }
}

/// Numbers for keys, in order of their first appearance.
fn numbered<K: Ord>(keys: Vec<K>) -> Vec<usize> {
    let mut known: BTreeMap<K, usize> = BTreeMap::new();
    let mut numbers = Vec::with_capacity(keys.len());
    for key in keys {
        let next = known.len();
        numbers.push(*known.entry(key).or_insert(next));
    }
    numbers
}
