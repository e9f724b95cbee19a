//! One invocation of a primitive operator, held against its model: ports, logic, parameters,
//! windows, outputs. What comes out is the operator of the graph.
//!
//! Each part reports what is wrong with it and goes on, so that one mistake does not hide another;
//! the operator is there in any case, and only a program without errors is handed on.

mod assignment_effects;
mod build;
mod filter;
mod forward;
mod interval;
mod logic;
mod output;
mod params;
mod policy;
mod ports;
mod value_type;
mod verify;
mod window;
mod window_form;
mod window_parts;

pub use build::without_channels;
pub(crate) use build::{InvocationRequest, build_operator};
