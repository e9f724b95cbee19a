//! A node of libfabric with its one connection: the calls that both ways of sending need.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use fabric::{
    Completion, CompletionKind, ConnectionId, FabricAddress, FabricError, FabricEvent, FabricNode,
    LocalSlice, PinnedMemory, PostOptions, RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};

use super::RemoteProvider;
use crate::Error;
use crate::backoff::Backoff;

/// One operation in eight has a completion, as in the medium.
const POSTS_PER_COMPLETION: u64 = 8;

/// Bytes in which a memory of the peer is told.
pub(super) const REMOTE_MEMORY_BYTES: usize = 24;

/// Node of a sender that waits for its receiver.
pub struct ListeningNode {
    pub(super) provider: RemoteProvider,
    pub(super) node: FabricNode,
}

/// A node with its connection.
pub(super) struct FabricEnd {
    pub node: FabricNode,
    pub connection: ConnectionId,
    /// Bytes of the peer that came with the connection.
    pub data: Vec<u8>,
    /// Number of the peer's writes with a number that have come.
    pub told: u64,
    completions: Vec<Completion>,
    posts: u64,
}

impl ListeningNode {
    /// A node of a provider that listens at an address of this host.
    ///
    /// # Errors
    /// libfabric is not installed, or its provider has failed.
    pub fn open(provider: RemoteProvider, address: IpAddr) -> Result<ListeningNode, Error> {
        let node = FabricNode::open(&provider.query(FabricAddress::Listen(address)));
        Ok(ListeningNode {
            provider,
            node: node.map_err(failed)?,
        })
    }

    /// The address and port at which it listens.
    ///
    /// # Errors
    /// The provider does not tell.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        self.node.listen_address().map_err(failed)
    }

    /// Accepts the receiver, with bytes for it. `prepare` is called before it may send.
    pub(super) fn accept(
        self,
        data: &[u8],
        prepare: impl FnOnce(&mut FabricNode, ConnectionId) -> Result<(), Error>,
    ) -> Result<FabricEnd, Error> {
        let mut node = self.node;
        let request = wait(&mut node, |event| match event {
            FabricEvent::Request(request) => Some(request),
            _ => None,
        })?;
        let connection = node.begin_accept(&request).map_err(failed)?;
        prepare(&mut node, connection)?;
        node.finish_accept(connection, data).map_err(failed)?;
        wait(&mut node, |event| {
            matches!(event, FabricEvent::Connected { .. }).then_some(())
        })?;
        Ok(FabricEnd::new(node, connection, request.data))
    }
}

/// A node of a provider that connects to an address.
pub(super) fn open_connecting(
    provider: RemoteProvider,
    address: SocketAddr,
) -> Result<FabricNode, Error> {
    FabricNode::open(&provider.query(FabricAddress::Connect(address))).map_err(failed)
}

/// Waits for a change of a node's connections.
fn wait<T>(node: &mut FabricNode, is_it: impl Fn(FabricEvent) -> Option<T>) -> Result<T, Error> {
    let mut backoff = Backoff::default();
    loop {
        match node.next_event().map_err(failed)? {
            Some(FabricEvent::Closed { why, .. }) => return Err(Error::new(why)),
            Some(event) => {
                if let Some(found) = is_it(event) {
                    return Ok(found);
                }
            }
            None => backoff.wait(),
        }
    }
}

impl FabricEnd {
    fn new(node: FabricNode, connection: ConnectionId, data: Vec<u8>) -> FabricEnd {
        FabricEnd {
            node,
            connection,
            data,
            told: 0,
            completions: Vec::new(),
            posts: 0,
        }
    }

    /// Connects a node, with bytes for the sender.
    pub fn connect(mut node: FabricNode, data: &[u8]) -> Result<FabricEnd, Error> {
        let connection = node.connect(data).map_err(failed)?;
        let data = wait(&mut node, |event| match event {
            FabricEvent::Connected { data, .. } => Some(data),
            _ => None,
        })?;
        Ok(FabricEnd::new(node, connection, data))
    }

    /// Options of the next operation of `bytes` bytes.
    fn next_options(&mut self, bytes: usize) -> PostOptions {
        self.posts += 1;
        let is_told = self.posts.is_multiple_of(POSTS_PER_COMPLETION);
        PostOptions {
            completion: is_told.then_some(self.posts),
            is_inline: bytes <= self.node.limits().inline_bytes_max,
            ..PostOptions::default()
        }
    }

