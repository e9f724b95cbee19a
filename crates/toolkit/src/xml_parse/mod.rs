//! `spl.XML`: XMLParse.
//!
//! ```text
//! bytes ──Scanner──> tokens ──OpenElements──> trees of triggers ──value_extractor──> tuples
//!                                                                     ▲
//!                                     plan, implicit_mapping: which paths to evaluate
//! ```

mod document_attribute;
mod extraction;
mod implicit_mapping;
mod model;
mod operator;
mod plan;
mod value_extractor;

pub use model::ENTRY;
