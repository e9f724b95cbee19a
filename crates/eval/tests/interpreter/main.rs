//! What the reference interpreter makes of expressions, statements and calls.

mod calls;
mod expressions;
mod fixture;
mod folding;
mod statements;
mod submission;
