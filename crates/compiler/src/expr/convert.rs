//! Implicit conversions: `T` to `optional<T>`, the elements of literals, literal texts that are
//! short enough for a bounded string, and, in initializers only, every conversion that a cast
//! allows. Nothing else converts by itself; there is no implicit numeric conversion.

use std::rc::Rc;
use std::sync::Arc;

use graph::ExprKind;
use syntax::{Diagnostic, Span, ast};
use tuple::{Type, Value};

use super::cast_text::{as_operand, cast_text};
use super::literal::without_optional;
use super::{Typer, number};
use crate::tables::{Signature, TypePattern};
use crate::types::{castable, difference};

/// Whether an expression converts implicitly to a type.
pub(crate) fn fits(expr: &graph::Expr, to: &Type) -> bool {
    if expr.ty == *to {
        return true;
    }
    if let Type::Optional(inner) = to
        && !expr.ty.is_optional()
        && fits(expr, inner)
    {
        return true;
    }
    match (&expr.kind, to) {
        (ExprKind::Const(Value::RString(text)), Type::BoundedRString(bound)) => {
            text.0.len() <= *bound as usize
        }
        (ExprKind::List(list), Type::List(e, _)) if expr.ty.is_list() => all_fit(list, e),
        (ExprKind::Set(list), Type::Set(e, _)) if expr.ty.is_set() => all_fit(list, e),
        (ExprKind::Map(entries), Type::Map(kv, _)) if expr.ty.is_map() => entries
            .iter()
            .all(|(k, v)| fits(k, &kv.0) && fits(v, &kv.1)),
        (ExprKind::Tuple(list), Type::Tuple(to)) => expr.ty.as_tuple().is_some_and(|from| {
            let same_names = from.attributes.len() == to.attributes.len()
                && from
                    .attributes
                    .iter()
                    .zip(&to.attributes)
                    .all(|(a, b)| a.name == b.name);
            same_names && list.iter().zip(&to.attributes).all(|(e, a)| fits(e, &a.ty))
        }),
        (ExprKind::Conditional(_, a, b), to) => fits(a, to) && fits(b, to),
        _ => false,
    }
}

fn all_fit(list: &[graph::Expr], element: &Type) -> bool {
    list.iter().all(|e| fits(e, element))
}

/// Converts an expression that [`fits`].
pub(super) fn coerce(expr: graph::Expr, to: &Type) -> graph::Expr {
    convert(expr, to, &|expr, to| match to {
        Type::BoundedRString(_) => cast_node(expr, to),
        _ => expr,
    })
}

/// Two expressions brought to one type, if one converts to that of the other.
pub(super) fn unify_operands(left: graph::Expr, right: graph::Expr) -> (graph::Expr, graph::Expr) {
    if left.ty == right.ty {
        return (left, right);
    }
    let (to_left, to_right) = (left.ty.clone(), right.ty.clone());
    if fits(&right, &to_left) {
        let right = coerce(right, &to_left);
        (left, right)
    } else if fits(&left, &to_right) {
        (coerce(left, &to_right), right)
    } else {
        (left, right)
    }
}

