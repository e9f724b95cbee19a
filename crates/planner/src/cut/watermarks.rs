//! Watermark generators: behind each operator that has event time of its own stands one that makes
//! the operator's watermarks. Plans do not mention it: it is in the operator's PE, and runs on the
//! operator's thread.
//!
//! ```text
//!   Trades -> Filter, pe 1          Trades -> [watermarks of Trades] -> Filter, [Trades -> pe 1]
//! ```

use std::collections::HashMap;

use graph::{OperatorId, OperatorNode, OutPortId, PortIndex};

use super::inserted;
use super::pe_program::PeProgram;

/// Adds watermark generators to a part, after all other operators.
pub(super) fn insert(part: &mut PeProgram) {
    let operators = &mut part.program.operators;
    let mut generators = Vec::new();
    let mut moved = HashMap::new();
    for (at, operator) in (0..).map(OperatorId).zip(operators.iter_mut()) {
        let number = OperatorId((part.operator_ids.len() + generators.len()) as u32);
        let Some(generator) = watermark_generator(at, operator) else {
            continue;
        };
        for (port, input) in (0..).map(PortIndex).zip(&generator.inputs) {
            let from = OutPortId {
                operator: number,
                port,
            };
            moved.extend(input.sources.iter().map(|&stream| (stream, from)));
        }
        generators.push(generator);
    }
    let sources = operators.iter_mut().flat_map(|o| &mut o.inputs);
    for source in sources.flat_map(|input| &mut input.sources) {
        *source = moved.get(source).copied().unwrap_or(*source);
    }
    part.operator_ids.extend(generators.iter().map(|_| None));
    if !part.origins.is_empty() {
        part.origins.extend(generators.iter().map(|_| None));
    }
    operators.extend(generators);
}

/// The generator of an operator's watermarks; the operator itself sends none from then on.
fn watermark_generator(at: OperatorId, operator: &mut OperatorNode) -> Option<OperatorNode> {
    let clock = operator
        .clock
        .as_mut()
        .filter(|clock| clock.generates_watermarks)?;
    let ports = std::mem::take(&mut clock.outputs);
    (!ports.is_empty()).then(|| inserted::watermarks(at, operator, &ports))
}
