//! Fusion without placements: all operators in one process, or as few as possible in each.

use graph::{OperatorId, Program};

use crate::streams::{DisjointSets, StreamConsumers};

/// One PE with all operators.
pub(crate) fn all(program: &Program) -> Vec<Vec<OperatorId>> {
    vec![ids(program.operators.len()).collect()]
}

/// A PE for each operator and for each loop.
///
/// A loop over several PEs would be a circle of bounded queues: when all of them are full, each PE
/// waits for the next one, for ever. Within a PE a tuple that comes back is kept until the operator
/// has returned.
pub(crate) fn none(program: &Program, stream_consumers: &StreamConsumers) -> Vec<Vec<OperatorId>> {
    let sets = by_loop(program, stream_consumers).sets().into_iter();
    sets.map(|set| set.into_iter().map(|at| OperatorId(at as u32)).collect())
        .collect()
}

/// The operators as sets: each loop is one set, every other operator another.
pub(super) fn by_loop(program: &Program, stream_consumers: &StreamConsumers) -> DisjointSets {
    let mut sets = DisjointSets::new(program.operators.len());
    let mut first: Vec<Option<usize>> = vec![None; program.operators.len()];
    for (at, number) in stream_consumers.loops().into_iter().enumerate() {
        if let Some(number) = number {
            let first = *first[number as usize].get_or_insert(at);
            sets.join(first, at);
        }
    }
    sets
}

fn ids(count: usize) -> impl Iterator<Item = OperatorId> {
    (0..count as u32).map(OperatorId)
}
