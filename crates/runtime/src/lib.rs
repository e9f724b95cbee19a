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
mod build_context;
mod catch_policy;
mod compile_bodies;
pub mod crossing;
mod evaluation_inputs;
mod flusher;
mod fusion;
pub mod harness;
mod input_watermark;
mod leftover;
mod loop_lock;
mod message_log;
mod operator;
mod operator_factory;
mod operator_instance;
mod operator_outlet;
mod operator_services;
mod pe;
mod pe_context;
mod pe_topology;
mod port_metrics;
mod punctuation_counters;
mod report;
mod retry_interrupted;
mod stdout;
mod stop_signal;
mod thread_analysis;
mod thread_launch;
mod thread_region;
mod thread_runner;
mod thread_waits;
mod timer_queue;
mod tuple_history;
mod watermark_generator;
pub mod window;
mod wiring;

pub use build_context::BuildContext;
pub use crossing::before_sleep::about_to_sleep;
pub use evaluation_inputs::EvaluationInputs;
pub use flusher::FlushBuffer;
pub use harness::TestHarness;
pub use leftover::{CountedWindow, IncompleteWindows, WindowLeftover};
pub use message_log::TraceLevels;
pub use operator::{
    LoweredLogic, Operator, OperatorConstructor, OperatorEntry, Outlet, Source, TimerId,
};
pub use pe::{Pe, RunningPe};
pub use pe_context::PeOptions;
pub use punctuation_counters::PunctuationCounts;
pub use report::{Failure, FailureReport, OperatorCounts};
pub use retry_interrupted::retry_interrupted;
pub use stop_signal::StopSignal;
pub use thread_waits::RoomNotifier;
pub use transport::Wakeup;
