//! Functions: prototypes, the choice among overloads, calls, and the bodies of user functions.
//!
//! Whatever can be called (user function, library function, output function of an operator) is a
//! `Signature`. [`overload`] chooses among those of one name by the types of the arguments.

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
