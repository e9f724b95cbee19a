//! Nodes of the fabric for tests.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::EventfdFlags;

use super::fabric::{FabricState, NodeRegion, NodeState, SimFabric};
use super::transfers::{
    MemoryPlace, NOT_ACCEPTED, PostedReceive, Transfer, TransferKind, TransferQueue, TransferSource,
};
use crate::error::FabricError;
use crate::memory::PinnedMemory;
use crate::provider::ProviderLimits;
use crate::rdma_node::{
    Completion, ConnectionId, ConnectionRequest, FabricEvent, LocalSlice, PostOptions, RdmaNode,
    RegionId, RemoteAccess, RemoteMemory, RequestHandle,
};

/// Most operations on their way on a connection.
const DEPTH: usize = 16;

/// One end of connections of a fabric for tests.
pub struct SimNode {
    fabric: SimFabric,
    number: u32,
    /// Number of the node that this one connects to.
    connects_to: Option<u32>,
    limits: ProviderLimits,
    wakeup: Arc<OwnedFd>,
}

impl SimFabric {
    /// Opens a node that takes requests. The port of its address is its number.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn listen(&self) -> Result<(SimNode, SocketAddr), FabricError> {
        let node = SimNode::open(self.clone(), None)?;
        let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), node.number as u16);
        Ok((node, address))
    }

    /// Opens a node that connects to an address of [`SimFabric::listen`].
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn connect(&self, to: SocketAddr) -> Result<SimNode, FabricError> {
        SimNode::open(self.clone(), Some(u32::from(to.port())))
    }
}

impl SimNode {
    fn open(fabric: SimFabric, connects_to: Option<u32>) -> Result<SimNode, FabricError> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let no_fd = |error| FabricError::NoProvider(format!("no descriptor is left: {error}"));
        let wakeup = Arc::new(rustix::event::eventfd(0, flags).map_err(no_fd)?);
        let mut state = fabric.state();
        state.last_node += 1;
        let number = state.last_node;
        let node = NodeState {
            events: Vec::new(),
            completions: Vec::new(),
            late: Vec::new(),
            regions: Vec::new(),
            connections: Vec::new(),
            is_listening: connects_to.is_none(),
            wakeup: wakeup.clone(),
        };
        state.nodes.insert(number, node);
        let inline_bytes_max = if state.faults.lacks_inline { 0 } else { 64 };
        let immediate_uses_receive = state.faults.numbers_use_receives;
        let immediate_bytes = if state.faults.has_narrow_numbers {
            4
        } else {
            8
        };
        drop(state);
        let limits = ProviderLimits {
            provider: "sim".to_owned(),
            device: "sim".to_owned(),
            inline_bytes_max,
            message_bytes_max: 1 << 30,
            transmit_depth: DEPTH,
            receive_depth: 1024,
            immediate_bytes,
            immediate_uses_receive,
        };
        Ok(SimNode {
            fabric,
            number,
            connects_to,
            limits,
            wakeup,
        })
    }

    /// Makes the queue of a connection of this node; the other node is not told yet.
    fn add_queue(
        &self,
        state: &mut FabricState,
        peer: u32,
        peer_connection: usize,
    ) -> ConnectionId {
        let node = state.node(self.number);
        let connection = node.connections.len();
        node.connections.push(0);
        let at = state.queues.len();
        state.queues.push(TransferQueue {
            from: (self.number, connection),
            to: (peer, peer_connection),
            transfers: Default::default(),
            held: 0,
            receives: Default::default(),
            paused_polls: 0,
            is_open: true,
            is_left: false,
            is_severed: false,
        });
        state.node(self.number).connections[connection] = at;
        ConnectionId::new(connection)
    }

    fn local_place(
        &self,
        state: &mut FabricState,
        slice: &LocalSlice,
    ) -> Result<MemoryPlace, FabricError> {
        let regions = &state.node(self.number).regions;
        let region = regions.get(slice.region.index());
        let is_within = |region: &&NodeRegion| {
            slice.range.start <= slice.range.end && slice.range.end <= region.mapping.len()
        };
        match region.filter(is_within) {
            Some(region) => Ok(MemoryPlace {
                mapping: region.mapping.clone(),
                offset: slice.range.start,
            }),
            None => Err(FabricError::OutOfBounds("outside of the memory".to_owned())),
        }
    }

    /// Posts an operation. `false`: there is no room, or the faults say so.
    fn post(
        &self,
        connection: ConnectionId,
        local: &LocalSlice,
        remote: Option<(&RemoteMemory, u64)>,
        kind: TransferKind,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let state = &mut *self.fabric.state();
        let at = self.open_queue(state, connection)?;
        let bytes = local.range.len();
        let is_inline = options.is_inline && kind != TransferKind::Read;
        self.limits.check_bytes(bytes, is_inline)?;
        let here = self.local_place(state, local)?;
        if let Some((memory, offset)) = remote {
            memory.check_range(offset, bytes)?;
        }
        let percent = state.faults.no_room_percent;
        if state.queues[at].transfers.len() >= DEPTH || state.rng.happens(percent) {
            // What was held for this operation begins without it.
            self.ring(state, at);
            return Ok(false);
        }
        let access = match kind {
            TransferKind::Read => RemoteAccess::Read,
            TransferKind::Write | TransferKind::Send => RemoteAccess::Write,
        };
        let peer = state.queues[at].to.0;
        let there = match remote {
            None => None,
            Some((memory, offset)) => {
                let address = memory.address.wrapping_add(offset) as usize;
                let place = state.remote_place(peer, access, memory.key, address, bytes);
                let Some(place) = place else {
                    state.close(at, "an operation was outside of the peer's memory");
                    return Ok(true);
                };
                Some(place)
            }
        };
        let (source, target) = match (kind, there) {
            (TransferKind::Read, Some(there)) => (TransferSource::Memory(there), Some(here)),
            (_, there) if is_inline => {
                let mut copied = vec![0; bytes];
                here.load(0, &mut copied);
                (TransferSource::Inline(copied), there)
            }
            (_, there) => (TransferSource::Memory(here), there),
        };
        state.queues[at].transfers.push_back(Transfer {
            kind,
            source,
            target,
            bytes,
            completion: options.completion,
            immediate: options.immediate,
            words_left: None,
        });
        state.count(self.number, |counts| {
            counts.operations += 1;
            counts.inline_operations += u64::from(is_inline);
            counts.bytes += bytes as u64;
        });
        state.queues[at].held += 1;
        if !options.is_more {
            self.ring(state, at);
        }
        Ok(true)
    }

    /// Tells the device of the operations that wait for it, if there are any.
    fn ring(&self, state: &mut FabricState, at: usize) {
        if std::mem::take(&mut state.queues[at].held) > 0 {
            state.count(self.number, |counts| counts.doorbells += 1);
        }
    }

    /// Number of the node, by which its fabric counts.
    pub fn number(&self) -> u32 {
        self.number
    }

    fn open_queue(&self, state: &mut FabricState, of: ConnectionId) -> Result<usize, FabricError> {
        let at = state.node(self.number).connections.get(of.index()).copied();
        match at {
            Some(at) if state.queues[at].is_open => Ok(at),
            _ => Err(FabricError::Disconnected(
                "the connection is closed".to_owned(),
            )),
        }
    }
}

