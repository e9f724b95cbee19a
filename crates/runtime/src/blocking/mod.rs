//! How the threads of a PE sleep, wait for each other and are told to stop.
//!
//! The lowest tier: it knows no operator. What a thread has to do before it sleeps is handed in from
//! above, as a hook ([`before_sleep`]).

pub(crate) mod before_sleep;
pub(crate) mod loop_lock;
pub(crate) mod pe_thread;
pub(crate) mod retry_interrupted;
pub(crate) mod stop_signal;
pub(crate) mod thread_waits;
