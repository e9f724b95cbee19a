//! The run time: the operator contract, the operators and threads of a PE, and its life from wiring
//! to an orderly end.
//!
//! The input is a [`graph::Program`], a registry of operators and an [`abi::Backend`] that makes
//! code of typed expressions; the output is a running PE. Nothing here sees source text or a code
//! generator.
//!
//! ```text
//!   Pe::wire:  make the operators (registry) -> edges, threads, loops -> code (backend) -> wiring
//!   running:   source -> outlet -> region -> operator instance -> (code | operator) -> outlet
//! ```
//!
//! Folders are tiers, and each uses only those above it in this table (`Cargo.toml` lists them):
//!
//! | tier | holds |
//! | --- | --- |
//! | `blocking` | stop signal, before-sleep hook, waits between threads |
//! | [`abi`] | what compiled code is given and may call |
//! | `counters` | counters of ports, crossings and queues |
//! | `edge` | ends of media, kinds of frames, codecs, idling |
//! | `contract` | what the author of an operator implements and is given |
//! | `services` | what all operators of a PE share |
//! | `order` | order positions, the order of each thread |
//! | `inserted` | the contract of operators that cross threads and processes |
//! | `operator_entry` | entries of the registry |
//! | `queue` | threaded ports |
//! | [`crossing`] | operators that a plan inserts |
//! | [`window`] | windows, for operators that have some |
//! | `execution` | regions, operator instances, delivery |
//! | `assembly` | from a program to a wired PE |
//! | `lifecycle` | threads of a PE, from start to end |
//! | [`harness`] | one operator by itself, for tests |

pub mod abi;
mod assembly;
mod blocking;
mod contract;
mod counters;
pub mod crossing;
mod edge;
mod execution;
pub mod harness;
mod inserted;
mod lifecycle;
mod operator_entry;
mod order;
mod queue;
mod services;
pub mod window;

pub use abi::{
    CountedPanes, CountedSlices, CountedWindow, EvaluationInputs, LoweredLogic, Outlet, TimerLogic,
    WatermarkLogic,
};
pub use blocking::before_sleep::{about_to_sleep, while_asleep};
pub use blocking::retry_interrupted::retry_interrupted;
pub use blocking::stop_signal::StopSignal;
pub use blocking::thread_waits::{PendingItems, RoomNotifier};
pub use contract::build_context::BuildContext;
pub use contract::flush_buffer::FlushBuffer;
pub use contract::incomplete_windows::IncompleteWindows;
pub use contract::late_tuples::count_late_tuple;
pub use contract::operator::{Operator, Source, TimerId};
pub use counters::punctuation_counters::PunctuationCounts;
pub use execution::stream_taps::StreamTaps;
pub use harness::TestHarness;
pub use lifecycle::pe::{Pe, RunningPe};
pub use lifecycle::plan_control::{PeSettings, PlanControl, QueueSettings};
pub use lifecycle::prepare_sampling;
pub use lifecycle::thread_cores::WantedCores;
pub use operator_entry::{InsertedConstructor, OperatorConstructor, OperatorEntry};
pub use sampling::{CpuSample, CpuSamples, RunningOperator};
pub use services::message_log::TraceLevels;
pub use services::pe_context::PeOptions;
pub use services::report::{Failure, FailureReport, OperatorCounts};
pub use services::tapped_tuples::TappedTuple;
pub use services::window_leftover::WindowLeftover;
pub use transport::Wakeup;
