//! The operators of `spl.utility`.

pub mod barrier;
pub mod beacon;
mod blob;
pub mod character_transform;
pub mod compress;
pub mod custom;
pub mod decompress;
pub mod deduplicate;
pub mod delay;
pub mod dynamic_filter;
pub mod format;
pub mod gate;
mod held_items;
pub mod pair;
pub mod parallel_splitter;
pub mod parse;
mod port_aligner;
pub mod replayable_start;
pub mod split;
mod split_map;
pub mod switch;
pub mod threaded_split;
pub mod throttle;
pub mod union;
