//! Log of the variables that an expression reads and writes, to find expressions whose parts
//! disturb each other.
//!
//! Every use of a variable is logged as a path: the variable and the attributes after it. A
//! subscript ends the path, since its value is not known. Two uses conflict if one of them writes
//! and neither path leaves the other: `t.a++ + t.b` is fine, `i++ + i` is not. What the subscripts
//! of a place read is read before the place is written: `l[size(l) - 1]++` is fine too.

use graph::{LocalId, PortIndex, StateId};
use syntax::Span;

/// A variable that can be read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Local(LocalId),
    State(StateId),
    Input(PortIndex),
}

#[derive(Clone, Debug)]
pub(crate) struct VariableAccess {
    pub variable: Variable,
    pub path: Vec<u32>,
    pub writes: bool,
    pub span: Span,
    /// Number of accesses right before a write in the log that the subscripts of the written place
    /// make; 0 for a read. Subscripts are evaluated before the write, so it disturbs none of them.
    subscript_accesses: usize,
}

/// The log of one body.
#[derive(Debug, Default)]
pub(crate) struct ExprEffects {
    accesses: Vec<VariableAccess>,
    pub(super) stateful: Vec<(Span, String)>,
    /// The first such call of each expression that was checked.
    pub(super) checked: Vec<(Span, String)>,
}

/// A point in the log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EffectsMark {
    accesses: usize,
    pub(super) stateful: usize,
}

impl ExprEffects {
    pub fn mark(&self) -> EffectsMark {
        EffectsMark {
            accesses: self.accesses.len(),
            stateful: self.stateful.len(),
        }
    }

    pub fn truncate(&mut self, mark: EffectsMark) {
        self.accesses.truncate(mark.accesses);
        self.stateful.truncate(mark.stateful);
    }

    /// Takes out what was logged since a mark.
    pub fn take(&mut self, mark: EffectsMark) -> ExprEffects {
        ExprEffects {
            accesses: self
                .accesses
                .split_off(mark.accesses.min(self.accesses.len())),
            stateful: self
                .stateful
                .split_off(mark.stateful.min(self.stateful.len())),
            checked: Vec::new(),
        }
    }

    /// Puts it back, or elsewhere.
    pub fn append(&mut self, mut part: ExprEffects) {
        self.accesses.append(&mut part.accesses);
        self.stateful.append(&mut part.stateful);
    }

    pub fn read(&mut self, variable: Variable, path: Vec<u32>, span: Span) {
        self.accesses.push(VariableAccess {
            variable,
            path,
            writes: false,
            span,
            subscript_accesses: 0,
        });
    }

    /// Logs a write to a place whose subscripts were logged since `place_start`.
    pub fn write(
        &mut self,
        variable: Variable,
        path: Vec<u32>,
        span: Span,
        place_start: EffectsMark,
    ) {
        let subscript_accesses = self.accesses.len().saturating_sub(place_start.accesses);
        self.accesses.push(VariableAccess {
            variable,
            path,
            writes: true,
            span,
            subscript_accesses,
        });
    }

    /// Whether a variable was written since a mark.
    pub fn has_write(&self, since: EffectsMark, variable: Variable) -> bool {
        let accesses = self.accesses.get(since.accesses..).unwrap_or_default();
        accesses.iter().any(|a| a.writes && a.variable == variable)
    }

    pub fn stateful_call(&mut self, span: Span, name: &str) {
        self.stateful.push((span, name.to_owned()));
    }

    /// The stateful functions that were called, the first of each whole expression, with the places
    /// of the calls.
    pub fn stateful_calls(&self) -> &[(Span, String)] {
        &self.checked
    }

    /// The last access goes one attribute deeper, if it is the only one since `start`.
    pub fn deepen(&mut self, start: EffectsMark, attribute: u32) {
        if self.accesses.len() == start.accesses + 1
            && let Some(last) = self.accesses.last_mut()
        {
            last.path.push(attribute);
        }
    }

    /// The first two accesses since `start` of which one disturbs the other: writer first.
    pub(super) fn conflict(
        &self,
        start: EffectsMark,
    ) -> Option<(&VariableAccess, &VariableAccess)> {
        let since = &self.accesses[start.accesses.min(self.accesses.len())..];
        if !since.iter().any(|a| a.writes) {
            return None;
        }
        for (at, writer) in since.iter().enumerate().filter(|(_, a)| a.writes) {
            let subscripts = at.saturating_sub(writer.subscript_accesses)..at;
            let disturbed = since.iter().enumerate().find(|(other, access)| {
                let is_own_subscript = subscripts.contains(other) && !access.writes;
                *other != at
                    && !is_own_subscript
                    && access.variable == writer.variable
                    && overlap(writer, access)
            });
            if let Some((_, other)) = disturbed {
                return Some((writer, other));
            }
        }
        None
    }
}

fn overlap(a: &VariableAccess, b: &VariableAccess) -> bool {
    a.path.iter().zip(&b.path).all(|(a, b)| a == b)
}
