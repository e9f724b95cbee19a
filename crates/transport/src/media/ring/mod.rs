//! The medium between threads of one process: a ring in private memory, and a wakeup for each end.

mod medium;

pub(super) use medium::RingMedium;
