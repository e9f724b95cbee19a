//! Placements that contradict each other: operators that have to be together and apart.
//!
//! Contradictions are looked for in this order: operators of one process against exlocation of
//! partitions and of hosts and against isolation, then against the hosts that they are placed on;
//! then operators of one host against exlocation and named hosts; then operators that can be
//! restarted or relocated against others that cannot. Each group has at most one finding of a kind.

use std::collections::HashMap;

use graph::{OperatorNode, Pos, Program};

use super::placement::{OperatorPlacement, PlacementValue, are_different_hosts};
use crate::choice::PlanError;
use crate::streams::{DisjointSets, StreamConsumers};

/// All contradictions in the placements of a program; `together` has the operators that have to
/// share a process.
pub(super) fn find(
    program: &Program,
    stream_consumers: &StreamConsumers,
    placements: &[OperatorPlacement<'_>],
    together: &DisjointSets,
) -> Vec<PlanError> {
    let operators = &program.operators;
    let finder = ContradictionFinder {
        operators,
        heads: operators.iter().map(|operator| operator.pos).collect(),
        loops: stream_consumers.loops(),
        placements,
    };
    finder.find_all(together)
}

/// The contradictions in the config of operators, on any plan: loops are left out, as SPL lets a
/// loop lead through several processes. `positions` has for each operator its own position and
/// those of its config entries, for the errors.
pub fn in_config(operators: &[OperatorNode], positions: &[(Pos, Vec<Pos>)]) -> Vec<PlanError> {
    let all = operators.iter().zip(positions);
    let placements = all.map(|(operator, (_, config))| {
        let config = config.iter().copied();
        OperatorPlacement::with_positions(operator, config)
    });
    let placements: Vec<_> = placements.collect();
    let sets = process_sets(&placements, DisjointSets::new(placements.len()));
    let finder = ContradictionFinder {
        operators,
        heads: positions.iter().map(|(head, _)| *head).collect(),
        loops: vec![None; placements.len()],
        placements: &placements,
    };
    finder.find_all(&sets)
}

/// The operators that have to share a process: those of one set of `sets`, of one
/// `partitionColocation`, and all of a host that a `hostIsolation` keeps for one process.
pub(super) fn process_sets(
    placements: &[OperatorPlacement<'_>],
    mut sets: DisjointSets,
) -> DisjointSets {
    join_equal(placements, &mut sets, |p| p.colocation);
    for set in host_sets(placements, sets.clone()).sets() {
        if set
            .iter()
            .any(|&at| placements[at].host_isolation.is_some())
        {
            set.iter().for_each(|&at| sets.join(set[0], at));
        }
    }
    sets
}

/// The operators that have to be on one host: those of one set of `together`, and those of one
/// `hostColocation`.
pub(super) fn host_sets(
    placements: &[OperatorPlacement<'_>],
    mut together: DisjointSets,
) -> DisjointSets {
    join_equal(placements, &mut together, |p| p.host_colocation);
    together
}

/// Joins operators that have equal values in a field of their placements.
fn join_equal<'a>(
    placements: &[OperatorPlacement<'a>],
    sets: &mut DisjointSets,
    of: fn(&OperatorPlacement<'a>) -> Option<PlacementValue<'a>>,
) {
    let mut first = HashMap::new();
    for (at, placement) in placements.iter().enumerate() {
        if let Some(constraint) = of(placement) {
            sets.join(*first.entry(constraint.value).or_insert(at), at);
        }
    }
}

const PROCESS: &str = "process";
const HOST: &str = "host";

/// A field of placements, as its getter.
type PlacementField<'a> = fn(&OperatorPlacement<'a>) -> Option<PlacementValue<'a>>;

/// An operator and the placement that its config asks for.
#[derive(Clone, Copy)]
struct PlacementConstraint<'a> {
    operator: usize,
    value: PlacementValue<'a>,
}

/// The reason why two operators have to be together.
enum ColocationReason<'a> {
    /// Both name one id.
    Config(PlacementValue<'a>, PlacementValue<'a>),
    /// Both name one host, which a third operator keeps for one process.
    IsolatedHost(
        PlacementValue<'a>,
        PlacementValue<'a>,
        PlacementConstraint<'a>,
    ),
    Loop,
    /// Others are together with each of them.
    Indirect,
}

struct ContradictionFinder<'p, 'a> {
    operators: &'p [OperatorNode],
    /// The position of each operator.
    heads: Vec<Pos>,
    loops: Vec<Option<u32>>,
    placements: &'p [OperatorPlacement<'a>],
}

