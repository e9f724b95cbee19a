//! crossbeam: its bounded channel, and the queue of fixed length without a channel around it.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use crossbeam_queue::ArrayQueue;

use super::ItemQueue;
use crate::peer::{BuiltInPeer, locked_version};

/// crossbeam's bounded channel, with the settings of [`super`].
pub const CHANNEL: BuiltInPeer = BuiltInPeer {
    name: "crossbeam-channel",
    path: suite::StreamPath::Threaded,
    version: || locked_version("crossbeam-channel"),
    settings: "bounded, 512 KB of items or of recycled boxes, try_send and try_recv, spinning",
    has_latency: true,
    run: super::run_queue::<CrossbeamChannel>,
    serve_partner: None,
};

/// crossbeam's bounded queue, with the settings of [`super`].
pub const ARRAY_QUEUE: BuiltInPeer = BuiltInPeer {
    name: "crossbeam-queue",
    path: suite::StreamPath::Threaded,
    version: || locked_version("crossbeam-queue"),
    settings: "ArrayQueue, 512 KB of items or of recycled boxes, push and pop, spinning",
    has_latency: true,
    run: super::run_queue::<CrossbeamArray>,
    serve_partner: None,
};

struct CrossbeamChannel;

impl ItemQueue for CrossbeamChannel {
    type PushEnd<T: Send> = Sender<T>;
    type PopEnd<T: Send> = Receiver<T>;

    fn new_queue<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
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

struct CrossbeamArray;

impl ItemQueue for CrossbeamArray {
    type PushEnd<T: Send> = Arc<ArrayQueue<T>>;
    type PopEnd<T: Send> = Arc<ArrayQueue<T>>;

    fn new_queue<T: Send>(capacity: usize) -> (Self::PushEnd<T>, Self::PopEnd<T>) {
        let queue = Arc::new(ArrayQueue::new(capacity));
        (queue.clone(), queue)
    }

    #[inline]
    fn push<T: Send>(into: &mut Self::PushEnd<T>, item: T) -> Result<(), T> {
        into.push(item)
    }

    #[inline]
    fn pop<T: Send>(out_of: &mut Self::PopEnd<T>) -> Option<T> {
        out_of.pop()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn keep_order_and_bounds() {
        super::super::tests::keeps_order_and_bounds::<super::CrossbeamChannel>();
        super::super::tests::keeps_order_and_bounds::<super::CrossbeamArray>();
    }
}
