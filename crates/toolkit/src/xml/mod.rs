//! `spl.XML`: XMLParse.
//!
//! ```text
//! bytes ──graph::xml::Scanner──> tokens ──tree──> elements below a trigger ──value──> tuples
//!                                                     what to take of them: plan, implicit, path
//! ```

mod element;
mod implicit;
mod names;
mod operator;
mod path;
mod plan;
mod tree;
mod value;
pub mod xml_parse;
