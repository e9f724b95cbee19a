//! Queue: a threaded port, a queue with a thread of its own.
//!
//! ```text
//!   threads that submit                           the queue's thread
//!     Entrance --copy--> [ ring of frames ] --poll, in place--> Exit -> ... : region
//!         \-copy or buffer> [ spill: deque under a lock ] --------/
//! ```
//! Items (tuples and markers) pass through a private ring. What the ring has no room for although
//! the queue has (tuples of varying length, a queue of very many), and what the queue has to take
//! beyond its size, is *spilled* to a deque. As long as something is spilled everything is, so the
//! order stays. A queue that drops its oldest tuple has only the spill: the writer of a ring cannot
//! take back what a reader may be reading.
//!
//! # Large tuples
//! A tuple of varying length that was made to be sent comes with its buffer
//! ([`Operator::process_made`]). If it is large, and the one before was, the buffer itself goes
//! into the deque and a spare one takes its place: nothing is copied.
//! `docs/decisions/0006-large-tuples-change-hands.md` says when it pays.
//!
//! # Size
//! The queue holds so many items as it says, exactly: one that its thread has begun to process is
//! not in it. Markers are never dropped; whoever sends one waits. With `wait` the queue holds more
//! only if its thread waits, directly or not, for whoever sends (a feedback loop, a lock, itself).
//!
//! # Ends
//! The final marker and a stream that is abandoned pass through the queue like everything else. If
//! the PE fails, or the queue's thread, whoever sends goes on and what he sends is dropped. A queue
//! in a loop, to which no final marker comes, ends a while after a shutdown.

mod drop_first_producer;
mod queue_consumer;
pub(crate) mod queue_entry;
mod queue_producer;
mod queue_state;
mod spill;
