//! Expressions whose parts disturb each other, found in the log of their effects.

use syntax::Diagnostic;

use super::Typer;
use super::effect::{EffectsMark, Variable};

impl Typer<'_, '_> {
    /// Checks the expression that was typed since the log had length `start`.
    pub(crate) fn check_effects(&mut self, start: EffectsMark) {
        if let Some((writer, other)) = self.effects.conflict(start) {
            let name = self.variable_name(writer.variable);
            let message = match other.writes {
                true => format!("`{name}` is changed twice in one expression"),
                false => format!("`{name}` is changed and read in one expression"),
            };
            let text = if other.writes {
                "changed here too"
            } else {
                "read here"
            };
            let finding = Diagnostic::error("side-effect-conflict", writer.span, message)
                .label(other.span, text)
                .help("the order is not defined; copy one into another variable before");
            self.session.report(finding);
        }
        let calls = self
            .effects
            .stateful
            .get(start.stateful..)
            .unwrap_or_default();
        self.effects.checked.extend(calls.first().cloned());
        if let [(first, a), (second, b), ..] = calls {
            let message =
                format!("stateful functions `{a}` and `{b}` are called in one expression");
            let finding = Diagnostic::error("two-stateful-calls", *second, message)
                .label(*first, "the first call")
                .help(
                    "the order of evaluation is not defined, and SPL allows one even as an argument \
                     of the other; keep the result of one in a variable, in a statement before",
                );
            self.session.report(finding);
        }
        self.effects.truncate(start);
    }

    pub(crate) fn variable_name(&self, variable: Variable) -> String {
        match (variable, &self.operator) {
            (Variable::Local(id), _) => self.usages[id.0 as usize].name.to_string(),
            (Variable::State(id), Some(site)) => site.state_entry(id).name.to_string(),
            (Variable::Input(port), Some(site)) => site.inputs[port.index()].name.to_string(),
            (Variable::State(_) | Variable::Input(_), None) => String::new(),
        }
    }
}