impl RdmaNode for SimNode {
    fn limits(&self) -> &ProviderLimits {
        &self.limits
    }

    fn register(
        &mut self,
        memory: &PinnedMemory,
        access: RemoteAccess,
    ) -> Result<RegionId, FabricError> {
        let state = &mut *self.fabric.state();
        if state.faults.refuses_registrations {
            let text = "Cannot allocate memory".to_owned();
            return Err(FabricError::Call {
                call: "fi_mr_reg",
                code: libc::ENOMEM,
                text,
            });
        }
        state.count(self.number, |counts| counts.registrations += 1);
        let key = state.rng.number();
        let mapping = memory.mapping().clone();
        let regions = &mut state.node(self.number).regions;
        regions.push(NodeRegion {
            mapping,
            access,
            key,
        });
        Ok(RegionId::new(regions.len() - 1))
    }

    fn deregister(&mut self, region: RegionId) {
        let state = &mut *self.fabric.state();
        let regions = &mut state.node(self.number).regions;
        if let Some(region) = regions.get_mut(region.index()) {
            region.access = RemoteAccess::None;
        }
    }

    fn remote_memory(&self, region: RegionId) -> RemoteMemory {
        let state = &mut *self.fabric.state();
        let region = &state.node(self.number).regions[region.index()];
        let bytes = region.mapping.len() as u64;
        RemoteMemory {
            address: 0,
            key: region.key,
            bytes,
        }
    }

    fn connect(&mut self, data: &[u8]) -> Result<ConnectionId, FabricError> {
        let state = &mut *self.fabric.state();
        let Some(peer) = self.connects_to else {
            let why = "a node that listens has no address to connect to".to_owned();
            return Err(FabricError::OutOfBounds(why));
        };
        let connection = self.add_queue(state, peer, NOT_ACCEPTED);
        match state.nodes.get(&peer) {
            _ if state.silent_node == Some(peer) => {}
            Some(node) if node.is_listening => {
                let handle = RequestHandle::Simulated(self.number, connection.index());
                let data = data.to_vec();
                let request = ConnectionRequest { handle, data };
                state.tell_event(peer, FabricEvent::Request(request));
            }
            _ => {
                let event = FabricEvent::Closed {
                    connection,
                    why: "nothing listens there".to_owned(),
                    is_refused: true,
                };
                state.tell_event(self.number, event);
            }
        }
        Ok(connection)
    }

    fn begin_accept(&mut self, request: &ConnectionRequest) -> Result<ConnectionId, FabricError> {
        let state = &mut *self.fabric.state();
        let (peer, peer_connection) = request.simulated()?;
        Ok(self.add_queue(state, peer, peer_connection))
    }

