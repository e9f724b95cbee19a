//! The control of `rdma`: remote memory by libfabric alone, between two threads.

use std::net::{IpAddr, Ipv4Addr};

use control::Backoff;
use control::remote::{ListeningNode, RemoteProvider, RemoteReceiver, RemoteWire};

/// Both sides of a connection by a provider, for payloads of `len` bytes.
pub fn pair<W: RemoteWire>(provider: RemoteProvider, len: usize) -> (W::Sender, W::Receiver) {
    let node = ListeningNode::open(provider, IpAddr::V4(Ipv4Addr::LOCALHOST)).expect("a node");
    let address = node.address().expect("an address");
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| W::accept(node, len).expect("accepted"));
        let receiver = W::connect(provider, address, len).expect("connected");
        (sender.join().expect("no panic"), receiver)
    })
}

/// Waits for the next message, and returns its first word.
pub fn first_word(receiver: &mut impl RemoteReceiver) -> u64 {
    let (mut first, mut backoff) = (0, Backoff::default());
    loop {
        let taken = receiver.try_take(|message| {
            first = message
                .first_chunk()
                .map_or(0, |word| u64::from_ne_bytes(*word));
        });
        match taken.expect("a sound connection") {
            true => return first,
            false => backoff.wait(),
        }
    }
}
