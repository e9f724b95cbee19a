//! Behind each operator that has event time of its own stands what makes its watermarks. It is no
//! part of any plan: it is always where the operator is, and runs on the operator's thread.
//!
//! ```text
//!   Trades -> Filter, pe 1          Trades -> [watermarks of Trades] -> Filter, [Trades -> pe 1]
//! ```

use std::collections::HashMap;

use graph::{OperatorId, OperatorNode, OutPortId};

use super::super::inserted;
use super::PeProgram;

/// Adds them to a part.
pub(super) fn insert(part: &mut PeProgram) {
    let operators = &mut part.program.operators;
    let mut makers = Vec::new();
    let mut moved = HashMap::new();
    for (at, operator) in (0..).map(OperatorId).zip(operators.iter_mut()) {
        let number = OperatorId((part.operator_ids.len() + makers.len()) as u32);
        let Some(maker) = watermark_generator(at, operator) else {
            continue;
        };
        for (port, input) in (0..).zip(&maker.inputs) {
            let from = OutPortId {
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
    part.operator_ids.extend(makers.iter().map(|_| None));
    if !part.origins.is_empty() {
        part.origins.extend(makers.iter().map(|_| None));
    }
    operators.extend(makers);
}

/// What makes the watermarks of an operator, which sends none itself then.
fn watermark_generator(at: OperatorId, operator: &mut OperatorNode) -> Option<OperatorNode> {
    let clock = operator
        .clock
        .as_mut()
        .filter(|clock| clock.generates_watermarks)?;
    let ports = std::mem::take(&mut clock.outputs);
    (!ports.is_empty()).then(|| inserted::watermarks(at, operator, &ports))
}
