//! Places: expressions that can be assigned, stepped, or passed to a `mutable` formal.
//!
//! A place is mutable when its root is. The root of a place in an input tuple is a local copy of
//! that tuple, which from then on stands for the input in the whole body.

use graph::{Place, PlaceRoot, PlaceStep, PortIndex};
use syntax::ast::{self, Ident, QName};
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::name_resolution::NameResolution;
use super::{Typer, Variable};
use crate::names::{LocalEntry, LocalKind};

/// Use of a place by the expression around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceUse {
    /// `place = e`: a whole variable need not have a value before.
    Assign,
    /// Read and then written, as by `place++`.
    Change,
    /// `place op= e`: it is read and written, and so is what stands on the right side.
    Update,
}

/// A place that is being followed from its root: what was stepped through so far.
struct PlacePath {
    place: Place,
    variable: Variable,
    /// Attributes from the root on, up to the first subscript.
    fields: Vec<u32>,
    subscripted: bool,
}

impl<'w> Typer<'_, 'w> {
    /// The place that an expression denotes; reports why it is none or cannot be changed.
    pub(crate) fn place(&mut self, expr: &'w ast::Expr, wanted: PlaceUse) -> Option<Place> {
        let start = self.effects.mark();
        let path = self.path(expr, wanted)?;
        if self.iterated.contains(&path.variable) {
            let name = self.variable_name(path.variable);
            let message = format!("`{name}` cannot be changed while a `for` walks over it");
            return self.fail("iterated-mutation", expr.span, message);
        }
        if wanted == PlaceUse::Change {
            self.effects
                .write(path.variable, path.fields, expr.span, start);
        }
        Some(path.place)
    }

    /// The type of a place, without any report; for hints.
    fn path(&mut self, expr: &'w ast::Expr, wanted: PlaceUse) -> Option<PlacePath> {
        match &expr.kind {
            ast::ExprKind::Paren(inner) => self.path(inner, wanted),
            ast::ExprKind::Name(name) => self.root(name, wanted, expr.span),
            ast::ExprKind::Field(base, name) => self.field_path(base, name, expr.span),
            ast::ExprKind::Index(base, index) => self.index_path(base, index, expr.span),
            ast::ExprKind::Slice(..) => {
                self.fail("not-assignable", expr.span, "a slice cannot be changed")
            }
            ast::ExprKind::Error => None,
            ast::ExprKind::Call(..) => self.fail(
                "not-assignable",
                expr.span,
                "the result of a call cannot be changed",
            ),
            _ => self.fail(
                "not-assignable",
                expr.span,
                "this is no place that can be changed",
            ),
        }
    }

    fn root(&mut self, name: &'w QName, wanted: PlaceUse, span: Span) -> Option<PlacePath> {
        let text = &name.name.text;
        if self.context.constant {
            return self.not_constant(text, span);
        }
        if name.namespace.is_some() {
            return self.fail(
                "not-assignable",
                span,
                "this is no place that can be changed",
            );
        }
        if text.starts_with('$') {
            let (one, scope, _) = self.formal_expr(&name.name, span)?;
            if !is_place(one) && !matches!(one.kind, ast::ExprKind::Error) {
                let message = format!("`{text}` is a parameter, and cannot be changed");
                return self.fail("not-assignable", span, message);
            }
            return self.in_scope(scope, |typer| typer.path(one, wanted));
        }
        let found = self.resolve_name(text);
        if let Some(found) = &found {
            self.note_value(found, &name.name);
        }
        match found {
            Some(_) if self.context.constant => self.not_constant(text, span),
            Some(NameResolution::Local(entry)) => self.local_root(&entry, text, wanted, span),
            Some(NameResolution::State(id, entry)) => {
                if !self.may_use_state(&entry, span) {
                    return None;
                }
                if !entry.mutable {
                    let finding = immutable("state variable", text, span, entry.span);
                    return self.report_once(entry.span, finding);
                }
                self.path_to(PlaceRoot::State(id), Variable::State(id), entry.ty?, span)
            }
            Some(NameResolution::Attribute(found)) => match found[..] {
                [(port, index)] => {
                    let path = self.port_root(port, span)?;
                    self.step_into(path, index as u32, span)
                }
                _ => self.ambiguous(&found, text, span),
            },
            Some(NameResolution::Port(port)) => self.port_root(port, span),
            Some(NameResolution::Ports(found)) => self.ambiguous_port(&found, text, span),
            Some(NameResolution::Enumerator(_)) => {
                let message = format!("`{text}` is an enumerator and cannot be changed");
                self.fail("not-assignable", span, message)
            }
            None => self.unknown_name(text, span),
        }
    }

    fn local_root(
        &mut self,
        entry: &LocalEntry,
        name: &str,
        wanted: PlaceUse,
        span: Span,
    ) -> Option<PlacePath> {
        let what = match entry.kind {
            LocalKind::Mutable | LocalKind::MutableFormal => None,
            LocalKind::Immutable => Some("variable"),
            LocalKind::Loop => Some("loop variable"),
            LocalKind::Formal => Some("parameter"),
        };
        if let Some(what) = what {
            let finding = immutable(what, name, span, entry.span);
            return self.report_once(entry.span, finding);
        }
        let id = entry.id;
        if wanted != PlaceUse::Assign {
            self.usages[id.0 as usize].is_used = true;
            if !self.assignment.is_assigned(id) {
                self.assignment.assign(id);
                let message = format!("`{name}` is used before it has a value");
                let finding = Diagnostic::error("use-before-assignment", span, message);
                return self.report(finding.label(entry.span, "declared here without a value"));
            }
        }
        self.path_to(
            PlaceRoot::Local(id),
            Variable::Local(id),
            entry.ty.clone()?,
            span,
        )
    }

    /// The whole input tuple of a port whose tuples may be changed.
    fn port_root(&mut self, port: usize, span: Span) -> Option<PlacePath> {
        let site = self.operator.clone()?;
        let input = &site.inputs[port];
        let schema = input.schema.clone()?;
        if !input.mutable || self.context.returns == super::AllowedReturn::Nowhere {
            let message = format!(
                "tuples of input stream `{}` cannot be changed here",
                input.name
            );
            let finding = Diagnostic::error("immutable-input", span, message);
            let help = "copy it into a `mutable` variable and change that";
            return self.report(finding.help(help));
        }
        self.may_read(port, &format!("stream `{}`", input.name), span)?;
        let copy = self.input_copy(port);
        let (variable, ty) = (Variable::Input(PortIndex(port as u32)), Type::Tuple(schema));
        self.path_to(PlaceRoot::Local(copy), variable, ty, span)
    }

    fn path_to(
        &self,
        root: PlaceRoot,
        variable: Variable,
        ty: Type,
        span: Span,
    ) -> Option<PlacePath> {
        let place = Place {
            root,
            steps: Vec::new(),
            ty,
            pos: self.session.pos(span),
        };
        Some(PlacePath {
            place,
            variable,
            fields: Vec::new(),
            subscripted: false,
        })
    }

    fn field_path(
        &mut self,
        base: &'w ast::Expr,
        name: &'w Ident,
        span: Span,
    ) -> Option<PlacePath> {
        if let ast::ExprKind::Name(qname) = &base.kind
            && !qname.name.text.starts_with('$')
        {
            if let Some(port) = self.port_with_attribute(qname, &name.text) {
                self.note_input(port, &qname.name);
                let path = self.port_root(port, span)?;
                let (index, _) = self.attribute_of(&path.place.ty, name, base.span)?;
                return self.step_into(path, index, span);
            }
            if qname.namespace.is_none() && self.resolve_name(&qname.name.text).is_none() {
                // No variable: reported as any other expression is.
                self.infer(base, None);
                return None;
            }
        }
        let path = self.path(base, PlaceUse::Change)?;
        let (index, _) = self.attribute_of(&path.place.ty, name, base.span)?;
        self.step_into(path, index, span)
    }

    fn step_into(&self, mut path: PlacePath, index: u32, span: Span) -> Option<PlacePath> {
        let attribute = path
            .place
            .ty
            .as_tuple()?
            .attributes
            .get(index as usize)?
            .ty
            .clone();
        path.place.steps.push(PlaceStep::Field(index));
        path.place.ty = attribute;
        path.place.pos = self.session.pos(span);
        if !path.subscripted {
            path.fields.push(index);
        }
        Some(path)
    }

    fn index_path(
        &mut self,
        base: &'w ast::Expr,
        index: &'w ast::Expr,
        span: Span,
    ) -> Option<PlacePath> {
        if self.port_named(base).is_some() {
            return self.fail("not-assignable", span, "an earlier tuple cannot be changed");
        }
        let mut path = self.path(base, PlaceUse::Change)?;
        if path.place.ty.is_string() {
            let message = "a character of a string cannot be changed";
            return self.fail("not-assignable", span, message);
        }
        let (key, ty) = self.element_type(&path.place.ty, base.span)?;
        let index = self.subscript(index, key.as_ref())?;
        path.place.steps.push(PlaceStep::Index(index));
        path.place.ty = ty;
        path.place.pos = self.session.pos(span);
        path.subscripted = true;
        Some(path)
    }
}

fn immutable(what: &str, name: &str, span: Span, declared: Span) -> Diagnostic {
    let message = format!("{what} `{name}` is not mutable");
    let finding =
        Diagnostic::error("immutable-assignment", span, message).label(declared, "declared here");
    match what {
        "loop variable" => finding.help("copy it into a `mutable` variable and change that"),
        _ => finding.help(format!("declare `{name}` as `mutable` to change it")),
    }
}

/// Whether an expression has the form of a place.
pub(crate) fn is_place(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Paren(inner) => is_place(inner),
        ast::ExprKind::Name(_) | ast::ExprKind::Field(..) | ast::ExprKind::Index(..) => true,
        _ => false,
    }
}
