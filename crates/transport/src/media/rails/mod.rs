//! Parts of striped streams that the media with rails share: which bytes go out on which rail, and
//! which have come. They know neither sockets nor adapters.
//!
//! [`schedule`] assigns bytes to rails by their measured rates, finds stalled rails, and has bytes
//! go out again. [`received_ranges`] has what a receiver was sent, in any order.

mod drain_rate;
pub(in crate::media) mod received_ranges;
mod report_delay;
pub(in crate::media) mod schedule;
#[cfg(test)]
mod schedule_tests;
