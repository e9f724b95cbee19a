//! The life of a PE: its threads start, run their sources and timers, and end in order.

pub(crate) mod pe;
pub(crate) mod thread_launch;
pub(crate) mod thread_runner;
pub(crate) mod timer_queue;
