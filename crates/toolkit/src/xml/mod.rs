//! `spl.XML`: XMLParse.
//!
//! ```text
//! bytes ──xml::Scanner──> tokens ──tree──> elements below a trigger ──value──> tuples
//!                                                     what to take of them: plan, implicit, path
//! ```

mod implicit_mapping;
mod name_matching;
mod open_elements;
mod operator;
mod path;
mod plan;
mod value_extractor;
mod xml_element;
pub mod xml_parse;
