//! Connections that a node makes by sockets, for a provider whose endpoints have none: see
//! [`crate::datagram`].

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::mem;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::connection::Connection;
use super::object::Owned;
use super::{FabricNode, opened};
use crate::abi::{FI_AV_TABLE, FiAvAttr, FiMsg, FidAv, FidEp};
use crate::datagram::{
    LiveEndpoint, NAME_BYTES_MAX, NearPeer, NodeSignals, ShmRegion, SideSocket, SocketMessage,
    Watch, WatchedSocket, answer, request, watch_listener,
};
use crate::error::FabricError;
use crate::provider::FabricAddress;
use crate::rdma_node::{
    COMPLETIONS_PER_POLL, Completion, ConnectionId, ConnectionRequest, FabricEvent, RequestHandle,
};
use crate::signal_handlers::SignalHandlers;

/// Longest time in which a listening host answers: 5 s. One on the same host does so at once.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Most sockets whose request has not come: others are closed, so strangers cannot use up the
/// descriptors of the process.
const STRANGERS_MAX: usize = 64;

/// Sockets of a node, and what they have told.
pub(super) struct SocketConnections {
    address: FabricAddress,
    pub(super) signals: Arc<NodeSignals>,
    listener: Option<SocketListener>,
    /// Sockets whose request has not come.
    strangers: Vec<WatchedSocket>,
    events: VecDeque<FabricEvent>,
    /// Whether a peer has been one of this process.
    pub(super) has_near_peers: bool,
    /// Completions that were found by the last look before a sleep.
    pub(super) found: Vec<Completion>,
}

struct SocketListener {
    // The order of the fields is that of dropping.
    _watch: Watch,
    listener: Arc<TcpListener>,
}

impl SocketConnections {
    /// Listens at an address, or gets ready to connect to it.
    pub(super) fn new(address: FabricAddress) -> Result<SocketConnections, FabricError> {
        let signals = Arc::new(NodeSignals::new()?);
        let listener = match address {
            FabricAddress::Listen(ip) => Some(listen(SocketAddr::new(ip, 0), &signals)?),
            FabricAddress::Connect(_) => None,
        };
        Ok(SocketConnections {
            address,
            signals,
            listener,
            strangers: Vec::new(),
            events: VecDeque::new(),
            has_near_peers: false,
            found: Vec::with_capacity(COMPLETIONS_PER_POLL),
        })
    }

    /// Address where the node takes requests.
    pub(super) fn listen_address(&self) -> Result<SocketAddr, FabricError> {
        let Some(listener) = &self.listener else {
            let why = "the node does not listen".to_owned();
            return Err(FabricError::OutOfBounds(why));
        };
        let address = listener.listener.local_addr();
        address.map_err(|error| FabricError::System(format!("ask for an address: {error}")))
    }

    /// Takes the sockets that have connected.
    fn take_strangers(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(|one| one.listener.accept()) {
            if self.strangers.len() >= STRANGERS_MAX {
                continue;
            }
            let socket = SideSocket::new(stream, &self.signals, true);
            if let Some(socket) = socket.ok().and_then(|one| WatchedSocket::new(one).ok()) {
                self.strangers.push(socket);
            }
        }
    }

    /// Takes the requests of strangers; those that send something else are dropped.
    fn take_requests(&mut self, node: u64) {
        for stranger in mem::take(&mut self.strangers) {
            match stranger.next_message() {
                Some(SocketMessage::Request { name, data }) => {
                    let handle = RequestHandle::Socket(node, Arc::new(stranger), name);
                    let request = ConnectionRequest { handle, data };
                    self.events.push_back(FabricEvent::Request(request));
                }
                Some(_) => {}
                None if stranger.take_end().is_some() => {}
                None => self.strangers.push(stranger),
            }
        }
    }
}

fn listen(address: SocketAddr, signals: &Arc<NodeSignals>) -> Result<SocketListener, FabricError> {
    let refused =
        |error: std::io::Error| FabricError::System(format!("listen at {}: {error}", address.ip()));
    let listener = TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let listener = Arc::new(listener);
    let _watch = watch_listener(&listener, signals)?;
    Ok(SocketListener { _watch, listener })
}

impl FabricNode {
    /// Opens an endpoint of a connection, which knows no peer yet.
    fn open_lone_endpoint(&self) -> Result<Connection, FabricError> {
        // The provider `shm` installs handlers with its first endpoint.
        let _handlers = SignalHandlers::keep();
        let vector = self.open_vector()?;
        let endpoint = self.open_endpoint(&self.info, Some(&vector))?;
        let name = self.endpoint_name(&endpoint)?;
        let region = ShmRegion::open(&name)?;
        Ok(Connection {
            _live: Some(LiveEndpoint::new(&name)),
            endpoint,
            vector: Some(vector),
            socket: None,
            near_peer: None,
            named_regions: vec![region],
        })
    }

