//! The operators of `spl.utility`.

pub mod barrier;
pub mod beacon;
pub mod custom;
pub mod deduplicate;
pub mod delay;
pub mod dynamic_filter;
pub mod gate;
pub mod pair;
mod rendezvous;
pub mod split;
mod split_map;
pub mod switch;
pub mod throttle;
pub mod union;
