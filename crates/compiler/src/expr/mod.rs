//! Typing of expressions.
//!
//! A [`Typer`] types what stands at one place of the program: the expressions of one clause, or the
//! body of one function. It takes trees, a scope and a [`TypingContext`], and gives typed
//! expressions.
//!
//! Types flow up from the leaves; a *hint* flows down, for the literals that have no type of their
//! own (`[]`, `{}`, `null`). What was expected is compared last, by [`convert`], which alone knows
//! the implicit conversions.

mod access;
mod advice;
mod assign;
mod binary;
mod cast;
mod cast_form;
mod cast_text;
mod compute_op;
mod conditional;
mod container;
mod context;
mod convert;
mod definite_assignment;
mod effect;
mod effect_check;
mod field;
mod formal;
mod infer;
mod literal;
mod literal_text;
mod mixed_numbers;
mod name;
mod name_resolution;
mod needs_context;
mod number;
mod pending;
mod place;
mod port;
mod replace_inputs;
mod type_bound;
mod typer;
mod unary;

pub use context::{AllowedReturn, ReadableInputs, StatefulCalls, TypingContext};
pub(crate) use convert::{cast_node as cast_to, fits as fits_type, literal_advice, mismatch};
pub(crate) use definite_assignment::DefiniteAssignment;
pub(crate) use effect::{ExprEffects, Variable};
pub(crate) use needs_context::needs_context;
pub(crate) use number::literal_value;
pub(crate) use place::{PlaceUse, is_place};
pub(crate) use replace_inputs::replace_inputs;
pub use typer::Typer;
pub(crate) use typer::VariableUsage;
