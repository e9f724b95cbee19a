//! The names of a program's operators and their ports, as a plan's text writes them.

use std::collections::HashMap;

use super::line::PlanTextWord;
use super::plan_text_error::{PlanTextError, did_you_mean};
use crate::{OperatorId, PortIndex, Program};

/// The operators of a program, found by their names.
pub(super) struct OperatorLookup<'p> {
    pub program: &'p Program,
    by_name: HashMap<&'p str, OperatorId>,
}

/// The number of ports on one side of an operator.
struct PortCount {
    count: usize,
    /// The word for one such port in messages.
    noun: &'static str,
}

impl<'p> OperatorLookup<'p> {
    pub fn new(program: &'p Program) -> OperatorLookup<'p> {
        let ids = (0..).map(OperatorId);
        let names = program.operators.iter().map(|operator| &*operator.name);
        let by_name = names.zip(ids).collect();
        OperatorLookup { program, by_name }
    }

    /// The operator that has a name.
    pub fn operator(&self, word: PlanTextWord<'_>) -> Result<OperatorId, PlanTextError> {
        let found = self.by_name.get(word.text).copied();
        found.ok_or_else(|| self.unknown(word, word.text))
    }

    /// An input port: `Filter.0`, or `Filter` if the operator has only one.
    pub fn input(&self, word: PlanTextWord<'_>) -> Result<(OperatorId, PortIndex), PlanTextError> {
        self.port(word, |id| PortCount {
            count: self.program.operators[id.0 as usize].inputs.len(),
            noun: "input port",
        })
    }

    /// An output port, written as an input port is.
    pub fn output(&self, word: PlanTextWord<'_>) -> Result<(OperatorId, PortIndex), PlanTextError> {
        self.port(word, |id| PortCount {
            count: self.program.operators[id.0 as usize].outputs.len(),
            noun: "output port",
        })
    }

    fn port(
        &self,
        word: PlanTextWord<'_>,
        ports: impl Fn(OperatorId) -> PortCount,
    ) -> Result<(OperatorId, PortIndex), PlanTextError> {
        if let Some(&id) = self.by_name.get(word.text) {
            return single_port(word, &ports(id)).map(|port| (id, port));
        }
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let parts = word.text.rsplit_once('.');
        let Some((name, port)) = parts.filter(|(_, port)| is_number(port)) else {
            return Err(self.unknown(word, word.text));
        };
        let Some(&id) = self.by_name.get(name) else {
            return Err(self.unknown(word, name));
        };
        let PortCount { count, noun } = ports(id);
        match port.parse().map(PortIndex) {
            Ok(port) if port.index() < count => Ok((id, port)),
            _ => Err(word.error(format!("`{name}` has no {noun} {port}"))),
        }
    }

    fn unknown(&self, word: PlanTextWord<'_>, name: &str) -> PlanTextError {
        let message = format!("the program has no operator `{name}`");
        word.error(did_you_mean(message, name, self.by_name.keys().copied()))
    }
}

/// The port of an operator that has no other.
fn single_port(
    word: PlanTextWord<'_>,
    PortCount { count, noun }: &PortCount,
) -> Result<PortIndex, PlanTextError> {
    let name = word.text;
    match count {
        1 => Ok(PortIndex(0)),
        0 => Err(word.error(format!("`{name}` has no {noun}"))),
        _ => Err(word.error(format!(
            "`{name}` has {count} {noun}s: say which, `{name}.0` to `{name}.{}`",
            count - 1
        ))),
    }
}
