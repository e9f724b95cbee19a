//! Feedback loops: streams that lead back to an operator that they came from.
//!
//! A loop is allowed, but it has to be ended by some operator in it, and it is easily made by
//! mistake: a warning. A loop that closes on a control port (the acknowledgements of a gate) is
//! meant to be one.

use graph::OperatorNode;
use planner::{GraphEdge, closing_edges};
use syntax::Diagnostic;

use crate::Diagnostics;
use crate::instance::OperatorSite;

/// Warns of every loop, once, at the stream that closes it.
pub(crate) fn check(operators: &[OperatorNode], sites: &[OperatorSite], diagnostics: &Diagnostics) {
    let is_source = |at: &usize| operators[*at].inputs.is_empty();
    let all = 0..operators.len();
    let roots = all.clone().filter(is_source).chain(all);
    for LoopInput {
        operator,
        port,
        source,
    } in closing_edges(consumers(operators), roots)
    {
        let site = &sites[operator].inputs[port];
        let place = site
            .streams
            .get(source)
            .map_or(site.span, |(_, span)| *span);
        let message = format!(
            "this stream closes a feedback loop into `{}`",
            operators[operator].name
        );
        let finding = Diagnostic::warning("feedback-loop", place, message);
        let help = "a loop ends only when an operator in it submits `Sys.FinalMarker`";
        diagnostics.add(finding.help(help));
    }
}

/// One stream into an input port.
#[derive(Clone, Copy)]
struct LoopInput {
    operator: usize,
    port: usize,
    /// Which of the port's streams.
    source: usize,
}

impl GraphEdge for LoopInput {
    fn to(self) -> usize {
        self.operator
    }
}

/// The ports that each operator feeds, but for control ports; the last first.
fn consumers(operators: &[OperatorNode]) -> Vec<Vec<LoopInput>> {
    let mut after: Vec<Vec<LoopInput>> = vec![Vec::new(); operators.len()];
    for (operator, o) in operators.iter().enumerate().rev() {
        for (port, input) in o.inputs.iter().enumerate().filter(|(_, i)| !i.is_control) {
            for (source, edge) in input.sources.iter().enumerate() {
                let from = edge.operator.0 as usize;
                after[from].push(LoopInput {
                    operator,
                    port,
                    source,
                });
            }
        }
    }
    after
}
