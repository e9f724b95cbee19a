//! crossbeam: its bounded channel, and the queue of fixed length without a channel around it.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use crossbeam_queue::ArrayQueue;

use super::Queue;
use crate::peer::{Peer, locked_version};

/// See [`super`].
pub const CHANNEL: Peer = Peer {
    name: "crossbeam-channel",
    path: suite::Path::Threaded,
    version: || locked_version("crossbeam-channel"),
    settings: "bounded, 512 KB of items or of recycled boxes, try_send and try_recv, spinning",
    has_latency: true,
    run: super::run::<Channel>,
    serve: None,
};

/// See [`super`].
pub const ARRAY_QUEUE: Peer = Peer {
    name: "crossbeam-queue",
    path: suite::Path::Threaded,
    version: || locked_version("crossbeam-queue"),
    settings: "ArrayQueue, 512 KB of items or of recycled boxes, push and pop, spinning",
    has_latency: true,
    run: super::run::<Array>,
    serve: None,
};

struct Channel;

impl<T: Send> Queue<T> for Channel {
    type Into = Sender<T>;
    type OutOf = Receiver<T>;

    fn make(capacity: usize) -> (Sender<T>, Receiver<T>) {
        bounded(capacity)
    }

    #[inline]
    fn push(into: &mut Sender<T>, item: T) -> Result<(), T> {
        into.try_send(item).map_err(|error| match error {
            TrySendError::Full(item) | TrySendError::Disconnected(item) => item,
        })
    }

    #[inline]
    fn pop(out_of: &mut Receiver<T>) -> Option<T> {
        out_of.try_recv().ok()
    }
}

struct Array;

impl<T: Send> Queue<T> for Array {
    type Into = Arc<ArrayQueue<T>>;
    type OutOf = Arc<ArrayQueue<T>>;

    fn make(capacity: usize) -> (Self::Into, Self::OutOf) {
        let queue = Arc::new(ArrayQueue::new(capacity));
        (queue.clone(), queue)
    }

    #[inline]
    fn push(into: &mut Self::Into, item: T) -> Result<(), T> {
        into.push(item)
    }

    #[inline]
    fn pop(out_of: &mut Self::OutOf) -> Option<T> {
        out_of.pop()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn keep_order_and_bounds() {
        super::super::tests::keeps_order_and_bounds::<super::Channel>();
        super::super::tests::keeps_order_and_bounds::<super::Array>();
    }
}
