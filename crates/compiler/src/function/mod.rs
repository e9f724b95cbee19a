//! Functions: prototypes, the choice among overloads, calls, and the bodies of user functions.
//!
//! Every function (of the user, of the library, output function of an operator) has a signature.
//! [`overload`] chooses among those of one name by the types of the arguments.

mod call;
mod candidates;
mod intrinsic;
mod output;
mod overload;
mod prototype;
mod refusal;
mod submission;
mod table;
mod unify;
mod user;

pub use crate::tables::OutputFunctions;
