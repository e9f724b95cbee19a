//! Counters of a running PE: markers at ports, frames and waits of crossing edges, items of
//! queues.
//!
//! One thread at a time writes a counter, any thread may read it and may see it stale.

pub(crate) mod congestion_meter;
pub(crate) mod crossing_counters;
pub(crate) mod latency;
pub(crate) mod punctuation_counters;
pub(crate) mod queue_counters;
pub(crate) mod recent_maximum;