    fn finish_accept(&mut self, connection: ConnectionId, data: &[u8]) -> Result<(), FabricError> {
        let state = &mut *self.fabric.state();
        let at = self.open_queue(state, connection)?;
        let (peer, peer_connection) = state.queues[at].to;
        let back = state
            .nodes
            .get(&peer)
            .map(|node| node.connections[peer_connection]);
        let Some(back) = back.filter(|back| state.queues[*back].is_open) else {
            state.queues[at].is_open = false;
            let event = FabricEvent::Closed {
                connection,
                why: "the peer is gone".to_owned(),
                is_refused: false,
            };
            state.tell_event(self.number, event);
            return Ok(());
        };
        state.queues[back].to = (self.number, connection.index());
        let theirs = FabricEvent::Connected {
            connection: ConnectionId::new(peer_connection),
            data: data.to_vec(),
        };
        state.tell_event(peer, theirs);
        let data = Vec::new();
        state.tell_event(self.number, FabricEvent::Connected { connection, data });
        Ok(())
    }

    fn reject(&mut self, request: ConnectionRequest, why: &str) -> Result<(), FabricError> {
        let (peer, connection) = request.simulated()?;
        let (connection, why) = (ConnectionId::new(connection), format!("refused: {why}"));
        let event = FabricEvent::Closed {
            connection,
            why,
            is_refused: true,
        };
        self.fabric.state().tell_event(peer, event);
        Ok(())
    }

    fn disconnect(&mut self, connection: ConnectionId) {
        let state = &mut *self.fabric.state();
        let Ok(at) = self.open_queue(state, connection) else {
            return;
        };
        let is_silent = state
            .silent_node
            .is_some_and(|node| state.queues[at].is_of(node));
        match state.faults.outlives_disconnects || is_silent {
            true => state.sever(at),
            false => state.close(at, "the peer has closed the connection"),
        }
    }

    fn next_event(&mut self) -> Result<Option<FabricEvent>, FabricError> {
        let state = &mut *self.fabric.state();
        state.check_node(self.number)?;
        state.step();
        let events = &mut state.node(self.number).events;
        Ok((!events.is_empty()).then(|| events.remove(0)))
    }

    fn post_write(
        &mut self,
        connection: ConnectionId,
        from: &LocalSlice,
        to: &RemoteMemory,
        offset: u64,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let to = Some((to, offset));
        self.post(connection, from, to, TransferKind::Write, options)
    }

    fn post_read(
        &mut self,
        connection: ConnectionId,
        into: &LocalSlice,
        from: &RemoteMemory,
        offset: u64,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        let from = Some((from, offset));
        self.post(connection, into, from, TransferKind::Read, options)
    }

    fn post_send(
        &mut self,
        connection: ConnectionId,
        from: &LocalSlice,
        options: PostOptions,
    ) -> Result<bool, FabricError> {
        self.post(connection, from, None, TransferKind::Send, options)
    }

    fn post_receive(
        &mut self,
        connection: ConnectionId,
        into: &LocalSlice,
        completion: u64,
    ) -> Result<bool, FabricError> {
        let state = &mut *self.fabric.state();
        let place = self.local_place(state, into)?;
        let at = self.open_queue(state, connection)?;
        let is_full = state.queues[at].receives.len() >= self.limits.receive_depth;
        if is_full || state.rng.happens(state.faults.no_room_percent) {
            return Ok(false);
        }
        state.queues[at].receives.push_back(PostedReceive {
            place,
            bytes: into.range.len(),
            completion,
        });
        state.count(self.number, |counts| {
            counts.receives += 1;
            counts.doorbells += 1;
        });
        Ok(true)
    }

    fn poll_completions(&mut self, into: &mut Vec<Completion>) -> Result<(), FabricError> {
        let state = &mut *self.fabric.state();
        state.check_node(self.number)?;
        state.step();
        into.append(&mut state.node(self.number).completions);
        Ok(())
    }

    fn may_sleep(&mut self) -> Result<bool, FabricError> {
        let state = &mut *self.fabric.state();
        // The counter is taken back before the look at what there is, so nothing is missed.
        let mut counter = [0; 8];
        let _ = rustix::io::read(&*self.wakeup, &mut counter);
        let mine = |queue: &TransferQueue| [queue.from.0, queue.to.0].contains(&self.number);
        let is_moving = |queue: &TransferQueue| mine(queue) && queue.begun() > 0;
        let is_moving = state.queues.iter().any(is_moving);
        let node = state.node(self.number);
        Ok(!is_moving && node.events.is_empty() && node.completions.is_empty())
    }

    fn wait_fds(&self) -> Result<[BorrowedFd<'_>; 2], FabricError> {
        Ok([self.wakeup.as_fd(), self.wakeup.as_fd()])
    }
}

impl Drop for SimNode {
    fn drop(&mut self) {
        let state = &mut *self.fabric.state();
        for at in state.node(self.number).connections.clone() {
            state.close(at, "the peer is gone");
        }
        state.nodes.remove(&self.number);
    }
}
