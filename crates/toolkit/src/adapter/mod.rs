//! The operators of `spl.adapter`.

pub mod assigned_attributes;
pub mod compression;
mod delay_field;
pub mod directory_scan;
pub mod export;
mod file_name;
pub mod file_sink;
pub mod file_source;
pub mod import;
pub mod input_origin;
pub mod metrics_sink;
pub mod net;
pub mod params;
mod peer_writer;
pub mod record_format;
mod record_input;
mod record_output;
pub mod rotation;
mod stop_waiter;
pub mod tuple_reader;
pub mod verify_format;
pub mod verify_records;
pub mod zlib;
