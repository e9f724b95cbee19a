//! Typing of expressions.
//!
//! A [`Typer`] types what stands at one place of the program: the expressions of one clause, or the
//! body of one function. It takes trees, a scope and a [`Context`], and gives typed expressions.
//!
//! Types flow up from the leaves; a *hint* flows down, for the literals that have no type of their own
//! (`[]`, `{}`, `null`). What was expected is compared last, by [`convert`], which alone knows the
//! implicit conversions.

mod access;
mod advice;
mod assign;
mod binary;
mod cast;
mod cast_form;
mod conditional;
mod container;
mod context;
mod convert;
mod effect;
mod field;
mod formal;
mod infer;
mod literal;
mod lookup;
mod mixed;
mod name;
mod number;
mod operator;
mod pending;
mod place;
mod port;
mod rewrite;
mod typer;
mod unary;

pub use context::{Context, Inputs, Returns, Stateful};
pub(crate) use convert::{cast_node as cast_to, fits as fits_type, literal_advice, mismatch};
pub(crate) use effect::{Effects, Variable};
pub(crate) use literal::needs_context;
pub(crate) use number::literal_value;
pub(crate) use place::{Use, is_place};
pub(crate) use rewrite::replace_inputs;
pub use typer::Typer;
pub(crate) use typer::VarInfo;
