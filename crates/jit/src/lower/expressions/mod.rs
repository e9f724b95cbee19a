//! Expressions: arithmetic, comparisons, conversions, subscripts, calls, assignments.

mod arith;
mod call;
mod cast;
mod compare;
mod decimal;
mod decimal_cast;
mod expr;
mod fixed_point;
mod index;
mod intrinsic;
mod place;
mod store;
mod string;
mod table_variable;
