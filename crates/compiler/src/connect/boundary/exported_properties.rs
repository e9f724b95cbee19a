//! The properties by which an operator exports its stream.

use std::sync::Arc;

use graph::{OperatorNode, ParamValue};
use tuple::{Type, Value};

/// The attributes of the tuple that the parameter `properties` is.
pub(super) fn exported_properties(operator: &OperatorNode) -> Vec<(Arc<str>, Type, Value)> {
    let exprs = match operator.param("properties").map(|param| &param.value) {
        Some(ParamValue::Exprs(exprs)) => &exprs[..],
        _ => &[],
    };
    let mut properties = Vec::new();
    for expr in exprs {
        if let (graph::ExprKind::Const(Value::Tuple(values)), Type::Tuple(ty)) =
            (&expr.kind, &expr.ty)
        {
            let named = ty.attributes.iter().zip(values.iter());
            properties.extend(named.map(|(a, v)| (a.name.clone(), a.ty.clone(), v.clone())));
        }
    }
    properties
}
