//! The medium between threads of one process: a ring in private memory, and a wakeup for each end.
//!
//! A ticket is a number in a table of this process. Receiving ends that were not fetched from the
//! table when the sender is dropped are dropped with it.

mod medium;

pub(super) use medium::RingMedium;
