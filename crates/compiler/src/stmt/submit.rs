//! Typing of calls that are statements of their own: `submit` and `assignFrom`.

use std::sync::Arc;

use graph::{ExprKind, Place, PlaceStep, Stmt};
use syntax::ast;
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{EnumType, TupleType, Type, Value};

use crate::expr::{PlaceUse, Typer, fits_type, mismatch};
use crate::names::OperatorScope;

/// Where a tuple is submitted to.
struct SubmitTarget {
    port: graph::Expr,
    /// The output port, if it is known when compiling.
    known: Option<usize>,
}

/// The type of `Sys.WindowMarker`.
pub(crate) fn punctuation_type() -> Type {
    let names = vec![Arc::from("WindowMarker"), Arc::from("FinalMarker")];
    Type::Enum(Arc::new(EnumType { names }))
}

impl<'w> Typer<'_, 'w> {
    /// The statements of a call of `submit` or `assignFrom`; `None` if it is no such call.
    pub(super) fn statement_call(&mut self, expr: &'w ast::Expr) -> Option<Vec<Stmt>> {
        let ast::ExprKind::Call(callee, args) = &expr.kind else {
            return None;
        };
        let ast::ExprKind::Name(name) = &callee.kind else {
            return None;
        };
        match &*name.name.text {
            "submit" if self.is_intrinsic(name) => {
                Some(self.submit(args, expr.span).into_iter().collect())
            }
            "assignFrom" if self.is_intrinsic(name) => {
                Some(self.assign_from(args, expr.span).unwrap_or_default())
            }
            _ => None,
        }
    }

    fn submit(&mut self, args: &'w [ast::Expr], span: Span) -> Option<Stmt> {
        let Some(site) = self.operator.clone().filter(|_| self.context.submits) else {
            let message = "`submit` can only be called in the logic of an operator that submits";
            let finding = Diagnostic::error("submit-not-allowed", span, message);
            return self.report(finding.help("Custom is such an operator"));
        };
        let [what, port] = args else {
            let message = format!(
                "`submit` takes a tuple or punctuation and a port, not {}",
                argument_count_phrase(args.len())
            );
            return self.fail("wrong-argument-count", span, message);
        };
        if self.output_named(what).is_some() && self.output_named(port).is_none() {
            let message = "`submit` takes the tuple first, and then the port";
            let finding = Diagnostic::error("submit-mismatch", span, message);
            let sources = self.session.symbols.sources();
            let (what, port) = (sources.text(what.span), sources.text(port.span));
            return self.report(finding.help(format!("write `submit({port}, {what})`")));
        }
        let Some(target) = self.submit_target(&site, port) else {
            self.check_untyped(what);
            return None;
        };
        let hint = schema_of(&site, target.known);
        let start = self.effects.mark();
        let typed = self.infer(what, hint.as_ref());
        self.check_effects(start);
        let typed = typed?;
        let pos = self.session.pos(span);
        if typed.ty == punctuation_type() {
            return Some(Stmt::SubmitPunct {
                port: target.port,
                mark: typed,
                pos,
            });
        }
        let tuple = self.submitted_tuple(&site, &target, typed, what.span)?;
        Some(Stmt::Submit {
            port: target.port,
            tuple,
            pos,
        })
    }

    /// The tuple as the port takes it.
    fn submitted_tuple(
        &self,
        site: &OperatorScope,
        target: &SubmitTarget,
        typed: graph::Expr,
        span: Span,
    ) -> Option<graph::Expr> {
        if !typed.ty.is_tuple() {
            let message = format!("`submit` takes a tuple or punctuation, not {}", typed.ty);
            return self.fail("submit-mismatch", span, message);
        }
        let schemas: Vec<&Arc<TupleType>> = match target.known {
            Some(port) => vec![site.outputs[port].schema.as_ref()?],
            None => site
                .outputs
                .iter()
                .filter_map(|port| port.schema.as_ref())
                .collect(),
        };
        let types = schemas.iter().map(|schema| Type::Tuple(Arc::clone(schema)));
        if let Some(ty) = types.clone().find(|ty| fits_type(&typed, ty)) {
            return self.coerced(typed, &ty, span);
        }
        let first = types.clone().next()?;
        let source = self.session.symbols.sources().text(span);
        let mut finding = mismatch(&first, &typed.ty, span, source);
        finding.code = "submit-mismatch";
        finding.message = match target.known {
            Some(port) => {
                let name = &site.outputs[port].names[0];
                format!("stream `{name}` takes {first}, and this is {}", typed.ty)
            }
            None => format!("no output stream takes {}", typed.ty),
        };
        self.report(finding)
    }

    fn submit_target(&mut self, site: &OperatorScope, port: &'w ast::Expr) -> Option<SubmitTarget> {
        if let Some(at) = self.output_named(port) {
            self.note_output(site, at, port);
            return Some(self.port_constant(at, port.span));
        }
        if let ast::ExprKind::Name(name) = &port.kind
            && name.namespace.is_none()
            && !name.name.text.starts_with('$')
            && !self.is_variable(&name.name.text)
        {
            let text = &name.name.text;
            if self.session.note_poisoned(DeclarationKind::Stream, text) {
                return None;
            }
            let message = format!("this operator has no output stream `{text}`");
            let finding = Diagnostic::error("unknown-port", port.span, message);
            let ports = site.outputs.iter().map(|port| &port.names[..]);
            let suggestions = &self.session.symbols.suggestions;
            return self.report(suggestions.which_port(finding, text, ports));
        }
        let typed = self.expr(port, Some(&Type::Uint32))?;
        let Some(value) = self.session.try_fold(&typed) else {
            return Some(SubmitTarget {
                port: typed,
                known: None,
            });
        };
        let at = value.as_integer().and_then(|v| usize::try_from(v).ok());
        match at.filter(|at| *at < site.outputs.len()) {
            Some(at) => Some(self.port_constant(at, port.span)),
            None => {
                let count = site.outputs.len();
                let message = format!(
                    "there is no output port of this number; there are {count}, counted from 0"
                );
                self.fail("port-out-of-range", port.span, message)
            }
        }
    }

    /// Notes that an expression names an output port.
    fn note_output(&self, site: &OperatorScope, at: usize, port: &ast::Expr) {
        if let ast::ExprKind::Name(name) = &port.kind {
            let port = &site.outputs[at];
            let (alias, schema) = (port.alias.as_ref(), port.schema.as_ref());
            self.session
                .note_port(&name.name, alias, schema, &self.scope);
        }
    }

    fn port_constant(&self, at: usize, span: Span) -> SubmitTarget {
        let kind = ExprKind::Const(Value::Uint32(at as u32));
        SubmitTarget {
            port: self.typed_expr(kind, Type::Uint32, span),
            known: Some(at),
        }
    }

    /// `assignFrom(mutable tuple, tuple)`: copies the attributes of equal name and type.
    fn assign_from(&mut self, args: &'w [ast::Expr], span: Span) -> Option<Vec<Stmt>> {
        let [to, from] = args else {
            let message = format!(
                "`assignFrom` takes two tuples, not {}",
                argument_count_phrase(args.len())
            );
            return self.fail("wrong-argument-count", span, message);
        };
        let start = self.effects.mark();
        let place = self.place(to, PlaceUse::Change);
        let value = self.infer(from, None);
        self.check_effects(start);
        let (place, value) = (place?, value?);
        let target = self.tuple_type(&place.ty, to.span);
        let source = self.tuple_type(&value.ty, from.span);
        let (target, source) = (target?, source?);
        let mut stmts = Vec::new();
        let value = self.reusable(value, from.span, &mut stmts);
        let pos = self.session.pos(span);
        for (at, attribute) in target.attributes.iter().enumerate() {
            let Some((index, found)) = source.find(&attribute.name) else {
                continue;
            };
            let kind = ExprKind::Field(Box::new(value.clone()), index as u32);
            let part = graph::Expr {
                kind,
                ty: found.ty.clone(),
                pos,
            };
            if !fits_type(&part, &attribute.ty) {
                continue;
            }
            let part = self.coerced(part, &attribute.ty, span)?;
            let mut steps = place.steps.clone();
            steps.push(PlaceStep::Field(at as u32));
            let place = Place {
                steps,
                ty: attribute.ty.clone(),
                ..place.clone()
            };
            let kind = ExprKind::Assign(place, Box::new(part));
            stmts.push(Stmt::Expr(graph::Expr {
                kind,
                ty: Type::Void,
                pos,
            }));
        }
        Some(stmts)
    }

    fn tuple_type(&self, ty: &Type, span: Span) -> Option<Arc<TupleType>> {
        match ty {
            Type::Tuple(ty) => Some(ty.clone()),
            other => {
                let message = format!("`assignFrom` takes two tuples, and this is {other}");
                self.fail("no-overload", span, message)
            }
        }
    }

    /// A value that can be read several times: as it is, or kept in a variable first.
    fn reusable(&mut self, value: graph::Expr, span: Span, out: &mut Vec<Stmt>) -> graph::Expr {
        if is_variable(&value) {
            return value;
        }
        let (ty, pos) = (value.ty.clone(), value.pos);
        let id = self.add_local("from".into(), ty.clone(), span, false);
        self.assignment.assign(id);
        out.push(Stmt::Let(id, Some(value)));
        graph::Expr {
            kind: ExprKind::Local(id),
            ty,
            pos,
        }
    }
}

fn argument_count_phrase(arguments: usize) -> String {
    match arguments {
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

fn is_variable(expr: &graph::Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(_)
        | ExprKind::State(_)
        | ExprKind::Input { .. }
        | ExprKind::Attribute { .. } => true,
        ExprKind::Field(base, _) => is_variable(base),
        _ => false,
    }
}

/// The tuple type that a submitted literal is typed by: that of the port, or of all ports.
fn schema_of(site: &OperatorScope, port: Option<usize>) -> Option<Type> {
    let schema = |at: usize| site.outputs.get(at)?.schema.clone();
    let one = match port {
        Some(port) => schema(port)?,
        None => {
            let first = schema(0)?;
            let same = site
                .outputs
                .iter()
                .all(|port| port.schema.as_ref() == Some(&first));
            same.then_some(first)?
        }
    };
    Some(Type::Tuple(one))
}