/// Converts an expression; `otherwise` does what neither wrapping nor literals do.
fn convert(
    expr: graph::Expr,
    to: &Type,
    otherwise: &dyn Fn(graph::Expr, &Type) -> graph::Expr,
) -> graph::Expr {
    if expr.ty == *to {
        return expr;
    }
    let pos = expr.pos;
    if let Type::Optional(inner) = to
        && !expr.ty.is_optional()
    {
        let kind = ExprKind::Wrap(Box::new(convert(expr, inner, otherwise)));
        return graph::Expr {
            kind,
            ty: to.clone(),
            pos,
        };
    }
    let many = |list: Vec<graph::Expr>, e: &Type| -> Vec<graph::Expr> {
        list.into_iter().map(|x| convert(x, e, otherwise)).collect()
    };
    let (kind, ty) = match (expr.kind, to) {
        (ExprKind::List(list), Type::List(e, _)) => {
            (ExprKind::List(many(list, e)), Type::List(e.clone(), None))
        }
        (ExprKind::Set(list), Type::Set(e, _)) => {
            (ExprKind::Set(many(list, e)), Type::Set(e.clone(), None))
        }
        (ExprKind::Map(entries), Type::Map(kv, _)) => {
            let both = |(k, v)| (convert(k, &kv.0, otherwise), convert(v, &kv.1, otherwise));
            let entries = entries.into_iter().map(both).collect();
            (ExprKind::Map(entries), Type::Map(kv.clone(), None))
        }
        (ExprKind::Tuple(list), Type::Tuple(t)) if same_names(&expr.ty, to) => {
            let attributes = list.into_iter().zip(&t.attributes);
            let list = attributes
                .map(|(e, a)| convert(e, &a.ty, otherwise))
                .collect();
            (ExprKind::Tuple(list), to.clone())
        }
        (ExprKind::Conditional(c, a, b), to) => {
            let (a, b) = (convert(*a, to, otherwise), convert(*b, to, otherwise));
            (
                ExprKind::Conditional(c, Box::new(a), Box::new(b)),
                to.clone(),
            )
        }
        (kind, to) => {
            return otherwise(
                graph::Expr {
                    kind,
                    ty: expr.ty,
                    pos,
                },
                to,
            );
        }
    };
    let literal = graph::Expr { kind, ty, pos };
    if literal.ty == *to {
        literal
    } else {
        cast_node(literal, to)
    }
}

fn same_names(from: &Type, to: &Type) -> bool {
    let (Type::Tuple(from), Type::Tuple(to)) = (from, to) else {
        return false;
    };
    from.attributes.len() == to.attributes.len()
        && from
            .attributes
            .iter()
            .zip(&to.attributes)
            .all(|(a, b)| a.name == b.name)
}

/// Whether an initializer converts to the type of its variable, or a literal to one that it is cast
/// to.
pub(super) fn fits_initially(expr: &graph::Expr, to: &Type) -> bool {
    fits(expr, to)
        || castable(&expr.ty, to)
        || match (&expr.kind, to) {
            (_, Type::Optional(to)) if !expr.ty.is_optional() => fits_initially(expr, to),
            (ExprKind::List(list), Type::List(e, _)) | (ExprKind::Set(list), Type::Set(e, _)) => {
                list.iter().all(|x| fits_initially(x, e))
            }
            (ExprKind::Map(entries), Type::Map(kv, _)) => entries
                .iter()
                .all(|(k, v)| fits_initially(k, &kv.0) && fits_initially(v, &kv.1)),
            (ExprKind::Tuple(list), Type::Tuple(t)) => {
                same_names(&expr.ty, to)
                    && list
                        .iter()
                        .zip(&t.attributes)
                        .all(|(e, a)| fits_initially(e, &a.ty))
            }
            _ => false,
        }
}

/// Converts an expression that [`fits_initially`].
pub(super) fn coerce_initially(expr: graph::Expr, to: &Type) -> graph::Expr {
    convert(expr, to, &cast_node)
}

/// Whether text is read for an optional as a whole, since it may be `null`.
fn reads_null(from: &Type, inner: &Type) -> bool {
    from.is_string() && !inner.is_string() && !inner.is_xml()
}

/// A cast, with the wrap that a cast to optional is.
pub(crate) fn cast_node(expr: graph::Expr, to: &Type) -> graph::Expr {
    if expr.ty == *to {
        return expr;
    }
    let pos = expr.pos;
    let kind = match to {
        Type::Optional(inner) if !expr.ty.is_optional() && !reads_null(&expr.ty, inner) => {
            ExprKind::Wrap(Box::new(cast_node(expr, inner)))
        }
        _ => ExprKind::Cast(Box::new(expr)),
    };
    graph::Expr {
        kind,
        ty: to.clone(),
        pos,
    }
}

impl Typer<'_, '_> {
    /// The expression with exactly that type, or a report that it has another.
    pub(crate) fn coerced(&self, expr: graph::Expr, to: &Type, span: Span) -> Option<graph::Expr> {
        if fits(&expr, to) {
            return Some(coerce(expr, to));
        }
        let source = self.session.symbols.sources().text(span);
        let mut finding = mismatch(to, &expr.ty, span, source);
        let functions = self.context.output_functions.as_ref();
        if let (ExprKind::OutputCall(call), Some(false)) = (&expr.kind, functions.map(|f| f.nested))
        {
            // A cast of the result would make the call a part of a larger expression.
            finding.help.clear();
            let help = self.output_call_advice(&self.calls[*call as usize], to);
            return self.report(finding.help(help));
        }
        if is_text(&expr)
            && !to.is_string()
            && castable(&expr.ty, to)
            && !self.is_text_of(&expr, to)
        {
            finding.help.clear();
        }
        let finding = bracket_advice(finding, &expr, to);
        self.report(literal_advice(finding, (&expr, source), to))
    }

