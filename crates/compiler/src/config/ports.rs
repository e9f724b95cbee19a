//! Config entries that name ports: `threadedPort` and `streamViewability`.

use std::sync::Arc;

use syntax::ast::{Config, Expr};
use syntax::{DeclarationKind, Diagnostic};
use tuple::{Type, Value};

use super::clause::ConfigCheck;
use super::text::{bare_word, call};

/// Tuples that the queue of a threaded port holds, unless its config gives a size.
const QUEUE_TUPLES_DEFAULT: i64 = 1000;

impl<'w> ConfigCheck<'_, 'w> {
    /// `queue(Port, Sys.Wait)`, `queue(Port, Sys.DropLast, 100)`.
    pub fn threaded_ports(&self, config: &'w Config) -> Option<Vec<Arc<str>>> {
        let mut seen: Vec<usize> = Vec::new();
        let mut values: Vec<Arc<str>> = Vec::new();
        for expr in &config.values {
            let (port, policy, size) = match call(expr) {
                Some(("queue", [port, policy])) => (port, policy, None),
                Some(("queue", [port, policy, size])) => (port, policy, Some(size)),
                _ => {
                    let message = "a threaded port is `queue(Port, Sys.Wait)` or with a size \
                                   `queue(Port, Sys.Wait, 1000)`";
                    return self.fail(expr.span, message);
                }
            };
            let (at, name) = self.input_port(port)?;
            if seen.contains(&at) {
                return self.fail(port.span, format!("port `{name}` has two queues"));
            }
            seen.push(at);
            let message = "when the queue is full: Sys.Wait, Sys.DropFirst or Sys.DropLast";
            let policy = self.enumerator(policy, &["Wait", "DropFirst", "DropLast"], message)?;
            let size = match size {
                Some(size) => self.whole_number(size, "the size of the queue", 1)?,
                None => QUEUE_TUPLES_DEFAULT,
            };
            // By its own name, whichever of its streams is written.
            let name = self
                .operator_scope
                .map_or(name, |operator_scope| &operator_scope.inputs[at].name);
            values.push(format!("queue({name}, Sys.{policy}, {size})").into());
        }
        Some(values)
    }

    /// `true`, `false`, or `viewable(Port, true)`.
    pub fn viewability(&self, config: &'w Config) -> Option<Vec<Arc<str>>> {
        let mut values: Vec<Arc<str>> = Vec::new();
        for expr in &config.values {
            let value = match call(expr) {
                Some(("viewable", [port, yes])) => {
                    let (name, yes) = (self.output_port(port)?, self.constant_boolean(yes)?);
                    format!("viewable({name}, {yes})")
                }
                Some(("viewable", _)) => {
                    return self.fail(expr.span, "`viewable` takes an output port and a boolean");
                }
                _ => self.constant_boolean(expr)?.to_string(),
            };
            values.push(value.into());
        }
        Some(values)
    }

    fn constant_boolean(&self, expr: &'w Expr) -> Option<bool> {
        match self.constant(expr, &Type::Boolean)? {
            Value::Boolean(yes) => Some(yes),
            _ => None,
        }
    }

    fn input_port(&self, expr: &'w Expr) -> Option<(usize, &'w str)> {
        let operator_scope = self.operator_scope?;
        let name = self.port_name(expr)?;
        let ports = &operator_scope.inputs;
        let suggestions = &self.session.symbols.suggestions;
        let finding = match operator_scope.inputs_named(name)[..] {
            [at] => return Some((at, name)),
            [] if self.session.note_poisoned(DeclarationKind::Stream, name) => return None,
            [] => {
                let message = format!("this operator has no input port `{name}`");
                let finding = Diagnostic::error("unknown-port", expr.span, message);
                suggestions.which_port(finding, name, ports.iter().map(|port| &port.names[..]))
            }
            ref several => {
                let names = several.iter().map(|&at| &ports[at].names[..]);
                suggestions.ambiguous_port(name, expr.span, names)
            }
        };
        self.session.report(finding);
        None
    }

    fn output_port(&self, expr: &'w Expr) -> Option<&'w str> {
        let name = self.port_name(expr)?;
        let Some(operator_scope) = self.operator_scope else {
            return self.fail(
                expr.span,
                "ports are named in the invocation of a primitive operator",
            );
        };
        if operator_scope.output(name).is_some() {
            return Some(name);
        }
        if self.session.note_poisoned(DeclarationKind::Stream, name) {
            return None;
        }
        let message = format!("this operator has no output port `{name}`");
        let finding = Diagnostic::error("unknown-port", expr.span, message);
        let ports = operator_scope.outputs.iter().map(|port| &port.names[..]);
        let suggestions = &self.session.symbols.suggestions;
        self.session
            .report(suggestions.which_port(finding, name, ports));
        None
    }

    fn port_name(&self, expr: &'w Expr) -> Option<&'w str> {
        match bare_word(expr) {
            Some(name) => Some(name),
            None => self.fail(expr.span, "the name of a port is needed here"),
        }
    }
}
