//! Blocking: how the threads of a PE sleep, wait for each other, and are asked to stop.
//!
//! This is the lowest tier and knows no operator. The work that a thread has to do before it sleeps
//! is a hook that upper tiers register ([`before_sleep`]).

pub(crate) mod before_sleep;
pub(crate) mod loop_lock;
pub(crate) mod pe_thread;
pub(crate) mod pool_thread;
pub(crate) mod region_pool;
pub(crate) mod retry_interrupted;
pub(crate) mod stop_signal;
pub(crate) mod thread_samples;
pub(crate) mod thread_waits;
