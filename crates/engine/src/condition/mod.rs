//! Conditions that are text until the program runs (`evalPredicate`): the compiler parses them, the
//! reference interpreter evaluates them.
//!
//! Wiring gives a PE the function [`condition_holds`]. Library functions call it through
//! [`eval::Services`], whether they are interpreted or compiled. Each thread keeps the conditions
//! that it parsed lately ([`ConditionCache`]), so a stream of tuples does not parse its condition
//! for each tuple.

mod cache;
mod parsed_condition;

use std::cell::RefCell;
use std::sync::Arc;

use cache::ConditionCache;
use eval::{ConditionError, Services};
use parsed_condition::ParsedCondition;
use tuple::{TupleType, Value};

thread_local! {
    static CONDITION_CACHE: RefCell<ConditionCache> = RefCell::default();
}

/// Whether a condition holds for a tuple of type `over`.
///
/// # Errors
/// The text is no valid condition over the type, or its evaluation failed.
pub(crate) fn condition_holds(
    text: &str,
    over: &Arc<TupleType>,
    tuple: &[Value],
    services: &mut dyn Services,
) -> Result<bool, ConditionError> {
    let cached = CONDITION_CACHE.with_borrow_mut(|cache| cache.find(text, over));
    let condition = match cached {
        Some(condition) => condition,
        None => {
            let condition = ParsedCondition::parse(text, over)?;
            CONDITION_CACHE.with_borrow_mut(|cache| cache.insert_new(text, over, condition))
        }
    };
    condition.holds(tuple, services)
}

#[cfg(test)]
mod tests;
