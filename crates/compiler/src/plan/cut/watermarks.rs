//! Behind each operator that has event time of its own stands what makes its watermarks. It is no part
//! of any plan: it is always where the operator is, and runs on the operator's thread.
//!
//! ```text
//!   Trades -> Filter, pe 1          Trades -> [watermarks of Trades] -> Filter, [Trades -> pe 1]
//! ```

use std::collections::HashMap;

use graph::{Edge, Operator, OperatorId};

use super::super::inserted;
use super::Part;

/// Adds them to a part.
pub(super) fn insert(part: &mut Part) {
    let operators = &mut part.program.operators;
    let mut makers = Vec::new();
    let mut moved = HashMap::new();
    for (at, operator) in (0..).map(OperatorId).zip(operators.iter_mut()) {
        let number = OperatorId((part.numbers.len() + makers.len()) as u32);
        let Some(maker) = maker(at, operator) else {
            continue;
        };
        for (port, input) in (0..).zip(&maker.inputs) {
            let from = Edge {
                operator: number,
                port,
            };
            moved.extend(input.sources.iter().map(|&stream| (stream, from)));
        }
        makers.push(maker);
    }
    let sources = operators.iter_mut().flat_map(|o| &mut o.inputs);
    for source in sources.flat_map(|input| &mut input.sources) {
        *source = moved.get(source).copied().unwrap_or(*source);
    }
    part.numbers.extend(makers.iter().map(|_| None));
    if !part.begins.is_empty() {
        part.begins.extend(makers.iter().map(|_| None));
    }
    operators.extend(makers);
}

/// What makes the watermarks of an operator, which sends none itself then.
fn maker(at: OperatorId, operator: &mut Operator) -> Option<Operator> {
    let clock = operator.clock.as_mut().filter(|clock| clock.makes)?;
    let ports = std::mem::take(&mut clock.outputs);
    (!ports.is_empty()).then(|| inserted::watermarks(at, operator, &ports))
}
