//! Conditions that are text until the program runs: the compiler reads them, the reference
//! interpreter evaluates them.
//!
//! A PE is handed [`condition_holds`] when it is wired, and library functions reach it through
//! [`eval::Services`], interpreted or compiled. Each thread keeps what it has read
//! ([`ConditionCache`]), so that a stream of tuples does not read its condition each time.

mod cache;
mod parsed_condition;

use std::cell::RefCell;
use std::sync::Arc;

use eval::{ConditionError, Services};
use tuple::{TupleType, Value};

use cache::ConditionCache;
use parsed_condition::ParsedCondition;

thread_local! {
    static CONDITION_CACHE: RefCell<ConditionCache> = RefCell::default();
}

/// Whether a condition holds for a tuple of a type; a [`graph::Reader`].
pub(crate) fn condition_holds(
    text: &str,
    over: &Arc<TupleType>,
    tuple: &[Value],
    services: &mut dyn Services,
) -> Result<bool, ConditionError> {
    let known = CONDITION_CACHE.with_borrow_mut(|kept| kept.find(text, over));
    let reading = match known {
        Some(reading) => reading,
        None => {
            let reading = ParsedCondition::parse(text, over)?;
            CONDITION_CACHE.with_borrow_mut(|kept| kept.insert_new(text, over, reading))
        }
    };
    reading.holds(tuple, services)
}

#[cfg(test)]
mod tests;
