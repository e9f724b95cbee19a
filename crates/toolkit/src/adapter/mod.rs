//! The operators of `spl.adapter`.

pub mod file_sink;
pub mod file_source;
