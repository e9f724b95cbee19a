//! Operators as invocations, and whole programs.

use std::fmt::Write;

use super::literal::literal;
use super::window::PrintedWindow;
use super::{PrintNames, indent, separated};
use crate::{Body, InPort, OperatorNode, OutPort, Param, ParamValue, PortIndex, Program};

impl<'a> PrintNames<'a> {
    pub(super) fn program(self, program: &'a Program, out: &mut String) {
        let names = PrintNames::from_program(program, self.natives);
        let _ = writeln!(out, "composite {}", program.name);
        for function in program.functions.iter() {
            out.push('\n');
            names.function(function, out);
        }
        for operator in &program.operators {
            out.push('\n');
            names.operator(operator, out);
        }
    }

    pub(super) fn operator(self, operator: &'a OperatorNode, out: &mut String) {
        let names = self.with_operator(operator);
        for annotation in &operator.annotations {
            names.annotation(annotation, out);
        }
        names.head(operator, out);
        names.logic(operator, out);
        names.windows(operator, out);
        clause("param", &operator.params, out, |param, out| {
            names.param(param, out)
        });
        let outputs = operator
            .outputs
            .iter()
            .filter(|o| o.assign.iter().any(Option::is_some));
        clause("output", outputs, out, |output, out| {
            names.output(output, out)
        });
        clause("config", &operator.config, out, |entry, out| {
            let _ = writeln!(out, "{} : {};", entry.name, entry.values.join(", "));
        });
        out.push_str("}\n");
    }

    fn annotation(self, (name, args): &crate::Annotation, out: &mut String) {
        let _ = write!(out, "@{name}");
        if !args.is_empty() {
            out.push('(');
            separated(args, out, |(key, value), out| {
                let _ = write!(out, "{key} = {}", UntypedConstant(value));
            });
            out.push(')');
        }
        out.push('\n');
    }

    /// `(stream<int32 a> Out) as Inner.Out = spl.relational::Functor(Trades, Quotes as In) {`
    fn head(self, operator: &OperatorNode, out: &mut String) {
        out.push('(');
        for (at, output) in operator.outputs.iter().enumerate() {
            let between = if at > 0 { "; " } else { "" };
            let _ = write!(out, "{between}stream<{}> {}", output.schema, output.name);
        }
        let _ = write!(out, ") as {} = {}(", operator.name, operator.kind);
        for (at, input) in operator.inputs.iter().enumerate() {
            out.push_str(if at > 0 { "; " } else { "" });
            self.input_port(input, out);
        }
        out.push_str(") {\n");
    }

    /// The streams that feed a port, its alias, and how far back its tuples are kept.
    fn input_port(self, input: &InPort, out: &mut String) {
        separated(&input.sources, out, |source, out| {
            let operator = self.operators.get(source.operator.0 as usize);
            let port = operator.and_then(|operator| operator.outputs.get(source.port.index()));
            let _ = match (operator, port) {
                (Some(operator), Some(port)) if operator.name == port.name => {
                    write!(out, "{}", port.name)
                }
                (Some(operator), Some(port)) => write!(out, "{}.{}", operator.name, port.name),
                _ => write!(out, "{}.{}", source.operator.0, source.port),
            };
        });
        let _ = write!(out, " as {}", input.name);
        if !input.history.is_empty() {
            let _ = write!(out, "[{}]", input.history.deepest());
        }
        if input.is_control {
            out.push_str(" control");
        }
    }

    fn logic(self, operator: &'a OperatorNode, out: &mut String) {
        let logic = &operator.logic;
        let has_body = |bodies: &[Option<Body>]| bodies.iter().any(Option::is_some);
        let is_empty = logic.state.is_empty()
            && !has_body(&logic.on_tuple)
            && !has_body(&logic.on_punct)
            && logic.on_process.is_none();
        if is_empty {
            return;
        }
        out.push_str("  logic\n");
        for var in &logic.state {
            let _ = write!(out, "    state : {} {}", var.ty, var.name);
            if let Some(init) = &var.init {
                out.push_str(" = ");
                self.expr(init, out);
            }
            out.push_str(";\n");
        }
        for (word, bodies) in [("onTuple", &logic.on_tuple), ("onPunct", &logic.on_punct)] {
            for (port, body) in (0..).map(PortIndex).zip(bodies.iter()) {
                let head = format!("{word} {}", self.input(port, 0));
                self.logic_body(&head, body.as_ref(), out);
            }
        }
        self.logic_body("onProcess", logic.on_process.as_ref(), out);
    }

    fn logic_body(self, head: &str, body: Option<&'a Body>, out: &mut String) {
        let Some(body) = body else { return };
        let _ = writeln!(out, "    {head} : {{");
        self.body(body, 3, out);
        out.push_str("    }\n");
    }

    fn windows(self, operator: &OperatorNode, out: &mut String) {
        let windows = operator.inputs.iter().filter_map(|input| {
            let window = input.window.as_ref()?;
            Some((input, window))
        });
        clause("window", windows, out, |(input, window), out| {
            let _ = writeln!(
                out,
                "{} : {};",
                input.name,
                PrintedWindow(window, &input.schema)
            );
        });
    }

    fn param(self, param: &Param, out: &mut String) {
        let _ = write!(out, "{} : ", param.name);
        match &param.value {
            ParamValue::Exprs(exprs) => separated(exprs, out, |expr, out| self.expr(expr, out)),
            ParamValue::Literals(words) => separated(words, out, |word, out| out.push_str(word)),
        }
        out.push_str(";\n");
    }

    fn output(self, output: &'a OutPort, out: &mut String) {
        let names = PrintNames {
            calls: &output.calls,
            ..self
        };
        let _ = write!(out, "{} : ", output.name);
        let attributes = output.schema.attributes.iter().zip(&output.assign);
        let assigned = attributes.filter_map(|(a, expr)| Some((a, expr.as_ref()?)));
        separated(assigned, out, |(attribute, expr), out| {
            let _ = write!(out, "{} = ", attribute.name);
            names.expr(expr, out);
        });
        out.push_str(";\n");
    }
}

/// A clause with its items, a line each; nothing without items.
fn clause<T>(
    word: &str,
    items: impl IntoIterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    for (at, item) in items.into_iter().enumerate() {
        if at == 0 {
            let _ = writeln!(out, "  {word}");
        }
        indent(2, out);
        write(item, out);
    }
}

/// Prints a constant whose type the program does not mention.
struct UntypedConstant<'a>(&'a tuple::Value);

impl std::fmt::Display for UntypedConstant<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        match self.0 {
            tuple::Value::RString(_) => literal(self.0, &tuple::Type::RString, &mut text),
            tuple::Value::UString(_) => literal(self.0, &tuple::Type::UString, &mut text),
            tuple::Value::List(list) => {
                text.push('[');
                separated(list.iter(), &mut text, |item, text| {
                    let _ = write!(text, "{}", UntypedConstant(&item));
                });
                text.push(']');
            }
            tuple::Value::Tuple(parts) => {
                text.push('{');
                separated(parts.iter(), &mut text, |part, text| {
                    let _ = write!(text, "{}", UntypedConstant(part));
                });
                text.push('}');
            }
            scalar => return write!(f, "{}", super::BriefValue(scalar)),
        }
        f.write_str(&text)
    }
}
