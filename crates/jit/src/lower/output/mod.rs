//! Output and crossings: submitting, inlined operators, flat tuples, frames of rings.

mod inlined_operator;
mod ring_grant;
mod submit;
mod tuple_output;
