//! Typing of assignments and steps: `a = b`, `a += b`, `a++`.

use graph::{ExprKind, LocalId, Place, PlaceRoot, PlaceStep, PortIndex, Stmt};
use syntax::ast::{self, BinaryOp as Written};
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::binary::InfixOperands;
use super::compute_op::compute_op;
use super::effect::EffectsMark;
use super::{PlaceUse, Typer, Variable};

impl<'w> Typer<'_, 'w> {
    /// `place = e`, `place op= e`: no value. That the variable itself is also read on the right
    /// side is no conflict; any other pair of uses may be one.
    pub(super) fn assign(
        &mut self,
        (op, at): (Option<Written>, Span),
        target: &'w ast::Expr,
        value: &'w ast::Expr,
        span: Span,
    ) -> Option<graph::Expr> {
        match op {
            None => self.assign_plain(target, value, span),
            Some(op) => self.assign_with((op, at), target, value, span),
        }
    }

    fn assign_plain(
        &mut self,
        target: &'w ast::Expr,
        value: &'w ast::Expr,
        span: Span,
    ) -> Option<graph::Expr> {
        let start = self.effects.mark();
        let place = self.place(target, PlaceUse::Assign);
        let Some(place) = place else {
            self.check_untyped(value);
            self.effects.truncate(start);
            self.mark_assigned(target);
            return None;
        };
        let value = self.expr_within(value, Some(&place.ty));
        self.check_effects(start);
        if let (PlaceRoot::Local(id), []) = (place.root, &place.steps[..]) {
            self.assignment.assign(id);
        }
        let kind = ExprKind::Assign(place, Box::new(value?));
        Some(self.typed_expr(kind, Type::Void, span))
    }

    /// Counts a variable as assigned although the assignment is wrong, so that one error does not
    /// cause others.
    fn mark_assigned(&mut self, target: &ast::Expr) {
        if let ast::ExprKind::Name(name) = &target.kind
            && let Some(super::name_resolution::NameResolution::Local(entry)) =
                self.resolve_name(&name.name.text)
        {
            self.assignment.assign(entry.id);
        }
    }

    fn assign_with(
        &mut self,
        (op, at): (Written, Span),
        target: &'w ast::Expr,
        value: &'w ast::Expr,
        span: Span,
    ) -> Option<graph::Expr> {
        let start = self.effects.mark();
        let place = self.place(target, PlaceUse::Update);
        let hint = place.as_ref().map(|place| place.ty.clone());
        let typed = match &hint {
            Some(hint) => self.infer(value, Some(hint)),
            None => {
                self.check_untyped(value);
                None
            }
        };
        if let Some(place) = &place {
            self.note_update(place, start, target.span);
        }
        self.check_effects(start);
        let (mut place, typed) = (place?, self.non_void(typed?, value.span)?);
        self.share_subscripts(&mut place, target.span);
        let computing = compute_op(op)?;
        let pos = self.session.pos(span);
        let left = self.read(&place, pos);
        let spans = (target.span, value.span);
        let operands = InfixOperands {
            left,
            right: typed,
            spans,
            op_span: at,
            wanted: Some(&place.ty),
            is_assignment: true,
        };
        let result = self.compute(computing, operands, span)?;
        let result = self.coerced_string(result, &place.ty, value.span)?;
        let kind = match result.kind {
            ExprKind::Binary(op, _, right) if result.ty == place.ty => {
                ExprKind::AssignOp(op, place, right)
            }
            _ => ExprKind::Assign(place, Box::new(result)),
        };
        Some(self.typed_expr(kind, Type::Void, span))
    }

    /// An operation that is no single [`ExprKind::AssignOp`] names its place twice. Each subscript
    /// is then evaluated once, before the statement, into a local.
    fn share_subscripts(&mut self, place: &mut Place, span: Span) {
        if !place.ty.is_collection() && !matches!(place.ty, Type::BoundedRString(_)) {
            return;
        }
        for step in &mut place.steps {
            if let PlaceStep::Index(index) = step
                && !is_plain_value(&index.kind)
            {
                let local = self.add_local("subscript".into(), index.ty.clone(), span, false);
                let read = graph::Expr {
                    kind: ExprKind::Local(local),
                    ..index.clone()
                };
                let value = std::mem::replace(index, read);
                self.subscripts.push(Stmt::Let(local, Some(value)));
            }
        }
    }

    /// `x += x++` changes `x` twice, whatever `x += x` reads.
    fn note_update(&mut self, place: &Place, start: EffectsMark, span: Span) {
        let variable = match place.root {
            PlaceRoot::State(id) => Variable::State(id),
            PlaceRoot::Local(id) => match self.copies.iter().position(|copy| *copy == Some(id)) {
                Some(port) => Variable::Input(PortIndex(port as u32)),
                None => Variable::Local(id),
            },
        };
        if self.effects.has_write(start, variable) {
            let fields = place.steps.iter().map_while(|step| match step {
                PlaceStep::Field(index) => Some(*index),
                PlaceStep::Index(_) => None,
            });
            let here = self.effects.mark();
            self.effects.write(variable, fields.collect(), span, here);
        }
    }

    /// The result of `place op e` as what the place holds; `bounded += "text"` is cut to the bound.
    fn coerced_string(&self, result: graph::Expr, ty: &Type, span: Span) -> Option<graph::Expr> {
        match ty {
            Type::BoundedRString(_) if result.ty == Type::RString => {
                Some(super::convert::cast_node(result, ty))
            }
            _ => self.coerced(result, ty, span),
        }
    }

    /// `++p`, `--p`, `p++`, `p--`
    pub(super) fn step(
        &mut self,
        target: &'w ast::Expr,
        down: bool,
        prefix: bool,
        span: Span,
    ) -> Option<graph::Expr> {
        let place = self.place(target, PlaceUse::Change)?;
        let ty = place.ty.clone();
        if !ty.is_numeric() || ty.is_complex() {
            let text = if down { "--" } else { "++" };
            let message = format!("`{text}` cannot be applied to {ty}");
            let finding = Diagnostic::error("operator-mismatch", span, message);
            return self
                .report(finding.help(format!("`{text}` needs an integer or float variable")));
        }
        Some(self.typed_expr(
            ExprKind::Increment {
                place,
                is_decrement: down,
                is_prefix: prefix,
            },
            ty,
            span,
        ))
    }

    /// The value that a place has.
    fn read(&self, place: &Place, pos: graph::Pos) -> graph::Expr {
        let (kind, ty) = match place.root {
            PlaceRoot::Local(id) => (ExprKind::Local(id), self.locals[id.0 as usize].ty.clone()),
            PlaceRoot::State(id) => {
                let entry = self
                    .operator
                    .as_ref()
                    .and_then(|site| site.state_entry(id).ty);
                (ExprKind::State(id), entry.unwrap_or(Type::Void))
            }
        };
        let root = graph::Expr { kind, ty, pos };
        place.steps.iter().fold(root, |base, step| {
            let ty = stepped_type(&base.ty, step);
            let kind = match step {
                PlaceStep::Field(index) => ExprKind::Field(Box::new(base), *index),
                PlaceStep::Index(index) => ExprKind::Index(Box::new(base), Box::new(index.clone())),
            };
            graph::Expr { kind, ty, pos }
        })
    }

    /// The local variable that stands for the tuple of a mutable input port in this body.
    pub(super) fn input_copy(&mut self, port: usize) -> LocalId {
        if self.copies.len() <= port {
            self.copies.resize(port + 1, None);
        }
        if let Some(id) = self.copies[port] {
            return id;
        }
        let input = self.operator.as_ref().map(|site| site.inputs[port].clone());
        let (name, schema, span) = match input {
            Some(input) => (input.name, input.schema.unwrap_or_default(), input.span),
            None => Default::default(),
        };
        let id = self.add_local(name, Type::Tuple(schema), span, false);
        self.assignment.assign(id);
        self.copies[port] = Some(id);
        id
    }
}

/// Whether an expression can be evaluated twice at no cost and without effect.
fn is_plain_value(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Const(_) | ExprKind::Local(_) | ExprKind::State(_) | ExprKind::Attribute { .. }
    )
}

/// The type that a step leads to.
fn stepped_type(ty: &Type, step: &PlaceStep) -> Type {
    match (ty, step) {
        (Type::Tuple(schema), PlaceStep::Field(index)) => {
            schema.attributes[*index as usize].ty.clone()
        }
        (Type::List(e, _), _) => (**e).clone(),
        (Type::Map(kv, _), _) => kv.1.clone(),
        (Type::Blob, _) => Type::Uint8,
        _ => Type::Void,
    }
}
