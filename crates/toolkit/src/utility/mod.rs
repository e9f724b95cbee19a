//! The operators of `spl.utility`.

pub mod barrier;
pub mod beacon;
pub mod custom;
pub mod delay;
pub mod pair;
mod rendezvous;
pub mod split;
mod split_map;
pub mod throttle;
pub mod union;
