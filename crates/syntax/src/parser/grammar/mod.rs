//! The grammar: a function a production.
//!
//! Productions call each other as the language nests: a type holds expressions (its bounds), an
//! expression types (casts), a statement blocks, a composite invocations.

mod annotation;
mod clause;
mod composite;
pub(super) mod expr;
mod foreign;
mod foreign_words;
pub(super) mod function;
mod invocation;
mod literal;
mod logic;
mod stmt;
mod type_definition;
pub(super) mod types;
pub(super) mod unit;

pub(crate) use expr::binding_level;
