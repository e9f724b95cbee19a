//! The operators of `spl.adapter`.

mod alarm;
pub mod assigned;
pub mod compression;
mod delays;
pub mod directory_scan;
pub mod export;
mod file_name;
pub mod file_sink;
pub mod file_source;
pub mod format_rules;
pub mod import;
mod input;
pub mod metrics_sink;
pub mod net;
mod output;
pub mod params;
mod peer;
pub mod reading;
pub mod record;
pub mod rotation;
pub mod verify;
pub mod zlib;
