//! Feedback loops: streams that lead back to an operator they came from.
//!
//! A loop is allowed, but it has to be ended by some operator in it, and it is easily made by
//! mistake: a warning. A loop that closes on a control port (the acknowledgements of a gate) is
//! meant to be one.

use graph::Operator;
use syntax::Diagnostic;

use crate::Diagnostics;
use crate::expand::Site;

/// Warns of every loop, once, at the stream that closes it.
pub(crate) fn check(operators: &[Operator], sites: &[Site], diagnostics: &Diagnostics) {
    let mut search = Search {
        after: consumers(operators),
        state: vec![State::New; operators.len()],
        found: Vec::new(),
    };
    let is_source = |at: &usize| operators[*at].inputs.is_empty();
    let all = 0..operators.len();
    for root in all.clone().filter(is_source).chain(all) {
        search.from(root);
    }
    for Input {
        operator,
        port,
        source,
    } in search.found
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
struct Input {
    operator: usize,
    port: usize,
    /// Which of the port's streams.
    source: usize,
}

/// The ports that each operator feeds, but for control ports; the last first.
fn consumers(operators: &[Operator]) -> Vec<Vec<Input>> {
    let mut after: Vec<Vec<Input>> = vec![Vec::new(); operators.len()];
    for (operator, o) in operators.iter().enumerate().rev() {
        for (port, input) in o.inputs.iter().enumerate().filter(|(_, i)| !i.is_control) {
            for (source, edge) in input.sources.iter().enumerate() {
                let from = edge.operator.0 as usize;
                after[from].push(Input {
                    operator,
                    port,
                    source,
                });
            }
        }
    }
    after
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// What it feeds is being looked at.
    Open,
    Done,
}

/// A depth-first search along the streams.
struct Search {
    /// What is still to be looked at behind each operator.
    after: Vec<Vec<Input>>,
    state: Vec<State>,
    /// The closing streams.
    found: Vec<Input>,
}

impl Search {
    fn from(&mut self, root: usize) {
        let mut open = Vec::new();
        if self.state[root] == State::New {
            self.state[root] = State::Open;
            open.push(root);
        }
        while let Some(&operator) = open.last() {
            let Some(input) = self.after[operator].pop() else {
                self.state[operator] = State::Done;
                open.pop();
                continue;
            };
            match self.state[input.operator] {
                State::New => {
                    self.state[input.operator] = State::Open;
                    open.push(input.operator);
                }
                State::Open => self.found.push(input),
                State::Done => {}
            }
        }
    }
}