    fn open_vector(&self) -> Result<Owned<FidAv>, FabricError> {
        let mut attributes = FiAvAttr {
            kind: FI_AV_TABLE,
            rx_ctx_bits: 0,
            count: 1,
            ep_per_node: 0,
            name: ptr::null(),
            map_addr: ptr::null_mut(),
            flags: 0,
        };
        let mut vector = ptr::null_mut();
        let domain = self.domain.as_ptr();
        // SAFETY: the domain is open; the attributes live during the call.
        let result = unsafe {
            let call = (*(*domain).ops).av_open;
            call(
                domain,
                &raw mut attributes,
                &raw mut vector,
                ptr::null_mut(),
            )
        };
        self.library.check("fi_av_open", result as isize)?;
        // SAFETY: the call has succeeded, and the object is this caller's.
        opened(self.library, "fi_av_open", unsafe { Owned::new(vector) })
    }

    fn endpoint_name(&self, endpoint: &Owned<FidEp>) -> Result<Vec<u8>, FabricError> {
        let mut name = vec![0u8; NAME_BYTES_MAX];
        let mut bytes = name.len();
        // SAFETY: the endpoint is open; the name has room for `bytes` bytes, and the call writes no
        // more of a longer one.
        let result = unsafe {
            let call = (*(*endpoint.as_ptr()).cm).getname;
            call(endpoint.fid(), name.as_mut_ptr().cast(), &raw mut bytes)
        };
        self.library.check("fi_getname", result as isize)?;
        name.truncate(bytes);
        Ok(name)
    }

    /// Opens a peer's endpoint to that of a connection: the peer is its address 0, to which all of
    /// its operations go.
    fn add_peer(&mut self, connection: &mut Connection, name: &[u8]) -> Result<(), FabricError> {
        let region = ShmRegion::open(name)?;
        connection.near_peer = NearPeer::find(name);
        let _near = connection.keep_open()?;
        if let Some(sockets) = &mut self.sockets {
            sockets.has_near_peers |= connection.near_peer.is_some();
        }
        let vector = connection.vector.as_ref().map(Owned::as_ptr);
        let vector = vector.expect("an endpoint without connections has a vector");
        // Providers read a name up to its end, which is a zero.
        let name = [name, &[0]].concat();
        let mut address = u64::MAX;
        // SAFETY: the vector is open; the name ends with a zero and lives during the call.
        let inserted = unsafe {
            let call = (*(*vector).ops).insert;
            let name = name.as_ptr().cast();
            call(vector, name, 1, &raw mut address, 0, ptr::null_mut())
        };
        self.library.check("fi_av_insert", inserted as isize)?;
        if inserted != 1 || address != 0 {
            let why = "the endpoint of the peer cannot be opened".to_owned();
            return Err(FabricError::System(why));
        }
        drop(_near);
        connection.named_regions.push(region);
        Ok(())
    }

    pub(super) fn connect_by_socket(&mut self, data: &[u8]) -> Result<ConnectionId, FabricError> {
        let Some(FabricAddress::Connect(to)) = self.sockets.as_ref().map(|one| one.address) else {
            let why = "a node that listens has no address to connect to".to_owned();
            return Err(FabricError::OutOfBounds(why));
        };
        let mut connection = self.open_lone_endpoint()?;
        let name = self.endpoint_name(&connection.endpoint)?;
        let sockets = self.sockets.as_ref().expect("a node with sockets");
        let socket = TcpStream::connect_timeout(&to, CONNECT_TIMEOUT);
        let socket = socket.and_then(|stream| SideSocket::new(stream, &sockets.signals, false));
        let why = match socket {
            Ok(socket) => {
                let socket = WatchedSocket::new(socket)?;
                socket.send(&request(&name, data));
                connection.socket = Some(Arc::new(socket));
                None
            }
            Err(error) => {
                let is_refused = error.kind() == ErrorKind::ConnectionRefused;
                Some((format!("{to} does not answer: {error}"), is_refused))
            }
        };
        let connection = self.add_connection(connection);
        if let (Some((why, is_refused)), Some(sockets)) = (why, &mut self.sockets) {
            let closed = FabricEvent::Closed {
                connection,
                why,
                is_refused,
            };
            sockets.events.push_back(closed);
            sockets.signals.tell_own_events();
        }
        Ok(connection)
    }

    pub(super) fn begin_accept_by_socket(
        &mut self,
        request: &ConnectionRequest,
    ) -> Result<ConnectionId, FabricError> {
        let (socket, name) = request.socket(self.number)?;
        let mut connection = self.open_lone_endpoint()?;
        self.add_peer(&mut connection, name)?;
        connection.socket = Some(socket.clone());
        self.provoke(&connection)?;
        Ok(self.add_connection(connection))
    }

    /// Has the provider introduce an endpoint to its peer: its first operation finds no room until
    /// the peer has looked, which it does before it tells that the connection is made.
    fn provoke(&self, connection: &Connection) -> Result<(), FabricError> {
        let message = FiMsg {
            msg_iov: ptr::null(),
            desc: ptr::null_mut(),
            iov_count: 0,
            addr: 0,
            context: ptr::null_mut(),
            data: 0,
        };
        let endpoint = connection.endpoint.as_ptr();
        let _near = connection.keep_open()?;
        // SAFETY: the endpoint is open; a message without bytes has no list of them.
        let result = unsafe {
            let call = (*(*endpoint).msg).sendmsg;
            call(endpoint, &raw const message, 0)
        };
        match self.posted("fi_sendmsg", result)? {
            false => Ok(()),
            true => {
                let why = "the provider shm of this version has sent a message before its peer was \
                           ready; version 1.17 can be used";
                Err(FabricError::NoProvider(why.to_owned()))
            }
        }
    }

