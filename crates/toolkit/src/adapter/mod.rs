//! The operators of `spl.adapter`.

mod compression;
mod file_name;
pub mod file_sink;
pub mod file_source;
mod input;
mod output;
mod record;
mod verify;