    /// Advice for an output function whose result is of a wrong type.
    fn output_call_advice(&self, call: &graph::OutputCall, to: &Type) -> String {
        let gives_argument = |signature: &Rc<Signature>| {
            let formal = signature.formals.first().map(|formal| &formal.ty);
            matches!(signature.result, TypePattern::Formal(_)) && formal == Some(&signature.result)
        };
        let functions = self.context.output_functions.as_ref();
        let all = functions.and_then(|functions| functions.by_name.get(&*call.function));
        let name = &call.function;
        let can_cast = match &call.args[..] {
            [only] => only.ty == call.ty && castable(&only.ty, to),
            _ => false,
        };
        match can_cast && all.is_some_and(|all| all.iter().any(gives_argument)) {
            true => format!("cast its argument: `{name}(({to}) ...)`"),
            false => format!(
                "give the attribute the type {}, and convert it in a Functor behind",
                call.ty
            ),
        }
    }

    /// The initial value of a variable of that type.
    pub(super) fn initial_value(
        &self,
        expr: graph::Expr,
        to: &Type,
        written: &ast::Expr,
    ) -> Option<graph::Expr> {
        let span = written.span;
        if !fits_initially(&expr, to) {
            let source = self.session.symbols.sources().text(span);
            let finding = mismatch(to, &expr.ty, span, source);
            return self.report(bracket_advice(finding, &expr, to));
        }
        // A literal text is a value of the type, or it never will be.
        if let Some(wrong) = self.wrong_text((&expr, written), to) {
            let finding = mismatch(&wrong.expected, &wrong.found, wrong.span, "");
            let expected = &wrong.expected;
            let message = format!("{}, and this text says no {expected}", finding.message);
            return self.report(Diagnostic::error(finding.code, wrong.span, message));
        }
        Some(coerce_initially(expr, to))
    }

    /// Whether a literal text denotes a value of a type.
    fn is_text_of(&self, text: &graph::Expr, to: &Type) -> bool {
        let value = cast_node(text.clone(), to);
        self.session.try_fold(&value).is_some()
    }

    /// An expression that has a value.
    pub(super) fn non_void(&self, expr: graph::Expr, span: Span) -> Option<graph::Expr> {
        match expr.ty {
            Type::Void => self.fail("void-value", span, "this has no value (its type is void)"),
            _ => Some(expr),
        }
    }
}

/// Whether it is a text that is written in the program.
pub(super) fn is_text(expr: &graph::Expr) -> bool {
    expr.ty.is_string() && matches!(expr.kind, ExprKind::Const(_))
}

/// A literal need not be cast: it can be written as one of the type. `source` is how it is written.
pub(crate) fn literal_advice(
    mut finding: Diagnostic,
    (expr, source): (&graph::Expr, &str),
    to: &Type,
) -> Diagnostic {
    if let (ExprKind::Const(Value::RString(text)), Type::BoundedRString(bound)) = (&expr.kind, to) {
        let count = text.0.len();
        return finding.help(format!(
            "the text has {count} bytes, and {bound} is the most; the cast cuts it"
        ));
    }
    if let Some(finding) = range_advice(&finding, (expr, source), to) {
        return finding;
    }
    let fits = match &expr.kind {
        ExprKind::Const(value) if expr.ty.is_integral() => number::is_in_range(value, to),
        ExprKind::Const(_) => expr.ty.is_floatingpoint() && to.is_floatingpoint(),
        _ => false,
    };
    if fits && let Some(suffix) = number::suffix(to) {
        finding.help.clear();
        if let Some(digits) = number::hex_digits(source) {
            return finding.help(number::hex_advice(digits, to));
        }
        if *to == Type::Float64 && expr.ty.is_integral() {
            return finding.help("write the number with a decimal point to make it float64");
        }
        return finding.help(format!(
            "write the number with the suffix `{suffix}` to make it {to}"
        ));
    }
    finding
}

