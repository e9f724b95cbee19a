//! Delta policies as statements: has an attribute moved by more than an amount?
//!
//! The conditions are those of `runtime::window::exceeds`, which computes with integers of 128
//! bits: no difference wraps around. Timestamps are left to it.

use graph::{BinaryOp, Expr, ExprKind};
use tuple::{Type, Value};

use crate::lower;
use crate::stateful_lowering::StatefulLowering;

/// Whether the policy of an attribute of a type can be lowered.
pub(super) fn can_lower(ty: &Type, amount: &Value) -> bool {
    let is_of_type = amount.as_integer().is_some() == ty.is_integral();
    let is_lowered = match ty {
        // The difference is compared as an unsigned number.
        Type::Int64 | Type::Uint64 => amount.as_integer().is_some_and(|amount| amount >= 0),
        _ => ty.is_integral() || ty.is_float() || ty.is_decimal(),
    };
    is_of_type && is_lowered
}

/// Whether `new - old > amount`.
pub(super) fn exceeds(code: &StatefulLowering, new: &Expr, old: &Expr, amount: &Value) -> Expr {
    let amount = lower::constant(amount.clone(), new.ty.clone(), code.pos);
    let is_wide = matches!(new.ty, Type::Int64 | Type::Uint64);
    // In these types no difference wraps around, given that the new value is greater.
    let ty = match &new.ty {
        Type::Int64 | Type::Uint64 => Type::Uint64,
        ty if ty.is_integral() => Type::Int64,
        ty => ty.clone(),
    };
    let [a, b, least] = [new, old, &amount].map(|value| code.cast(value, &ty));
    let difference = code.binary(BinaryOp::Sub, &a, &b);
    let exceeds = code.compare(BinaryOp::Gt, &difference, &least);
    if !is_wide {
        return exceeds;
    }
    let is_greater = code.compare(BinaryOp::Gt, new, old);
    let both = ExprKind::And(Box::new(is_greater), Box::new(exceeds));
    lower::expr(both, Type::Boolean, code.pos)
}
