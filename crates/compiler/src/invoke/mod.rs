//! Invocations of primitive operators, checked against their models: ports, logic, parameters,
//! windows, outputs. The result is an operator of the graph.
//!
//! Each part reports its errors and goes on, so that one mistake does not hide another. The
//! operator is built in any case; only a program without errors runs.

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
mod tuple_room;
mod value_type;
mod verify;
mod window;
mod window_form;
mod window_parts;
mod window_zero;

pub use build::without_channels;
pub(crate) use build::{InvocationRequest, build_operator};