    pub(super) fn finish_accept_by_socket(
        &mut self,
        connection: ConnectionId,
        data: &[u8],
    ) -> Result<(), FabricError> {
        let connection = self.connection(connection)?;
        let name = self.endpoint_name(&connection.endpoint)?;
        if let Some(socket) = &connection.socket {
            socket.send(&answer(&name, data));
        }
        Ok(())
    }

    /// Takes the next event of the node's sockets.
    pub(super) fn next_socket_event(&mut self) -> Option<FabricEvent> {
        let sockets = self.sockets.as_mut()?;
        if sockets.events.is_empty() && sockets.signals.take_events() {
            sockets.take_strangers();
            sockets.take_requests(self.number);
            let mut at = 0;
            while let Some(connection) = self.connections.id_at(at) {
                self.take_messages(connection);
                at += 1;
            }
        }
        let sockets = self.sockets.as_mut()?;
        let event = sockets.events.pop_front();
        if !sockets.events.is_empty() {
            // A thread that sleeps on the descriptors has to come back for the rest.
            sockets.signals.tell_own_events();
        }
        event
    }

    /// Takes the messages of a connection's socket, and its end.
    fn take_messages(&mut self, connection: ConnectionId) {
        let open = self.connections.get(connection);
        let Some(socket) = open.and_then(|one| one.socket.clone()) else {
            return;
        };
        while let Some(message) = socket.next_message() {
            let event = match message {
                SocketMessage::Answer { name, data } => match self.take_answer(connection, &name) {
                    Ok(()) => FabricEvent::Connected { connection, data },
                    Err(error) => {
                        socket.close();
                        FabricEvent::Closed {
                            connection,
                            why: error.to_string(),
                            is_refused: false,
                        }
                    }
                },
                SocketMessage::Made => {
                    self.make(connection);
                    let data = Vec::new();
                    FabricEvent::Connected { connection, data }
                }
                SocketMessage::Refused { why } => FabricEvent::Closed {
                    connection,
                    why: format!("the peer says: {}", String::from_utf8_lossy(&why)),
                    is_refused: true,
                },
                _ => continue,
            };
            self.push_event(event);
        }
        if let Some(why) = socket.take_end() {
            // Names of a peer that was killed before it could remove them.
            self.make(connection);
            self.push_event(FabricEvent::Closed {
                connection,
                why,
                is_refused: false,
            });
        }
    }

    fn push_event(&mut self, event: FabricEvent) {
        if let Some(sockets) = &mut self.sockets {
            sockets.events.push_back(event);
        }
    }

    fn take_answer(&mut self, of: ConnectionId, name: &[u8]) -> Result<(), FabricError> {
        let mut connection = self.connections.place(of).and_then(Option::take);
        let added = match &mut connection {
            Some(connection) => self.add_peer(connection, name),
            None => Ok(()),
        };
        if let Some(place) = self.connections.place(of) {
            *place = connection;
        }
        added?;
        self.look_for_completions()?;
        let socket = self.connections.get(of).and_then(|one| one.socket.as_ref());
        if let Some(socket) = socket {
            socket.send_made();
        }
        self.make(of);
        Ok(())
    }

    /// Removes the names of a connection's shared memory, which both sides have mapped.
    fn make(&mut self, of: ConnectionId) {
        let Some(Some(connection)) = self.connections.place(of) else {
            return;
        };
        let regions = mem::take(&mut connection.named_regions);
        for region in &regions {
            region.remove_name();
        }
        if let Some(socket) = connection.socket.as_ref().filter(|_| !regions.is_empty()) {
            socket.keep_regions(regions);
        }
    }

    /// Lets the provider make progress, and keeps the completions for the next poll.
    fn look_for_completions(&mut self) -> Result<(), FabricError> {
        let Some(sockets) = &mut self.sockets else {
            return Ok(());
        };
        let mut found = mem::take(&mut sockets.found);
        let read = self.read_completions(&mut found);
        if let Some(sockets) = &mut self.sockets {
            sockets.found = found;
        }
        read
    }

    /// Looks a last time for what has come, when all peers know that this node sleeps.
    pub(super) fn may_sleep_by_socket(&mut self) -> Result<bool, FabricError> {
        let Some(sockets) = &self.sockets else {
            return Ok(true);
        };
        sockets.signals.forget_wakes();
        for (_, connection) in self.connections.iter() {
            if let Some(socket) = &connection.socket {
                socket.tell_sleep();
            }
        }
        self.look_for_completions()?;
        let Some(sockets) = &self.sockets else {
            return Ok(true);
        };
        let has_events = !sockets.events.is_empty() || sockets.signals.has_events();
        Ok(sockets.found.is_empty() && !has_events)
    }
}
