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

impl Queue for Channel {
    type Into<T: Send> = Sender<T>;
    type OutOf<T: Send> = Receiver<T>;

    fn make<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
        bounded(capacity)
    }

    #[inline]
    fn push<T: Send>(into: &mut Sender<T>, item: T) -> Result<(), T> {
        into.try_send(item).map_err(|error| match error {
            TrySendError::Full(item) | TrySendError::Disconnected(item) => item,
        })
    }

    #[inline]
    fn pop<T: Send>(out_of: &mut Receiver<T>) -> Option<T> {
        out_of.try_recv().ok()
    }
}

struct Array;

impl Queue for Array {
    type Into<T: Send> = Arc<ArrayQueue<T>>;
    type OutOf<T: Send> = Arc<ArrayQueue<T>>;

    fn make<T: Send>(capacity: usize) -> (Self::Into<T>, Self::OutOf<T>) {
        let queue = Arc::new(ArrayQueue::new(capacity));
        (queue.clone(), queue)
    }

    #[inline]
    fn push<T: Send>(into: &mut Self::Into<T>, item: T) -> Result<(), T> {
        into.push(item)
    }

    #[inline]
    fn pop<T: Send>(out_of: &mut Self::OutOf<T>) -> Option<T> {
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
