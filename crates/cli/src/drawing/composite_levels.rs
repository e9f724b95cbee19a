//! The composites around operators, as far as a drawing shows them: a box for each invocation, or
//! one for the copies of a composite whose operators share boxes.

use std::collections::BTreeSet;

use graph::{OperatorId, Program};

/// Invocations of composites that one box stands for, by their names: `Parse`, or `B0` to `B40`.
pub(super) type CompositeLevel = Vec<String>;

/// The invocations around all of these operators, from the outermost on.
pub(super) fn composite_levels(program: &Program, operators: &[OperatorId]) -> Vec<CompositeLevel> {
    let names = operators
        .iter()
        .map(|id| &*program.operators[id.0 as usize].name);
    let names: Vec<&str> = names.collect();
    let depths = names.iter().map(|name| name.matches('.').count());
    (0..depths.min().unwrap_or(0))
        .map(|level| {
            let invocations: BTreeSet<&str> =
                names.iter().map(|name| invocation(name, level)).collect();
            invocations.into_iter().map(str::to_owned).collect()
        })
        .collect()
}

/// The invocation around an operator, `A.B` for the operator `A.B.C` and level 1.
fn invocation(name: &str, level: usize) -> &str {
    let end = name.match_indices('.').nth(level).map(|(end, _)| end);
    &name[..end.unwrap_or(name.len())]
}
