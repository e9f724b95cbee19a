//! Reports of infix operators that do not apply to their operands, with proposals that would.

use graph::{BinaryOp, ExprKind};
use syntax::{Diagnostic, SourceMap, Span};
use tuple::Type;

use super::cast_text::{cast_text, shortened};
use super::compute_op::{ComputeOp, applies, element, operand_words, spelling};
use super::convert::literal_advice;
use super::literal::without_optional;
use crate::types::castable;

/// An operation as it is written.
pub(super) struct InfixSource<'s> {
    /// Places of the two operands.
    pub spans: (Span, Span),
    /// Place of the operator sign.
    pub op_span: Span,
    /// The type that the result is to have, if that is known.
    pub wanted: Option<&'s Type>,
    /// Whether the operation is one like `+=`, whose result goes to the left operand.
    pub is_assignment: bool,
    /// Texts of the files, to quote operands from.
    pub sources: &'s SourceMap,
}

/// The report, with the operands' types and what would help.
pub(super) fn no_operator(
    op: ComputeOp,
    (left, right): &(graph::Expr, graph::Expr),
    written: &InfixSource<'_>,
) -> Diagnostic {
    let InfixSource {
        spans,
        op_span: at,
        sources,
        ..
    } = *written;
    let exprs = (left, right);
    let precedence = precedence_advice(op, exprs, sources.text(spans.0));
    let (left, right) = (&left.ty, &right.ty);
    let text = spelling(op);
    let message = format!("`{text}` cannot be applied to {left} and {right}");
    let finding = Diagnostic::error("operator-mismatch", at, message)
        .label(spans.0, format!("this is {left}"))
        .label(spans.1, format!("this is {right}"));
    if let Some(help) = precedence {
        return finding.help(help);
    }
    let finding = advice(op, (left, right), written)
        .into_iter()
        .fold(finding, Diagnostic::help);
    if op.dotted || !applies(op.op, left) && !applies(op.op, right) {
        return finding;
    }
    // Of two numbers of different types, a literal is the easier one to change, unless it has the
    // type that is wanted.
    let (literal, span, other) = match &exprs.1.kind {
        ExprKind::Const(_) => (exprs.1, spans.1, left),
        _ => (exprs.0, spans.0, right),
    };
    let is_wanted = !op.op.is_comparison() && written.wanted == Some(&literal.ty);
    match is_wanted || !applies(op.op, other) {
        true => finding,
        false => literal_advice(finding, (literal, sources.text(span)), other),
    }
}

/// Advice for an operand that is a comparison and was not meant to be one. `written` is the text of
/// the left operand.
fn precedence_advice(
    op: ComputeOp,
    (left, right): (&graph::Expr, &graph::Expr),
    written: &str,
) -> Option<String> {
    let comparison = |expr: &graph::Expr| match &expr.kind {
        ExprKind::Binary(op, ..) if op.is_comparison() => Some(spelling(ComputeOp {
            op: *op,
            dotted: false,
        })),
        _ => None,
    };
    let text = spelling(op);
    if op.op.is_comparison() && comparison(left).is_some() && !written.starts_with('(') {
        return Some(format!(
            "comparisons do not chain; join two of them: `a {text} b && b {text} c`"
        ));
    }
    let is_bitwise = matches!(op.op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
    let operand = comparison(left).or_else(|| comparison(right));
    let compares = operand.filter(|_| is_bitwise)?;
    Some(format!(
        "comparisons bind more tightly than `{text}`: write `(a {text} b) {compares} c`"
    ))
}

/// A sentence that proposes what is right for operands of these types.
fn advice(
    op: ComputeOp,
    (left, right): (&Type, &Type),
    written: &InfixSource<'_>,
) -> Option<String> {
    let text = spelling(op);
    let spans = written.spans;
    let texts = (written.sources.text(spans.0), written.sources.text(spans.1));
    if op.dotted {
        return Some(match element(left).is_some() && element(right).is_some() {
            true => format!("`{text}` needs two lists or maps of one type"),
            false => format!("`{text}` works element by element on two lists or maps"),
        });
    }
    let is_joined = op.op == BinaryOp::Add && matches!(left, Type::List(..));
    if is_joined && element(left) == element(right) {
        return Some(
            match written.is_assignment {
                true => "`concatM(a, b)` appends a list to another; `.+` adds element by element",
                false => "`concat(a, b)` joins two lists; `.+` adds them element by element",
            }
            .to_owned(),
        );
    }
    if left == right && element(left).is_some_and(|e| applies(op.op, e)) {
        return Some(format!("write `.{text}` to work element by element"));
    }
    let plain = without_optional(left) == without_optional(right);
    if plain && (left != right || left.is_optional()) {
        return Some("unwrap the optional with `!`, or with `?:` and a substitute".to_owned());
    }
    if left.is_string() && right.is_string() && left != right {
        return Some(format!(
            "strings of different types do not mix; cast one: `({left})`"
        ));
    }
    let is_text = left.is_string() || right.is_string();
    if op.op.is_comparison()
        && is_text
        && [left, right].iter().any(|ty| matches!(ty, Type::Enum(_)))
    {
        return Some("an enumerator is written without quotes".to_owned());
    }
    if op.op.is_comparison() && is_text && [left, right].contains(&&Type::Boolean) {
        return Some("`true` and `false` are written without quotes".to_owned());
    }
    let (string, other, other_text) = match left.is_string() {
        true => (left, right, texts.1),
        false => (right, left, texts.0),
    };
    if op.op == BinaryOp::Add && string.is_string() && castable(other, string) {
        let cast = cast_text(string, other_text);
        return Some(format!("cast the {other} to text: `{cast}`"));
    }
    let are_numbers = left.is_numeric() && right.is_numeric() && castable(left, right);
    if are_numbers
        && left != right
        && let Some(cast) = common_cast(op, (left, right), written)
    {
        return Some(format!(
            "numbers do not convert by themselves; cast one: `{cast}`"
        ));
    }
    let generic = || match op.op {
        BinaryOp::Shl | BinaryOp::Shr => format!("`{text}` shifts an integer by an integer"),
        _ => format!("`{text}` needs two {} of one type", operand_words(op.op)),
    };
    Some(function_instead(op.op, (left, right)).map_or_else(generic, str::to_owned))
}

/// The function of the library that does what an operator does in other languages.
fn function_instead(op: BinaryOp, (left, right): (&Type, &Type)) -> Option<&'static str> {
    let both_sets = matches!((left, right), (Type::Set(..), Type::Set(..)));
    let is_float = |ty: &Type| matches!(ty, Type::Float32 | Type::Float64);
    let of_time = match (left, right) {
        (Type::Timestamp, other) => other.is_numeric(),
        (other, Type::Timestamp) => op == BinaryOp::Add && other.is_numeric(),
        _ => false,
    };
    match op {
        BinaryOp::Add if of_time => Some("`add(t, 1.5)` is the timestamp 1.5 seconds later"),
        BinaryOp::Sub if of_time => Some("`add(t, -1.5)` is the timestamp 1.5 seconds earlier"),
        BinaryOp::Add | BinaryOp::BitOr if both_sets => Some("`setUnion(a, b)` joins two sets"),
        BinaryOp::Sub if both_sets => Some("`setDifference(a, b)` has what only `a` has"),
        BinaryOp::BitAnd if both_sets => Some("`setIntersection(a, b)` has what both have"),
        BinaryOp::Rem if is_float(left) && left == right => {
            Some("`fmod(x, y)` is the remainder of two floats")
        }
        _ => None,
    }
}

