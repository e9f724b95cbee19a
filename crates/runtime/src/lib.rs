//! The life of a PE: operators and their contract, regions, punctuation, timers, orderly shutdown.
//!
//! What comes in is a [`graph::Program`], a registry of operators and a [`abi::Backend`] that turns
//! typed expressions into something that runs; what goes out is a running PE. Nothing here has ever
//! seen source text or a code generator.
//!
//! ```text
//!   Pe::wire: make (registry) -> net (edges, threads, loops) -> code (backend) -> assemble
//!   running:  runner -> region -> node -> (code | built operator) -> desk -> region -> ...
//! ```

pub mod abi;
mod assemble;
mod build;
mod catch;
mod code;
pub mod crossing;
mod desk;
mod fuse;
mod gate;
mod held;
mod house;
mod journal;
mod launch;
mod leftover;
mod make;
mod marks;
mod metric;
mod net;
mod node;
mod operator;
mod past;
mod pe;
mod region;
mod report;
mod row;
mod runner;
mod stdout;
mod stop;
mod threads;
mod tide;
mod timer;
mod uninterrupted;
mod voice;
mod wait;
mod watermarks;
pub mod window;
mod wiring;
pub mod workbench;

pub use build::Build;
pub use crossing::quiet::about_to_sleep;
pub use held::Held;
pub use house::Options;
pub use journal::Levels;
pub use leftover::{CountedWindow, Incomplete, Leftover};
pub use marks::Marks;
pub use operator::{Logic, Make, Operator, OperatorEntry, Outlet, Source, TimerId};
pub use pe::{Pe, Running};
pub use report::{Failure, Report, Tally};
pub use row::Row;
pub use stop::Stop;
pub use transport::Bell;
pub use uninterrupted::uninterrupted;
pub use wait::Room;
pub use workbench::Workbench;