impl<'a> ContradictionFinder<'_, 'a> {
    /// All contradictions; `together` has the operators that have to share a process.
    fn find_all(&self, together: &DisjointSets) -> Vec<PlanError> {
        let mut process = together.clone();
        let sets = together.clone().sets();
        let mut found = Vec::new();
        for set in &sets {
            found.extend(self.find_equal(set, |p| p.exlocation, PROCESS));
            found.extend(self.find_equal(set, |p| p.host_exlocation, PROCESS));
            found.extend(self.find_isolated(set));
            found.extend(self.find_host_conflict(set, PROCESS));
        }
        for set in host_sets(self.placements, together.clone()).sets() {
            let first = process.find(set[0]);
            if set.iter().any(|&at| process.find(at) != first) {
                found.extend(self.find_equal(&set, |p| p.host_exlocation, HOST));
                found.extend(self.find_host_conflict(&set, HOST));
            }
        }
        for set in &sets {
            found.extend(self.find_mixed(set, |p| p.restartable, "restartable"));
            found.extend(self.find_mixed(set, |p| p.relocatable, "relocatable"));
        }
        found
    }

    /// Two operators of a set whose equal values forbid that they are together.
    fn find_equal(&self, set: &[usize], of: PlacementField<'a>, what: &str) -> Option<PlanError> {
        let mut first: HashMap<&str, PlacementConstraint<'a>> = HashMap::new();
        for constraint in self.constraints(set, of) {
            match first.get(constraint.value.value) {
                Some(before) => {
                    let apart = constraint.value.value;
                    let text = format!("{{}}, and must not, by {apart}");
                    return Some(self.contradiction(*before, constraint, what, &text));
                }
                None => first.insert(constraint.value.value, constraint),
            };
        }
        None
    }

    /// Two operators of a set on different hosts.
    fn find_host_conflict(&self, set: &[usize], what: &str) -> Option<PlanError> {
        let constraints = distinct(self.constraints(set, |p| p.host));
        let apart = |one: &PlacementConstraint<'_>, other: &PlacementConstraint<'_>| {
            are_different_hosts(one.value.value, other.value.value)
        };
        let (one, other) = first_pair(&constraints, apart)?;
        let (a, b) = (one.value.value, other.value.value);
        Some(self.contradiction(one, other, what, &format!("{{}}, but are on {a} and {b}")))
    }

    /// The constraints in a field of the operators of a set.
    fn constraints(
        &self,
        set: &[usize],
        of: PlacementField<'a>,
    ) -> impl Iterator<Item = PlacementConstraint<'a>> {
        let constraint = move |&at: &usize| {
            let value = of(&self.placements[at])?;
            Some(PlacementConstraint {
                operator: at,
                value,
            })
        };
        set.iter().filter_map(constraint)
    }

    /// The error that two operators have to be together and cannot; `but` is the reason why they
    /// cannot, with `{}` for the reason why they have to.
    fn contradiction(
        &self,
        one: PlacementConstraint<'a>,
        other: PlacementConstraint<'a>,
        what: &str,
        but: &str,
    ) -> PlanError {
        let (a, b) = (self.name(one.operator), self.name(other.operator));
        let why = self.reason_text(one.operator, other.operator, what);
        let rest = but.replacen("{}", &why, 1);
        let message = format!("{a} and {b} have to share a {what}{rest}");
        let error = PlanError::new(message).with_pos(other.value.pos);
        self.labelled(
            error,
            [
                (one.operator, one.value.pos),
                (other.operator, other.value.pos),
            ],
            what,
        )
    }

    /// An operator of a set that has to be alone in its process.
    fn find_isolated(&self, set: &[usize]) -> Option<PlanError> {
        let isolation = |&at: &usize| Some((at, self.placements[at].isolation?));
        let (at, constraint) = set.iter().find_map(isolation)?;
        let mut others: Vec<usize> = set.iter().copied().filter(|&other| other != at).collect();
        others.sort_by_key(|&other| {
            matches!(
                self.colocation_reason(at, other, PROCESS),
                ColocationReason::Indirect
            )
        });
        let other = *others.first()?;
        let (a, b) = (self.name(at), self.name(other));
        let why = self.reason_text(at, other, PROCESS);
        let message = format!("{a} has to be alone in a process, but shares one with {b}{why}");
        let error = PlanError::new(message).with_pos(constraint.pos);
        let positions = [(at, constraint.pos), (other, constraint.pos)];
        Some(self.labelled(error, positions, PROCESS))
    }

    /// Two operators of a set, one that can be restarted or relocated and one that cannot.
    fn find_mixed(&self, set: &[usize], of: PlacementField<'a>, word: &str) -> Option<PlanError> {
        let constraints = distinct(self.constraints(set, of));
        let [one, other] = constraints[..] else {
            return None;
        };
        let not = |constraint: PlacementConstraint<'_>| {
            if constraint.value.value == "true" {
                ""
            } else {
                "not "
            }
        };
        let (a, b) = (self.name(one.operator), self.name(other.operator));
        let why = self.reason_text(one.operator, other.operator, PROCESS);
        let message = format!(
            "{a} is {}{word} and {b} is {}{word}, but they have to share a process{why}",
            not(one),
            not(other)
        );
        let error = PlanError::new(message).with_pos(other.value.pos);
        let positions = [
            (one.operator, one.value.pos),
            (other.operator, other.value.pos),
        ];
        let error = self.labelled(error, positions, PROCESS);
        Some(error.with_help(format!("say the same of `{word}` for both")))
    }

    /// The reason why two operators have to be together, as text after a blank.
    fn reason_text(&self, one: usize, other: usize, what: &str) -> String {
        match self.colocation_reason(one, other, what) {
            ColocationReason::Config(shared, _) => format!(" by {}", shared.value),
            ColocationReason::IsolatedHost(shared, _, alone) => {
                let isolates = self.name(alone.operator);
                format!(" by {}, whose host {isolates} isolates", shared.value)
            }
            ColocationReason::Loop => " because they stand in a loop".to_owned(),
            ColocationReason::Indirect => " through other operators".to_owned(),
        }
    }

    fn colocation_reason(&self, one: usize, other: usize, what: &str) -> ColocationReason<'a> {
        let [a, b] = [one, other].map(|at| &self.placements[at]);
        let both = |of: PlacementField<'a>| of(a).zip(of(b)).filter(|(a, b)| a.value == b.value);
        let near = both(|p| p.colocation);
        let of_host = both(|p| p.host_colocation);
        let isolated = of_host.and_then(|(a, b)| Some((a, b, self.isolating_constraint(a.value)?)));
        match (near, of_host, isolated) {
            (Some((a, b)), ..) => ColocationReason::Config(a, b),
            (_, Some((a, b)), _) if what == HOST => ColocationReason::Config(a, b),
            (.., Some((a, b, alone))) => ColocationReason::IsolatedHost(a, b, alone),
            _ if self.loops[one].is_some() && self.loops[one] == self.loops[other] => {
                ColocationReason::Loop
            }
            _ => ColocationReason::Indirect,
        }
    }

    /// The operator of a `hostColocation` that keeps the host for its process.
    fn isolating_constraint(&self, colocation: &str) -> Option<PlacementConstraint<'a>> {
        let is_of = |p: &OperatorPlacement<'_>| {
            p.host_colocation
                .is_some_and(|constraint| constraint.value == colocation)
        };
        let all = self.placements.iter().enumerate();
        let mut of = all.filter(|(_, p)| is_of(p));
        of.find_map(|(at, p)| {
            let value = p.host_isolation?;
            Some(PlacementConstraint {
                operator: at,
                value,
            })
        })
    }

    /// Adds labels to an error about two operators: at the entries that keep them apart, then at
    /// those that keep them together.
    fn labelled(&self, error: PlanError, apart: [(usize, Pos); 2], what: &str) -> PlanError {
        let [(one, first), (other, _)] = apart;
        let add = |error: PlanError, (at, pos, text): (usize, Pos, &str)| {
            let is_new = error.pos != Some(pos) && error.labels.iter().all(|(p, _)| *p != pos);
            let text = format!("{} {text}", self.name(at));
            if is_new {
                error.with_label(pos, text)
            } else {
                error
            }
        };
        let error = add(error, (one, first, "says so here"));
        let heads = [one, other].map(|at| self.heads[at]);
        let reason = self.colocation_reason(one, other, what);
        let error = match &reason {
            ColocationReason::IsolatedHost(.., alone) => add(
                error,
                (alone.operator, alone.value.pos, "isolates its host here"),
            ),
            _ => error,
        };
        let (positions, text) = match reason {
            ColocationReason::Config(a, b) | ColocationReason::IsolatedHost(a, b, _) => {
                ([a.pos, b.pos], "is colocated here")
            }
            ColocationReason::Loop => (heads, "is in this loop"),
            ColocationReason::Indirect => {
                (heads, "is colocated with others, or in a loop with them")
            }
        };
        let all = [one, other].into_iter().zip(positions);
        all.map(|(at, pos)| (at, pos, text)).fold(error, add)
    }

    fn name(&self, at: usize) -> String {
        format!("`{}`", self.operators[at].name)
    }
}

/// The first constraint of each value.
fn distinct<'a>(
    constraints: impl Iterator<Item = PlacementConstraint<'a>>,
) -> Vec<PlacementConstraint<'a>> {
    let mut distinct: Vec<PlacementConstraint<'a>> = Vec::new();
    for constraint in constraints {
        if distinct
            .iter()
            .all(|other| other.value.value != constraint.value.value)
        {
            distinct.push(constraint);
        }
    }
    distinct
}

/// The first two of a list that a relation holds for.
fn first_pair<T: Copy>(all: &[T], holds: impl Fn(&T, &T) -> bool) -> Option<(T, T)> {
    let pairs = all.iter().enumerate();
    let mut pairs = pairs.flat_map(|(at, other)| all[..at].iter().map(move |one| (one, other)));
    let (one, other) = pairs.find(|(one, other)| holds(one, other))?;
    Some((*one, *other))
}