/// An operation on two numbers with the cast that makes them one type.
fn common_cast(
    op: ComputeOp,
    (left, right): (&Type, &Type),
    written: &InfixSource<'_>,
) -> Option<String> {
    let text = spelling(op);
    let spans = written.spans;
    let texts = (written.sources.text(spans.0), written.sources.text(spans.1));
    let cast_to = |to: &Type| match to == left {
        true => format!("{} {text} {}", shortened(texts.0), cast_text(to, texts.1)),
        false => format!("{} {text} {}", cast_text(to, texts.0), shortened(texts.1)),
    };
    if written.is_assignment {
        let cast = || {
            format!(
                "{} {text}= {}",
                shortened(texts.0),
                cast_text(left, texts.1)
            )
        };
        return applies(op.op, left).then(cast);
    }
    let to = common_number(op.op, (left, right), written.wanted)?;
    let other = if to == left { right } else { left };
    // A whole number is wanted of one that is and one that is not, whose fraction counts.
    let loses_fraction = rank(to).0 < rank(other).0 && applies(op.op, other);
    let to = if loses_fraction { other } else { to };
    let cast = cast_to(to);
    let result = written.wanted.filter(|_| !op.op.is_comparison());
    Some(
        match result.filter(|wanted| wanted.is_numeric() && *wanted != to) {
            Some(wanted) => format!("({wanted}) ({cast})"),
            None => cast,
        },
    )
}

/// The type, of two numbers' types, to which the other number is to be cast: the one that is
/// wanted, else the one that holds more, if the operator takes it.
fn common_number<'t>(
    op: BinaryOp,
    (left, right): (&'t Type, &'t Type),
    wanted: Option<&Type>,
) -> Option<&'t Type> {
    let wanted = wanted.filter(|_| !op.is_comparison());
    let is_better = match wanted {
        Some(wanted) if wanted == left || wanted == right => wanted == right,
        _ => rank(right) > rank(left),
    };
    let both = match is_better {
        true => [right, left],
        false => [left, right],
    };
    both.into_iter().find(|ty| applies(op, ty))
}

/// How much of other numbers' values a type of numbers holds: first by its sort, then by its bits.
fn rank(ty: &Type) -> (u32, u32) {
    match ty {
        Type::Uint8 => (0, 8),
        Type::Int8 => (0, 9),
        Type::Uint16 => (0, 16),
        Type::Int16 => (0, 17),
        Type::Uint32 => (0, 32),
        Type::Int32 => (0, 33),
        Type::Uint64 => (0, 64),
        Type::Int64 => (0, 65),
        Type::Float32 => (1, 32),
        Type::Float64 => (1, 64),
        Type::Decimal32 => (2, 32),
        Type::Decimal64 => (2, 64),
        Type::Decimal128 => (2, 128),
        _ => (3, 0),
    }
}

#[cfg(test)]
mod tests {
    use graph::BinaryOp;
    use tuple::Type;

    use super::common_number;

    #[test]
    fn the_type_that_holds_more_is_cast_to() {
        let common = |op, a, b| common_number(op, (a, b), None).cloned();
        let (int, float, long) = (&Type::Int32, &Type::Float64, &Type::Uint64);
        assert_eq!(common(BinaryOp::Mul, int, float), Some(Type::Float64));
        assert_eq!(common(BinaryOp::Mul, float, int), Some(Type::Float64));
        assert_eq!(common(BinaryOp::Rem, int, float), Some(Type::Int32));
        assert_eq!(common(BinaryOp::Add, int, long), Some(Type::Uint64));
        let wanted = common_number(BinaryOp::Add, (long, int), Some(int));
        assert_eq!(wanted, Some(int));
    }
}
