//! Output functions that are lowered, by the kind of window.

use eval::State;
use graph::OutputCall;
use tuple::Type;

/// Whether a call can be lowered in a tumbling window, for its groups or for the window as a whole.
pub(super) fn is_lowered_in_tumbling(call: &OutputCall, has_groups: bool) -> bool {
    let is_real = |ty: &Type| ty.is_integral() || ty.is_float() || ty.is_decimal();
    let is_compared = |ty: &Type| is_real(ty) || *ty == Type::Timestamp || ty.is_string();
    let argument = call.args.first().map(|arg| &arg.ty);
    match &*call.function {
        "Count" | "CountAll" | "CountGroups" | "Last" | "Any" => true,
        "Collect" | "CollectDistinct" => true,
        "CollectArgMax" | "CollectArgMin" => argument.is_some_and(is_compared),
        "CountByGroup" => !has_groups,
        "First" => argument.is_some_and(State::is_scalar),
        "Max" | "Min" | "MaxCount" | "MinCount" => argument.is_some_and(is_compared),
        "Sum" | "Average" => argument.is_some_and(is_real),
        "ArgMax" | "ArgMin" => argument.is_some_and(is_compared) && State::is_scalar(&call.ty),
        _ => false,
    }
}

/// The SPL type in which the sum of a window of integers cannot overflow, if there is one.
pub(super) fn sum_type(ty: &Type) -> Option<Type> {
    match ty {
        Type::Int8 | Type::Int16 | Type::Int32 => Some(Type::Int64),
        Type::Uint8 | Type::Uint16 | Type::Uint32 => Some(Type::Uint64),
        _ => None,
    }
}

/// Whether a call can be lowered in a sliding window.
pub(super) fn is_lowered_in_sliding(call: &OutputCall) -> bool {
    let is_lowered = match &*call.function {
        "CountByGroup" | "MaxCount" | "MinCount" | "Collect" | "CollectDistinct"
        | "CollectArgMax" | "CollectArgMin" => false,
        "Max" | "Min" | "ArgMax" | "ArgMin" | "Sum" | "Average" => call
            .args
            .first()
            .is_some_and(|arg| arg.ty.is_integral() || arg.ty.is_float()),
        _ => true,
    };
    is_lowered && is_lowered_in_tumbling(call, false)
}
