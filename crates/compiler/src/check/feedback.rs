//! Feedback loops: streams that lead back to an operator they came from.
//!
//! A loop is allowed, but it has to be ended by some operator in it, and it is easily made by
//! mistake: a warning. A loop that closes on a control port (the acknowledgements of a gate) is
//! meant to be one.

use graph::{Edge, Operator};
use syntax::Diagnostic;

use crate::Diagnostics;
use crate::expand::Site;

/// Warns of every loop, once, at the stream that closes it.
pub(crate) fn check(operators: &[Operator], sites: &[Site], diagnostics: &Diagnostics) {
    let mut search = Search {
        operators,
        found: Vec::new(),
        state: vec![State::New; operators.len()],
    };
    for root in 0..operators.len() {
        search.from(root);
    }
    for (operator, port, source) in search.found {
        let site = &sites[operator].inputs[port];
        let place = site
            .streams
            .get(source)
            .map_or(site.span, |(_, span)| *span);
        diagnostics.add(warning(&operators[operator], place));
    }
}

fn warning(operator: &Operator, place: syntax::Span) -> Diagnostic {
    let message = format!(
        "this stream closes a feedback loop into `{}`",
        operator.name
    );
    Diagnostic::warning("feedback-loop", place, message)
        .help("a loop ends only when an operator in it submits `Sys.FinalMarker`")
}

/// An input port, one of its sources, and the edge from there.
type Input = (usize, usize, Edge);

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// Its upstream operators are being looked at.
    Open,
    Done,
}

/// A depth-first search against the direction of the streams.
struct Search<'a> {
    operators: &'a [Operator],
    /// Operator, input port and source of each closing edge.
    found: Vec<(usize, usize, usize)>,
    state: Vec<State>,
}

impl<'a> Search<'a> {
    fn from(&mut self, root: usize) {
        let mut open: Vec<(usize, Vec<Input>)> = Vec::new();
        if self.state[root] == State::New {
            open.push((root, self.enter(root)));
        }
        while let Some((operator, edges)) = open.last_mut() {
            let operator = *operator;
            let Some((port, source, edge)) = edges.pop() else {
                self.state[operator] = State::Done;
                open.pop();
                continue;
            };
            let from = edge.operator.0 as usize;
            match self.state[from] {
                State::New => {
                    let edges = self.enter(from);
                    open.push((from, edges));
                }
                // The operator behind this edge waits for us: the loop is closed by its own input.
                State::Open => self.found.push((operator, port, source)),
                State::Done => {}
            }
        }
    }

    fn enter(&mut self, operator: usize) -> Vec<Input> {
        self.state[operator] = State::Open;
        let inputs = self.operators[operator].inputs.iter().enumerate().rev();
        inputs
            .filter(|(_, input)| !input.is_control)
            .flat_map(|(port, input)| {
                let sources = input.sources.iter().enumerate().rev();
                sources.map(move |(at, edge)| (port, at, *edge))
            })
            .collect()
    }
}
