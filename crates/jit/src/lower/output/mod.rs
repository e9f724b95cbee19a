//! Output and crossings: submitting, inlined operators, flat tuples, frames of rings.

mod inlined_operator;
mod normal_form;
mod ring_grant;
mod submit;
mod tuple_output;
