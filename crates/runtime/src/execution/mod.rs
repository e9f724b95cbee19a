//! Execution inside a PE: a thread's region, the operators that it enters, and how a tuple gets
//! from one to the next.
//!
//! ```text
//! Operator -> OperatorOutlet::submit -> ThreadRegion::deliver -> OperatorInstance -> Operator ...
//! ```
//! [`wiring`] holds what all threads of the PE share. Its structure is fixed while the PE runs.

pub(crate) mod built_operator;
pub(crate) mod catch_policy;
pub(crate) mod checked_delivery;
pub(crate) mod delivery;
pub(crate) mod failure_containment;
pub(crate) mod input_watermark;
pub(crate) mod leftovers;
pub(crate) mod operator_calls;
pub(crate) mod operator_counts;
pub(crate) mod operator_instance;
pub(crate) mod operator_outlet;
pub(crate) mod port_metrics;
pub(crate) mod port_state;
pub(crate) mod source_thread;
pub(crate) mod stream_taps;
pub(crate) mod thread_region;
pub(crate) mod tuple_history;
pub(crate) mod wiring;
