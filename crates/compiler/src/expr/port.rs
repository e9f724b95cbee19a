//! Typing of input tuples and their attributes.

use graph::{ExprKind, PortIndex};
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::context::ReadableInputs;
use super::{Typer, Variable};

impl Typer<'_, '_> {
    /// The value of an attribute that some input ports have.
    pub(super) fn attribute_value(
        &mut self,
        found: &[(usize, usize)],
        name: &str,
        span: Span,
    ) -> Option<graph::Expr> {
        match found {
            &[(port, index)] => self.attribute_at(port, 0, index, span),
            several => self.ambiguous(several, name, span),
        }
    }

    pub(super) fn ambiguous<T>(
        &self,
        found: &[(usize, usize)],
        name: &str,
        span: Span,
    ) -> Option<T> {
        // The port that is meant may be one whose type is broken.
        let site = self.operator.as_ref().filter(|site| !site.is_broken())?;
        let ports: Vec<String> = found
            .iter()
            .map(|(port, _)| format!("`{}.{name}`", site.inputs[*port].name))
            .collect();
        let message = format!("attribute `{name}` is ambiguous: several input ports have it");
        let finding = Diagnostic::error("ambiguous-attribute", span, message);
        self.report(finding.help(format!("write {}", ports.join(" or "))))
    }

    /// Reports a name that several input ports have.
    pub(crate) fn ambiguous_port<T>(&self, found: &[usize], name: &str, span: Span) -> Option<T> {
        let site = self.operator.as_ref()?;
        if self.is_foreign() {
            let message = format!("`{name}` is ambiguous: it goes to several ports in there");
            let finding = Diagnostic::error("ambiguous-port", span, message);
            return self.report(finding.help("give the composite a stream of its own for each"));
        }
        let names = found.iter().map(|&port| &site.inputs[port].names[..]);
        let suggestions = &self.session.symbols.suggestions;
        self.report(suggestions.ambiguous_port(name, span, names))
    }

    /// `Port.attr` or `Port[n].attr` by numbers.
    pub(super) fn attribute_at(
        &mut self,
        port: usize,
        history: u32,
        index: usize,
        span: Span,
    ) -> Option<graph::Expr> {
        let site = self.operator.clone()?;
        let attribute = site.inputs[port].schema.as_ref()?.attributes.get(index)?;
        self.may_read(port, &format!("attribute `{}`", attribute.name), span)?;
        let (port, index) = (PortIndex(port as u32), index as u32);
        self.effects.read(Variable::Input(port), vec![index], span);
        let kind = ExprKind::Attribute {
            port,
            history,
            index,
        };
        Some(self.typed_expr(kind, attribute.ty.clone(), span))
    }

    /// A whole input tuple.
    pub(super) fn whole_tuple(
        &mut self,
        port: usize,
        history: u32,
        span: Span,
    ) -> Option<graph::Expr> {
        let site = self.operator.clone()?;
        let input = &site.inputs[port];
        let schema = input.schema.clone()?;
        self.may_read(port, &format!("stream `{}`", input.name), span)?;
        let port = PortIndex(port as u32);
        self.effects.read(Variable::Input(port), Vec::new(), span);
        Some(self.typed_expr(ExprKind::Input { port, history }, Type::Tuple(schema), span))
    }

    /// Reports that input tuples cannot be read here, or not those of this port.
    pub(super) fn may_read(&self, port: usize, what: &str, span: Span) -> Option<()> {
        if self.context.constant {
            let message = format!("{what} is not known when compiling");
            return self.fail("not-constant", span, message);
        }
        match self.context.inputs {
            ReadableInputs::All => Some(()),
            ReadableInputs::Port(only) if only.index() == port => Some(()),
            ReadableInputs::Port(only) => {
                let site = self.operator.as_ref()?;
                let other = &site.inputs[port].name;
                let allowed = match site.inputs.get(only.index()) {
                    Some(input) => {
                        // A port whose type is not known may have an attribute of this name.
                        input.schema.as_ref()?;
                        format!("only tuples of `{}` can be read here", input.name)
                    }
                    None => {
                        let number = only.0 + 1;
                        format!("this is for tuples of input port {number}, which is not there")
                    }
                };
                let message = format!("{what} comes from `{other}`, and {allowed}");
                self.fail("wrong-input-port", span, message)
            }
            ReadableInputs::None => {
                let message = format!("{what} cannot be used here: there is no input tuple");
                self.fail("attribute-not-allowed", span, message)
            }
            ReadableInputs::Refused(place) => {
                let message = format!("{what} cannot be used in {place}");
                self.fail("attribute-not-allowed", span, message)
            }
        }
    }
}
