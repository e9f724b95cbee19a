//! The reference interpreter, which defines what typed expressions and statements mean.
//!
//! Its input is a [`graph::Body`] or [`graph::Expr`] and a [`crate::Evaluation`]: input tuples,
//! state, output. Compiled code has to give the same bits, the same faults in the same
//! order and the same submissions.
//!
//! # Order of evaluation
//! Operands, arguments, elements and attributes from left to right. An assignment first computes
//! the indices of its place from the variable inwards, then its value, and looks at the place last.
//! A map literal computes key, value, key, value. Arguments are all computed before the callee
//! begins.
//!
//! # Cost
//! Reading a part of a variable (`m[k].a`, `size(l)`, `for (x in l)`) copies no more than that
//! part: such an expression is a path into the variable until its value is needed, and the
//! arguments of a call are lent to the callee rather than copied. An attribute of an input tuple
//! that is not a scalar is decoded once in an evaluation.
//!
//! # Limits
//! Calls nest up to [`MAX_CALL_DEPTH`] levels and as far as the thread's stack allows: an
//! evaluation that needs more faults. A thread has [`STACK_BYTES`] from its first evaluation on;
//! one that has more says so with [`reserve_stack`]. Loops end when the program says so; only
//! [`fold()`] counts steps.

mod call;
mod decoded_inputs;
mod expr;
mod fold;
mod input_reading;
mod interpreter;
mod interpreter_ports;
mod machine;
mod operand;
mod place;
mod stack;
mod stmt;
mod variable_path;

pub use fold::fold;
pub use interpreter::Interpreter;
pub use stack::{MAX_CALL_DEPTH, STACK_BYTES, reserve_stack, stack_floor};
