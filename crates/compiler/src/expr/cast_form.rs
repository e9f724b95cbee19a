//! Casts that parse as other expressions until names are known: `(T) - e` and `(T)[e]`.
//!
//! The parser takes `(name) - e` for a difference and `(name)[e]` for a subscript. Where the name
//! is that of a type they are casts, and a cast binds tighter than what the parser has put around
//! it:
//!
//! ```text
//! a * (T) - b * c     parsed    (a * (T)) - (b * c)
//!                     meant     (a * ((T) (-b))) * c
//! (T)[a][b]           parsed    ((T)[a])[b]
//!                     meant     (T) ([a][b])
//! ```

use syntax::Span;
use syntax::ast::{BinaryOp, Expr, ExprKind, Ident, Mode, PrefixOp, QName, TypeExpr, TypeKind};

use super::Typer;
use crate::names::{Definition, DefinitionKind, ScopeLevel};

impl<'w> Typer<'_, 'w> {
    /// A difference whose left operand ends in `(T)`, grouped as the cast that it is; anything else
    /// as it is.
    pub(super) fn negation_cast(&self, expr: &'w Expr) -> &'w Expr {
        let ExprKind::Binary(BinaryOp::Sub, _, left, right) = &expr.kind else {
            return expr;
        };
        if !self.is_type(last_operand(left)) {
            return expr;
        }
        let symbols = self.session.symbols;
        symbols
            .regrouped_exprs
            .get(expr, || regrouped_negation(left, right))
    }

    /// A subscript of `(T)`, with all that is applied to it, grouped as the cast that it is;
    /// anything else as it is.
    pub(super) fn list_cast(&self, expr: &'w Expr) -> &'w Expr {
        if !self.is_type_subscript(expr) {
            return expr;
        }
        let symbols = self.session.symbols;
        symbols.regrouped_exprs.get(expr, || {
            let mut literal = expr.clone();
            let Some((ty, open)) = literal_in_place_of_subscript(&mut literal) else {
                return literal;
            };
            literal.span.start = open;
            cast(ty, literal)
        })
    }

    fn is_type_subscript(&self, mut expr: &Expr) -> bool {
        loop {
            expr = match &expr.kind {
                ExprKind::Index(base, _) if matches!(base.kind, ExprKind::Paren(_)) => {
                    return self.is_type(base);
                }
                ExprKind::Index(base, _)
                | ExprKind::Slice(base, ..)
                | ExprKind::Field(base, _)
                | ExprKind::Postfix(_, base) => base,
                _ => return false,
            };
        }
    }

    /// Whether it is a type in parentheses, and no value.
    fn is_type(&self, expr: &Expr) -> bool {
        let ExprKind::Paren(inner) = &expr.kind else {
            return false;
        };
        match &inner.kind {
            ExprKind::Name(name) => self.is_type_name(name),
            ExprKind::Field(base, member) => match &base.kind {
                ExprKind::Name(composite) => self.is_member_type(composite, member),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a name is that of a type, and of no value.
    pub(super) fn is_type_name(&self, name: &QName) -> bool {
        let (text, world) = (&name.name.text, self.session.symbols);
        let is_value = match &name.namespace {
            Some(namespace) => world.enumerator_in(&namespace.text, text).is_some(),
            None if text.starts_with('$') => return self.is_type_formal(&name.name),
            None => self.resolve_name(text).is_some(),
        };
        let is_local = || {
            self.scope.levels().any(|level| match level {
                ScopeLevel::Block(block) => block.types.borrow().contains_key(text),
                ScopeLevel::Composite(composite_scope) => composite_scope.ty(text).is_some(),
                _ => false,
            })
        };
        let is_global = || {
            world
                .search(self.scope.unit_id(), name, DefinitionKind::Type)
                .is_ok()
        };
        !is_value && (name.namespace.is_none() && is_local() || is_global())
    }

    fn is_type_formal(&self, name: &Ident) -> bool {
        let composite_scope = self.scope.composite_scope();
        let mut formals = composite_scope
            .iter()
            .flat_map(|composite_scope| &composite_scope.ast.params);
        formals.any(|f| f.name.text == name.text && matches!(f.mode, Mode::Type))
    }

    fn is_member_type(&self, composite: &QName, member: &Ident) -> bool {
        let is_value =
            composite.namespace.is_none() && self.resolve_name(&composite.name.text).is_some();
        let symbols = self.session.symbols;
        let found = symbols.search(self.scope.unit_id(), composite, DefinitionKind::Operator);
        match found {
            Ok(Definition::Composite(_, ast)) => {
                !is_value && ast.types.iter().any(|t| t.name.text == member.text)
            }
            _ => false,
        }
    }
}

/// The operand that stands last in an expression.
fn last_operand(mut expr: &Expr) -> &Expr {
    loop {
        expr = match &expr.kind {
            ExprKind::Binary(_, _, _, right) => right,
            ExprKind::Prefix(_, inner) | ExprKind::Cast(_, inner) => inner,
            _ => return expr,
        };
    }
}

/// `left`, which ends in `(T)`, and the minus after it and `right`: a cast of a negation in the
/// middle of them.
fn regrouped_negation(left: &Expr, right: &Expr) -> Expr {
    match &left.kind {
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), at, a, b)
        | ExprKind::Binary(op @ (BinaryOp::DotAdd | BinaryOp::DotSub), at, a, b) => {
            binary(*op, *at, (**a).clone(), regrouped_negation(b, right))
        }
        ExprKind::Binary(BinaryOp::OrElse, at, a, b) => replace_first_operand(right, false, &|x| {
            binary(
                BinaryOp::OrElse,
                *at,
                (**a).clone(),
                regrouped_negation(b, x),
            )
        }),
        ExprKind::Binary(op, at, a, b) => replace_first_operand(right, true, &|x| {
            binary(*op, *at, (**a).clone(), regrouped_negation(b, x))
        }),
        ExprKind::Prefix(op, inner) => replace_first_operand(right, false, &|x| {
            let inner = regrouped_negation(inner, x);
            let span = left.span.to(inner.span);
            let kind = ExprKind::Prefix(*op, Box::new(inner));
            Expr { kind, span }
        }),
        ExprKind::Cast(ty, inner) => replace_first_operand(right, false, &|x| {
            let inner = regrouped_negation(inner, x);
            let span = left.span.to(inner.span);
            let kind = ExprKind::Cast(ty.clone(), Box::new(inner));
            Expr { kind, span }
        }),
        _ => replace_first_operand(right, false, &|x| cast(left.clone(), minus(x, left.span))),
    }
}

/// `right` with its first operand replaced. The operands of multiplication and its like may be
/// `a ?: b`, if `of_product`; else the first operand is no operation at all.
fn replace_first_operand(right: &Expr, of_product: bool, make: &dyn Fn(&Expr) -> Expr) -> Expr {
    match &right.kind {
        ExprKind::Binary(op, at, a, b) if !(of_product && *op == BinaryOp::OrElse) => binary(
            *op,
            *at,
            replace_first_operand(a, of_product, make),
            (**b).clone(),
        ),
        _ => make(right),
    }
}

fn binary(op: BinaryOp, at: Span, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let kind = ExprKind::Binary(op, at, Box::new(left), Box::new(right));
    Expr { kind, span }
}

/// `-x`, where the minus stands somewhere after `paren`.
fn minus(x: &Expr, paren: Span) -> Expr {
    let span = Span::new(x.span.file, paren.end, x.span.end);
    let kind = ExprKind::Prefix(PrefixOp::Negate, Box::new(x.clone()));
    Expr { kind, span }
}

/// `(T) value`, from the `(T)` and the value.
fn cast(paren: Expr, value: Expr) -> Expr {
    let span = paren.span.to(value.span);
    let ty = TypeExpr {
        kind: type_kind(&paren).unwrap_or(TypeKind::Error),
        span: paren.span,
    };
    let kind = ExprKind::Cast(ty, Box::new(value));
    Expr { kind, span }
}

/// The type in parentheses.
fn type_kind(paren: &Expr) -> Option<TypeKind> {
    let ExprKind::Paren(inner) = &paren.kind else {
        return None;
    };
    match &inner.kind {
        ExprKind::Name(name) => Some(TypeKind::Named(name.clone(), None)),
        ExprKind::Field(base, member) => match &base.kind {
            ExprKind::Name(name) => Some(TypeKind::Named(name.clone(), Some(member.clone()))),
            _ => None,
        },
        _ => None,
    }
}

/// Turns the innermost `(T)[e]` into `[e]`; answers the `(T)` and where the bracket opens.
fn literal_in_place_of_subscript(expr: &mut Expr) -> Option<(Expr, u32)> {
    let of = match &mut expr.kind {
        ExprKind::Index(base, index) if matches!(base.kind, ExprKind::Paren(_)) => {
            let span = Span::new(expr.span.file, base.span.end, expr.span.end);
            let ty = (**base).clone();
            let kind = ExprKind::List(vec![(**index).clone()]);
            *expr = Expr { kind, span };
            return Some((ty, span.start));
        }
        ExprKind::Index(base, _)
        | ExprKind::Slice(base, ..)
        | ExprKind::Field(base, _)
        | ExprKind::Postfix(_, base) => base,
        _ => return None,
    };
    let found = literal_in_place_of_subscript(of)?;
    expr.span.start = found.1;
    Some(found)
}
