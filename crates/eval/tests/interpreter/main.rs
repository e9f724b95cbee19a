//! Expressions, statements and calls on the reference interpreter.

mod calls;
mod expressions;
mod fixture;
mod folding;
mod statements;
mod submission;
