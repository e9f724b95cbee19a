//! The built-in functions, called as the interpreter calls them: tables of calls and what they
//! give.

extern crate thalweg_toolkit as toolkit;

mod census;
mod collection;
mod extremes;
mod file;
mod harness;
mod math;
mod predicate;
mod regex;
mod string;
mod text;
mod time;
mod time_strings;
mod utility;
