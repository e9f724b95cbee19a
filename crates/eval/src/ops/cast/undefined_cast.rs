//! The fault of a cast that the type checker should have refused.

use tuple::Type;

use crate::Fault;
use crate::ops::faults;

/// The fault of a cast between types for which there is none.
pub(super) fn undefined_cast(from: &Type, to: &Type) -> Fault {
    faults::mistyped(&format!("the cast from {from} to {to}"))
}
