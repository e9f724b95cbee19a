//! Functions: prototypes, the choice among overloads, calls, and the bodies of user functions.
//!
//! Whatever can be called (user function, library function, output function of an operator) is a
//! [`Signature`]. [`overload`] chooses among those of one name by the types of the arguments.

mod call;
mod candidates;
mod constraint;
mod intrinsic;
mod output;
mod overload;
mod pattern;
mod prototype;
mod refusal;
mod requested_values;
mod signature;
mod submission;
mod table;
mod unify;
mod user;

pub use output::OutputFunctions;
pub(crate) use requested_values::RequestedValues;
pub(crate) use table::FunctionTable;
