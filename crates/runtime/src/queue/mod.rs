//! Queue: a threaded port, a queue with a thread of its own or of a pool.
//!
//! ```text
//!    threads that submit                           the queue's thread
//!    QueueProducer --copy--> [ ring of frames ] --poll, in place--> QueueConsumer -> ... : region
//!        \-copy or buffer--> [ spill: deque under a lock ] --------/
//! ```
//! Items (tuples and markers) pass through a private ring, but for a queue that drops its oldest
//! tuple (drop-first): there all items are in the spill, because the writer of a ring cannot take
//! back a frame that the reader may be reading.
//!
//! Items that the ring has no room for although the queue has (tuples of varying length, a queue of
//! very many), and items that the queue has to take beyond its size, are *spilled* to a deque. As
//! long as an item is spilled all that follow are, so the order stays.
//!
//! # Pooled queues
//! A pooled queue has no thread of its own. Threads of a pool run the consumer's region, one at a
//! time, for a bounded number of items. A consumer that has no items is given back armed: the next
//! item announces the region to the pool. A thread of the pool that finds a queue full runs the
//! consumer itself instead of waiting. `docs/decisions/0025-dynamic-threads.md` has the reasons.
//!
//! # Large tuples
//! An owned tuple comes with its buffer ([`crate::Operator::process_owned`]). If it is large, and
//! the one before was, the buffer itself goes into the deque and a spare one takes its place:
//! nothing is copied. `docs/decisions/0006-large-tuples-change-hands.md` says when that pays.
//!
//! # Size
//! The queue holds exactly the number of items that it was given; an item that its thread has begun
//! to process is not in it. Markers are never dropped: the producer waits. With `wait` the queue
//! holds more only if its thread waits, directly or not, for the producer (a feedback loop, a lock,
//! itself).
//!
//! # Ends
//! The final marker and the end of an abandoned stream pass through the queue like all items. If
//! the PE or the queue's thread fails, producers go on and their items are dropped. A queue in a
//! loop, to which no final marker comes, ends a while after a shutdown.

mod consumer_wakeup;
mod drop_first_producer;
mod queue_consumer;
pub(crate) mod queue_entry;
mod queue_producer;
mod queue_state;
mod spill;
