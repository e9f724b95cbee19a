//! From the logical graph to the physical plan: which operators each thread runs.
//!
//! Everything is fused into one PE. A region begins at each source, that is at each operator without
//! input ports, and holds what its tuples can reach by direct calls.
//!
//! # Cost
//! One walk over the graph for each source.

use graph::{Edge, Medium, OperatorId, Pe, Plan, Program, Region, Route};

/// The plan of a program.
pub fn plan(program: &Program) -> Plan {
    if program.operators.is_empty() {
        return Plan::default();
    }
    let consumers = consumers(program);
    let sources = ids(program).filter(|id| program.operators[id.0 as usize].inputs.is_empty());
    let mut reached = vec![0u32; program.operators.len()];
    let regions: Vec<_> = sources
        .map(|source| {
            let operators = reachable(source, &consumers);
            operators.iter().for_each(|o| reached[o.0 as usize] += 1);
            Region { source, operators }
        })
        .collect();
    let pe = Pe {
        operators: ids(program).collect(),
        regions,
        shared: ids(program)
            .filter(|id| reached[id.0 as usize] > 1)
            .collect(),
        edges: routes(program).collect(),
        ..Pe::default()
    };
    Plan {
        pes: vec![pe],
        crossings: Vec::new(),
    }
}

fn ids(program: &Program) -> impl Iterator<Item = OperatorId> + use<> {
    (0..program.operators.len() as u32).map(OperatorId)
}

/// The operators behind each operator's output ports, in order of the receivers.
fn consumers(program: &Program) -> Vec<Vec<OperatorId>> {
    let mut consumers = vec![Vec::new(); program.operators.len()];
    for (id, operator) in ids(program).zip(&program.operators) {
        for Edge { operator: from, .. } in operator.inputs.iter().flat_map(|i| &i.sources) {
            let after: &mut Vec<OperatorId> = &mut consumers[from.0 as usize];
            if after.last() != Some(&id) {
                after.push(id);
            }
        }
    }
    consumers
}

/// What a source reaches, depth first, itself first.
fn reachable(source: OperatorId, consumers: &[Vec<OperatorId>]) -> Vec<OperatorId> {
    let mut seen = std::collections::HashSet::from([source]);
    let mut order = Vec::new();
    let mut open = vec![source];
    while let Some(next) = open.pop() {
        order.push(next);
        let after = consumers[next.0 as usize].iter().rev();
        open.extend(after.filter(|&&o| seen.insert(o)));
    }
    order
}

fn routes(program: &Program) -> impl Iterator<Item = Route> + '_ {
    ids(program)
        .zip(&program.operators)
        .flat_map(|(operator, o)| {
            o.inputs.iter().enumerate().flat_map(move |(port, input)| {
                input.sources.iter().map(move |&from| Route {
                    from,
                    operator,
                    port: port as u32,
                    medium: Medium::Fused,
                })
            })
        })
}
