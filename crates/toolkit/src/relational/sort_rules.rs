//! What the compiler checks of a Sort beyond its model.

use graph::{Misuse, Operator, Part};

use crate::rule::{exprs, words, wrong};

/// What is sorted by has an order, and there is one direction for all or one for each.
pub fn verify(operator: &Operator) -> Result<(), Misuse> {
    let keys = exprs(operator, "sortBy");
    if let Some(key) = keys.iter().find(|key| !key.ty.is_ordered()) {
        let message = format!("values of type {} have no order", key.ty);
        let help = "sort by numbers, strings, enums, booleans, timestamps or blobs";
        return wrong(Part::Param("sortBy"), message, help);
    }
    let directions = words(operator, "order").len();
    if directions > 1 && directions != keys.len() {
        let message = format!(
            "`order` has {directions} values, and `sortBy` has {}",
            keys.len()
        );
        let help = "give one direction for all, or one for each expression of `sortBy`";
        return wrong(Part::Param("order"), message, help);
    }
    Ok(())
}