/// In place of the cast that was proposed of an integer that is written in the program: which
/// values the type has, if the cast would make another one of it.
fn range_advice(
    finding: &Diagnostic,
    (expr, source): (&graph::Expr, &str),
    to: &Type,
) -> Option<Diagnostic> {
    let ExprKind::Const(value) = &expr.kind else {
        return None;
    };
    let number = without_optional(to);
    let (least, most) = number::range(number).filter(|_| expr.ty.is_integral())?;
    let cast = cast_text(to, source);
    let is_proposed = finding.help.iter().any(|help| help.contains(&cast));
    if number::is_in_range(value, number) || !is_proposed {
        return None;
    }
    let mut finding = finding.clone();
    finding.help.clear();
    Some(finding.help(format!("{number} goes from {least} to {most}")))
}

/// A literal in the wrong kind of brackets.
fn bracket_advice(finding: Diagnostic, expr: &graph::Expr, to: &Type) -> Diagnostic {
    match (&expr.kind, to) {
        (ExprKind::Set(_), Type::List(..)) => {
            finding.help("a list is written in brackets: `[1, 2]`")
        }
        (ExprKind::List(_), Type::Set(..)) => finding.help("a set is written in braces: `{1, 2}`"),
        (ExprKind::List(_) | ExprKind::Set(_), Type::Map(..)) => {
            finding.help("a map is written in braces with keys: `{\"a\" : 1}`")
        }
        (ExprKind::List(_) | ExprKind::Set(_), Type::Tuple(_)) => {
            finding.help("a tuple is written in braces with names: `{a = 1}`")
        }
        _ => finding,
    }
}

/// "expected this, found that", with what would help; `source` is how the expression is written.
pub(crate) fn mismatch(expected: &Type, found: &Type, span: Span, source: &str) -> Diagnostic {
    if *found == Type::Void {
        let message = format!("this has no value (its type is void), and {expected} is needed");
        let finding = Diagnostic::error("void-value", span, message);
        let callee = source.split('(').next().unwrap_or_default().trim();
        return match callee.ends_with('M') {
            true => finding.help(format!(
                "`{callee}` changes its first argument: write the call as a statement of its own"
            )),
            false => finding,
        };
    }
    let message = format!("expected {expected}, found {found}");
    let finding = Diagnostic::error("type-mismatch", span, message);
    let finding = match difference(expected, found) {
        Some(text) => finding.help(text),
        None => finding,
    };
    match (expected, found) {
        (expected, Type::Optional(inner)) if **inner == *expected => {
            finding.help("unwrap it with `!`, or give a substitute for null with `?:`")
        }
        (Type::RString, Type::Blob) => {
            finding.help("`convertFromBlob(value)` is the text that the bytes are")
        }
        (Type::Blob, Type::RString) => {
            finding.help("`convertToBlob(value)` is the bytes of the text")
        }
        (Type::Boolean, Type::Optional(_)) => {
            finding.help("`o??` asks whether an optional has a value")
        }
        (Type::Boolean, found)
            if found.is_numeric() && source.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            finding.help("write `true` or `false`")
        }
        (Type::Boolean, found) if found.is_numeric() => {
            let zero = match found {
                Type::Int32 => "0".to_owned(),
                Type::Float64 => "0.0".to_owned(),
                found => match number::suffix(found) {
                    Some(suffix) => format!("0{suffix}"),
                    None => format!("({found}) 0"),
                },
            };
            finding.help(format!("compare it: `{} != {zero}`", as_operand(source)))
        }
        _ if found.is_numeric() && expected.is_numeric() && castable(found, expected) => finding
            .help(format!(
                "numbers do not convert by themselves; cast: `{}`",
                cast_text(expected, source)
            )),
        _ if castable(found, expected) => {
            finding.help(format!("cast it: `{}`", cast_text(expected, source)))
        }
        _ => finding,
    }
}

/// The optional of a type, unless it is one.
pub(super) fn optional_of(ty: &Type) -> Type {
    match ty {
        Type::Optional(_) => ty.clone(),
        ty => Type::Optional(Arc::new(ty.clone())),
    }
}
