//! Meaning of typed programs: the reference interpreter, with the operators, casts and faults that
//! compiled code gives as well, bit by bit.
//!
//! A [`graph::Body`] comes in with input tuples, state and [`Services`]; values, submissions or a
//! [`Fault`] go out. The compiler folds constants with it, the run time interprets with it where
//! nothing is compiled, and compiled code is compared with it.

mod clock;
mod condition_error;
mod evaluation;
mod event_time;
mod fault;
pub mod interp;
mod native;
mod no_services;
mod operator_watermark;
pub mod ops;
mod services;
mod state;

pub use clock::clock_seconds;
pub use condition_error::{ConditionError, ConditionErrorKind};
pub use evaluation::{Evaluation, InputTuples, Submit};
pub use event_time::{OperatorEventTime, Pane, PaneTiming};
pub use fault::{Fault, FaultKind};
pub use interp::Interpreter;
pub use native::{CheckArguments, NativeCall, NativeFn, PortSide, WrongArgument};
pub use no_services::NoServices;
pub use operator_watermark::OperatorWatermark;
pub use services::{EvaluateCondition, KeptValue, Services, TraceLevel};
pub use state::{
    DirectSlot, DirectSlots, DirectoryEntry, EntryId, EntryTable, EntryTableType, HASH_MULTIPLIER,
    KeyLayout, State, StateMemory, TableKey, TableLayouts, TableMemoryError, TableState,
    TableVariable, ValueBlockLayout, encode_key_value, hash_seed,
};
