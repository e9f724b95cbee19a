//! Checks of a Sort when compiling, beyond its model.

use graph::{InvocationError, InvocationPart, OperatorNode};

use crate::verify_params::{exprs, literals, report_misuse};

/// Verifies that the types of `sortBy` are ordered, and that there is one direction for all or one
/// for each.
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    let keys = exprs(operator, "sortBy");
    if let Some(key) = keys.iter().find(|key| !key.ty.is_ordered()) {
        let message = format!("values of type {} have no order", key.ty);
        let help = "sort by numbers, strings, enums, booleans, timestamps or blobs";
        return report_misuse(InvocationPart::Param("sortBy"), message, help);
    }
    let directions = literals(operator, "order").len();
    if directions > 1 && directions != keys.len() {
        let message = format!(
            "`order` has {directions} values, and `sortBy` has {}",
            keys.len()
        );
        let help = "give one direction for all, or one for each expression of `sortBy`";
        return report_misuse(InvocationPart::Param("order"), message, help);
    }
    Ok(())
}
