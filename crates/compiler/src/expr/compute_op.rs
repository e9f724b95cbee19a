//! Infix operators by operand types: which apply to which.

use graph::BinaryOp as Op;
use syntax::ast::BinaryOp as Written;
use tuple::Type;

/// An operator that computes, as written: which one, and whether element by element.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComputeOp {
    pub op: Op,
    pub dotted: bool,
}

/// The computing operator of a written one; `None` for `&&`, `||`, `in`, `?:`.
pub(super) fn compute_op(op: Written) -> Option<ComputeOp> {
    let (op, dotted) = match op {
        Written::Add => (Op::Add, false),
        Written::Sub => (Op::Sub, false),
        Written::Mul => (Op::Mul, false),
        Written::Div => (Op::Div, false),
        Written::Rem => (Op::Rem, false),
        Written::Shl => (Op::Shl, false),
        Written::Shr => (Op::Shr, false),
        Written::Lt => (Op::Lt, false),
        Written::Le => (Op::Le, false),
        Written::Gt => (Op::Gt, false),
        Written::Ge => (Op::Ge, false),
        Written::Eq => (Op::Eq, false),
        Written::Ne => (Op::Ne, false),
        Written::BitAnd => (Op::BitAnd, false),
        Written::BitXor => (Op::BitXor, false),
        Written::BitOr => (Op::BitOr, false),
        Written::DotAdd => (Op::Add, true),
        Written::DotSub => (Op::Sub, true),
        Written::DotMul => (Op::Mul, true),
        Written::DotDiv => (Op::Div, true),
        Written::DotRem => (Op::Rem, true),
        Written::DotShl => (Op::Shl, true),
        Written::DotShr => (Op::Shr, true),
        Written::DotLt => (Op::Lt, true),
        Written::DotLe => (Op::Le, true),
        Written::DotGt => (Op::Gt, true),
        Written::DotGe => (Op::Ge, true),
        Written::DotEq => (Op::Eq, true),
        Written::DotNe => (Op::Ne, true),
        Written::DotBitAnd => (Op::BitAnd, true),
        Written::DotBitXor => (Op::BitXor, true),
        Written::DotBitOr => (Op::BitOr, true),
        Written::And | Written::Or | Written::In | Written::OrElse => return None,
    };
    Some(ComputeOp { op, dotted })
}

/// Whether an operator applies to two values of one type.
pub(super) fn applies(op: Op, ty: &Type) -> bool {
    match op {
        Op::Add => ty.is_numeric() || ty.is_string() || *ty == Type::Timestamp,
        Op::Sub => ty.is_numeric() || *ty == Type::Timestamp,
        Op::Mul | Op::Div => ty.is_numeric(),
        Op::Rem | Op::BitXor | Op::Shl | Op::Shr => ty.is_integral(),
        Op::BitAnd | Op::BitOr => ty.is_integral() || *ty == Type::Boolean,
        Op::Lt | Op::Le | Op::Gt | Op::Ge => ty.is_ordered(),
        Op::Eq | Op::Ne => ty.is_equatable(),
    }
}

pub(super) fn is_shift(op: Op) -> bool {
    matches!(op, Op::Shl | Op::Shr)
}

/// The operands that an operator needs, in the user's words.
pub(super) fn operand_words(op: Op) -> &'static str {
    match op {
        Op::Add => "numbers, timestamps or strings",
        Op::Sub => "numbers or timestamps",
        Op::Mul | Op::Div => "numbers",
        Op::Rem | Op::BitXor | Op::Shl | Op::Shr => "integers",
        Op::BitAnd | Op::BitOr => "integers or booleans",
        Op::Lt | Op::Le | Op::Gt | Op::Ge => "values that have an order",
        Op::Eq | Op::Ne => "values that can be compared (all but xml)",
    }
}

/// The operator as written.
pub(super) fn spelling(computing: ComputeOp) -> String {
    let text = match computing.op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::BitAnd => "&",
        Op::BitXor => "^",
        Op::BitOr => "|",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::Eq => "==",
        Op::Ne => "!=",
    };
    format!("{}{text}", if computing.dotted { "." } else { "" })
}

/// The element type of a list, the value type of a map.
pub(super) fn element(ty: &Type) -> Option<&Type> {
    match ty {
        Type::List(e, _) => Some(e),
        Type::Map(kv, _) => Some(&kv.1),
        _ => None,
    }
}
