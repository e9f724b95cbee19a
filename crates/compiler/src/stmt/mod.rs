//! Typing of statements and bodies.
//!
//! Statements are typed in order; what is known at each point (which variables have a value,
//! whether the point can be reached) is the [`crate::expr::DefiniteAssignment`].

mod body;
mod declaration;
mod returns;
mod statement;
mod submit;

pub(crate) use returns::always_returns;
pub(crate) use submit::punctuation_type;
