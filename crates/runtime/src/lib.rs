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
mod assembly;
mod blocking;
mod contract;
mod counters;
pub mod crossing;
mod edge;
mod execution;
pub mod harness;
mod lifecycle;
mod order;
mod queue;
mod services;
pub mod window;

pub use abi::{CountedWindow, EvaluationInputs, LoweredLogic, Outlet};
pub use blocking::before_sleep::about_to_sleep;
pub use blocking::retry_interrupted::retry_interrupted;
pub use blocking::stop_signal::StopSignal;
pub use blocking::thread_waits::RoomNotifier;
pub use contract::build_context::BuildContext;
pub use contract::flush_buffer::FlushBuffer;
pub use contract::incomplete_windows::IncompleteWindows;
pub use contract::operator::{Operator, Source, TimerId};
pub use contract::operator_entry::{OperatorConstructor, OperatorEntry};
pub use counters::punctuation_counters::PunctuationCounts;
pub use harness::TestHarness;
pub use lifecycle::pe::{Pe, RunningPe};
pub use services::message_log::TraceLevels;
pub use services::pe_context::PeOptions;
pub use services::report::{Failure, FailureReport, OperatorCounts};
pub use services::window_leftover::WindowLeftover;
pub use transport::Wakeup;
