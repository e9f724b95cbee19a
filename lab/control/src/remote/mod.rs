//! Bare remote memory: what libfabric's calls give with nothing in between.
//!
//! ```text
//!   RemoteWrites   sender's ring ──fi_write──> receiver's ring, a write for each message
//!                  credit        <──fi_write── number of messages that were read
//!   RemoteSends    send buffers  ──fi_send───> posted receive buffers, a message in each
//!                  credit        <──fi_send─── number of buffers that were posted
//! ```
//! The medium `rdma` uses the same crate to call libfabric, and nothing else is shared with it:
//! rings, buffers, credit and polling are written here by hand. As in the medium, one operation in
//! eight has a completion, and credit goes back for each quarter of the ring or of the buffers.
//! Over a provider that promises no order of bytes, a write brings a number, as in the medium.
//! Nothing is protected: no token, no check of what comes.

mod fabric_end;
mod sends;
mod trips;
mod writes;

use std::net::{IpAddr, SocketAddr};

use fabric::ProviderQuery;
pub use fabric_end::ListeningNode;
pub use sends::RemoteSends;
pub use trips::{TripReceiver, TripSender};
pub use writes::RemoteWrites;

use crate::Error;

/// Bytes of a ring, or of all buffers of a side.
pub const REMOTE_RING_BYTES: usize = 1 << 20;

/// The providers of libfabric that need no adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteProvider {
    /// Sockets. A write is placed in the order of its bytes.
    Tcp,
    /// Shared memory of one host. No order of bytes is promised.
    Shm,
}

/// A way in which messages cross: remote writes, or messages into posted buffers.
pub trait RemoteWire {
    /// Type of the sending side.
    type Sender: RemoteSender;
    /// Type of the receiving side.
    type Receiver: RemoteReceiver;

    /// Waits for the receiver, which connects to the node; messages have `bytes` bytes.
    ///
    /// # Errors
    /// The provider has failed.
    fn accept(node: ListeningNode, bytes: usize) -> Result<Self::Sender, Error>;

    /// Connects to a sender of messages of `bytes` bytes, by the provider that the sender has.
    ///
    /// # Errors
    /// The provider has failed, or nobody listens there.
    fn connect(
        provider: RemoteProvider,
        address: SocketAddr,
        bytes: usize,
    ) -> Result<Self::Receiver, Error>;
}

/// The sending side of bare remote memory.
pub trait RemoteSender: Send {
    /// Waits for room, lets `fill` write a message, and sends it.
    ///
    /// # Errors
    /// The provider has failed.
    fn send(&mut self, fill: impl FnOnce(&mut [u8])) -> Result<(), Error>;

    /// Waits until the receiver has said by [`RemoteReceiver::acknowledge`] that it has all
    /// messages.
    ///
    /// # Errors
    /// The provider has failed.
    fn flush(&mut self) -> Result<(), Error>;
}

/// The receiving side of bare remote memory.
pub trait RemoteReceiver: Send {
    /// Passes the next message to `read`, if it has come; `false`: it has not.
    ///
    /// # Errors
    /// The provider has failed.
    fn try_take(&mut self, read: impl FnOnce(&[u8])) -> Result<bool, Error>;

    /// Tells the sender that all messages so far have come.
    ///
    /// # Errors
    /// The provider has failed.
    fn acknowledge(&mut self) -> Result<(), Error>;

    /// Waits until the sender has gone. Operations that fail by that are no errors.
    ///
    /// # Errors
    /// The provider has failed.
    fn wait_closed(&mut self) -> Result<(), Error>;

    /// Tells the sender that all messages have come, and waits until it has gone.
    ///
    /// # Errors
    /// The provider has failed.
    fn finish(&mut self) -> Result<(), Error> {
        self.acknowledge()?;
        self.wait_closed()
    }

    /// The node, to sleep on.
    fn node(&mut self) -> &mut fabric::FabricNode;

    /// The node, to sleep on.
    fn node_ref(&self) -> &fabric::FabricNode;
}

/// Why bare remote memory cannot be used here; `None`: it can.
pub fn missing_reason(provider: RemoteProvider) -> Option<String> {
    let query = provider.query(fabric::FabricAddress::Listen(IpAddr::from([127, 0, 0, 1])));
    fabric::provider_limits(&query)
        .err()
        .map(|error| error.to_string())
}

impl RemoteProvider {
    /// The provider, at an address.
    fn query(self, address: fabric::FabricAddress) -> ProviderQuery {
        let provider = match self {
            RemoteProvider::Tcp => "tcp",
            RemoteProvider::Shm => "shm",
        };
        ProviderQuery {
            provider: provider.to_owned(),
            device: None,
            address,
            source: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backoff::Backoff;

    const MESSAGES: u64 = 5_000;

    fn messages_get_through<W: RemoteWire>(provider: RemoteProvider, bytes: usize) {
        let node = ListeningNode::open(provider, IpAddr::from([127, 0, 0, 1])).unwrap();
        let address = node.address().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut sender = W::accept(node, bytes).unwrap();
                for number in 0..MESSAGES {
                    let fill = |room: &mut [u8]| room.fill(number as u8);
                    sender.send(fill).unwrap();
                }
                sender.flush().unwrap();
            });
            let mut receiver = W::connect(provider, address, bytes).unwrap();
            let mut backoff = Backoff::default();
            for number in 0..MESSAGES {
                let expected = vec![number as u8; bytes];
                let read = |message: &[u8]| assert_eq!(message, expected, "message {number}");
                while !receiver.try_take(read).unwrap() {
                    backoff.wait();
                }
            }
            receiver.finish().unwrap();
        });
    }

    #[test]
    fn messages_of_all_sizes_get_through() {
        for provider in [RemoteProvider::Tcp, RemoteProvider::Shm] {
            if let Some(why) = missing_reason(provider) {
                return println!("PASSED OVER: {why}");
            }
            for bytes in [1, 22, 64, 1024, 16384] {
                messages_get_through::<RemoteWrites>(provider, bytes);
            }
        }
        for bytes in [1, 22, 64, 1024, 16384] {
            messages_get_through::<RemoteSends>(RemoteProvider::Tcp, bytes);
        }
    }
}
