//! Tokens to the lossless tree, by recursive descent: a function a production.
//!
//! The parser never fails and never loses a token. What it cannot use goes into an `Error` node.
//! One place gives one message: after a complaint nothing more is said until a token was accepted
//! and the statement or its line has ended, unless what is wrong was mended there and then.
//!
//! # Invariants
//! - Every loop over tokens consumes one in each round or ends.
//! - Nesting is bounded ([`parser_state`]), so a recursive function over the tree never needs more
//!   stack than [`crate::DEEP_STACK_BYTES`].

mod event;
mod goal;
mod grammar;
mod lookahead;
mod marker;
mod parser_state;
mod predicate;
mod recover;
mod token_ends;

pub(crate) use goal::{ParseGoal, ParsedText, parse};
pub(crate) use grammar::binding_level;
