//! Typing of expressions.
//!
//! A [`Typer`] types what stands at one place of the program: the expressions of one clause, or the
//! body of one function. It takes trees, a scope and a [`Context`], and gives typed expressions.

mod context;
mod typer;

pub use context::{Context, Inputs, Returns, Stateful};
pub use typer::Typer;