    /// Writes bytes into the peer's memory, at `offset` bytes of it, perhaps with a number.
    pub fn write(
        &mut self,
        from: (RegionId, Range<usize>),
        to: &RemoteMemory,
        offset: u64,
        immediate: Option<u64>,
    ) -> Result<(), Error> {
        let options = PostOptions {
            immediate,
            ..self.next_options(from.1.len())
        };
        let from = slice(from);
        loop {
            let posted = self
                .node
                .post_write(self.connection, &from, to, offset, options);
            if posted.map_err(failed)? {
                return Ok(());
            }
            self.poll(&mut |_, _| Ok(()))?;
        }
    }

    /// Sends bytes as a message. Messages that come meanwhile are passed to `take`.
    pub fn send(
        &mut self,
        from: (RegionId, Range<usize>),
        take: &mut TakeReceived<'_>,
    ) -> Result<(), Error> {
        let options = self.next_options(from.1.len());
        let from = slice(from);
        loop {
            let posted = self.node.post_send(self.connection, &from, options);
            if posted.map_err(failed)? {
                return Ok(());
            }
            self.poll(take)?;
        }
    }

    /// Lets the provider work. Each message that has filled a receive buffer is passed to `take`,
    /// by the number of the buffer.
    pub fn poll(&mut self, take: &mut TakeReceived<'_>) -> Result<(), Error> {
        self.completions.clear();
        self.node
            .poll_completions(&mut self.completions)
            .map_err(failed)?;
        for completion in &self.completions {
            match &completion.kind {
                CompletionKind::Received { bytes, .. } => take(completion.number, *bytes)?,
                CompletionKind::RemoteWrite { .. } => self.told += 1,
                CompletionKind::Failed(error) => return Err(failed(error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits until the peer has closed the connection. Operations that fail by that are no errors.
    pub fn wait_closed(&mut self) -> Result<(), Error> {
        let mut backoff = Backoff::default();
        loop {
            if let Some(FabricEvent::Closed { .. }) = self.node.next_event().map_err(failed)? {
                return Ok(());
            }
            self.completions.clear();
            self.node
                .poll_completions(&mut self.completions)
                .map_err(failed)?;
            backoff.wait();
        }
    }
}

/// Takes the number of a receive buffer and the bytes that have come in it.
pub(super) type TakeReceived<'t> = dyn FnMut(u64, usize) -> Result<(), Error> + 't;

/// Posts a receive buffer.
pub(super) fn post_receive(
    node: &mut FabricNode,
    connection: ConnectionId,
    into: (RegionId, Range<usize>),
    number: u64,
) -> Result<(), Error> {
    match node
        .post_receive(connection, &slice(into), number)
        .map_err(failed)?
    {
        true => Ok(()),
        false => Err(Error::new("the provider has no room for a receive buffer")),
    }
}

fn slice((region, range): (RegionId, Range<usize>)) -> LocalSlice {
    LocalSlice { region, range }
}

/// Memory that a node has registered.
pub(super) fn register(
    node: &mut FabricNode,
    bytes: usize,
    access: RemoteAccess,
) -> Result<(PinnedMemory, RegionId), Error> {
    let memory = PinnedMemory::new(bytes);
    let memory = memory.map_err(|error| Error::system("pin memory", error))?;
    let region = node.register(&memory, access).map_err(failed)?;
    Ok((memory, region))
}

/// A memory as bytes for the peer.
pub(super) fn to_bytes(memory: RemoteMemory) -> [u8; REMOTE_MEMORY_BYTES] {
    let words = [memory.address, memory.key, memory.bytes].map(u64::to_le_bytes);
    let mut bytes = [0; REMOTE_MEMORY_BYTES];
    bytes.copy_from_slice(words.as_flattened());
    bytes
}

/// The memory in the bytes of a peer.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<RemoteMemory, Error> {
    match bytes.as_chunks::<8>().0 {
        [address, key, size, ..] => Ok(RemoteMemory {
            address: u64::from_le_bytes(*address),
            key: u64::from_le_bytes(*key),
            bytes: u64::from_le_bytes(*size),
        }),
        _ => Err(Error::new("the peer of a control has not told its memory")),
    }
}

pub(super) fn failed(error: impl std::borrow::Borrow<FabricError>) -> Error {
    let error = error.borrow();
    Error::new(format!("bare remote memory: {error}"))
}
