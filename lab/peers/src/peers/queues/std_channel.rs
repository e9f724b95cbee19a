//! `std::sync::mpsc::sync_channel`: the standard library's bounded channel, which is crossbeam's
//! design.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::ItemQueue;
use crate::peer::BuiltInPeer;

/// The standard library's bounded channel, with the settings of [`super`].
pub const SYNC_CHANNEL: BuiltInPeer = BuiltInPeer {
    name: "std-sync-channel",
    path: suite::StreamPath::Threaded,
    version: || format!("of Rust {}", env!("PEERS_RUST")),
    settings: "512 KB of items or of recycled boxes, try_send and try_recv, spinning",
    has_latency: true,
    run: super::run_queue::<SyncChannel>,
    serve_partner: None,
};

struct SyncChannel;

impl ItemQueue for SyncChannel {
    type PushEnd<T: Send> = SyncSender<T>;
    type PopEnd<T: Send> = Receiver<T>;

    fn new_queue<T: Send>(capacity: usize) -> (SyncSender<T>, Receiver<T>) {
        sync_channel(capacity)
    }

    #[inline]
    fn push<T: Send>(into: &mut SyncSender<T>, item: T) -> Result<(), T> {
        into.try_send(item).map_err(|error| match error {
            TrySendError::Full(item) | TrySendError::Disconnected(item) => item,
        })
    }

    #[inline]
    fn pop<T: Send>(out_of: &mut Receiver<T>) -> Option<T> {
        out_of.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn keeps_order_and_bounds() {
        super::super::tests::keeps_order_and_bounds::<super::SyncChannel>();
    }
}
