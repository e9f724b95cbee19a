//! Conditions that are text until the program runs: the compiler reads them, the reference
//! interpreter evaluates them.
//!
//! A PE is handed [`holds`] when it is wired, and library functions reach it through
//! [`graph::Services`], interpreted or compiled. Each thread keeps what it has read ([`Kept`]), so
//! that a stream of tuples does not read its condition each time.

mod kept;
mod reading;

use std::cell::RefCell;
use std::sync::Arc;

use graph::{BadCondition, Services};
use tuple::{TupleType, Value};

use kept::Kept;
use reading::Reading;

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// Whether a condition holds for a tuple of a type; a [`graph::Reader`].
pub(crate) fn holds(
    text: &str,
    over: &Arc<TupleType>,
    tuple: &[Value],
    services: &mut dyn Services,
) -> Result<bool, BadCondition> {
    let known = KEPT.with_borrow_mut(|kept| kept.find(text, over));
    let reading = match known {
        Some(reading) => reading,
        None => {
            let reading = Reading::read(text, over)?;
            KEPT.with_borrow_mut(|kept| kept.add(text, over, reading))
        }
    };
    reading.holds(tuple, services)
}

#[cfg(test)]
mod tests;
