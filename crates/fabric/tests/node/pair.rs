//! Pairs of nodes that are connected, and ways to open them.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Once;
use std::time::{Duration, Instant};

use thalweg_fabric::sim::{SimFabric, SimFabricFaults};
use thalweg_fabric::{
    Completion, CompletionKind, ConnectionId, ConnectionRequest, FabricAddress, FabricError,
    FabricEvent, FabricLibrary, FabricNode, LocalSlice, PinnedMemory, PostOptions, ProviderQuery,
    RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};

/// Longest time that a test waits for an event: far above what any takes.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// A way to open two nodes that reach each other.
pub enum Opener {
    /// A provider of libfabric, at an address of this host.
    Library(&'static str, IpAddr),
    Sim(SimFabric),
}

pub struct Pair {
    pub nodes: [Box<dyn RdmaNode>; 2],
    pub connections: [ConnectionId; 2],
    pub seen: [Vec<Completion>; 2],
}

pub fn query(provider: &str, address: FabricAddress) -> ProviderQuery {
    ProviderQuery {
        provider: provider.to_owned(),
        device: None,
        address,
        source: None,
    }
}

/// Whether libfabric is here; if not, a line says what is passed over, and which package has it.
pub fn has_library() -> bool {
    match FabricLibrary::load() {
        Ok(library) => {
            assert!(library.version() >= (1, 11), "{:?}", library.version());
            true
        }
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains("libfabric1"), "{error}");
            static SAID: Once = Once::new();
            // Past the test runner, which shows nothing of tests that pass.
            SAID.call_once(|| {
                let words =
                    format!("PASSED OVER: nodes over libfabric's provider tcp, for {error}\n");
                let _ = std::io::stderr().write_all(words.as_bytes());
            });
            false
        }
    }
}

pub fn openers() -> Vec<Opener> {
    let sims = (0..20).map(SimFabricFaults::wild);
    let sims = [SimFabricFaults::NONE].into_iter().chain(sims);
    let sims = sims.map(|faults| Opener::Sim(SimFabric::new(faults)));
    libraries().into_iter().chain(sims).collect()
}

/// Variable with the address of an adapter that has verbs.
const VERBS_ADDRESS: &str = "THALWEG_VERBS_ADDRESS";

/// The providers of libfabric that this host has.
pub fn libraries() -> Vec<Opener> {
    if !has_library() {
        return Vec::new();
    }
    let verbs = std::env::var(VERBS_ADDRESS).ok();
    let verbs = verbs.map(|address| Opener::Library("verbs", address.parse().expect("an address")));
    let tcp = Opener::Library("tcp", Ipv4Addr::LOCALHOST.into());
    let shm = Opener::Library("shm", Ipv4Addr::LOCALHOST.into());
    [tcp, shm].into_iter().chain(verbs).collect()
}

impl Opener {
    pub fn listen(&self) -> (Box<dyn RdmaNode>, SocketAddr) {
        match self {
            Opener::Library(provider, ip) => {
                let listen = FabricAddress::Listen(*ip);
                let node = FabricNode::open(&query(provider, listen)).unwrap();
                let address = node.listen_address().unwrap();
                assert!(address.ip() == *ip && address.port() != 0, "{address}");
                (Box::new(node), address)
            }
            Opener::Sim(fabric) => {
                let (node, address) = fabric.listen().unwrap();
                (Box::new(node), address)
            }
        }
    }

    pub fn connect(&self, to: SocketAddr) -> Box<dyn RdmaNode> {
        match self {
            Opener::Library(provider, _) => {
                let to = query(provider, FabricAddress::Connect(to));
                Box::new(FabricNode::open(&to).unwrap())
            }
            Opener::Sim(fabric) => Box::new(fabric.connect(to).unwrap()),
        }
    }
}

pub fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "no {what} within {TIMEOUT:?}");
        std::thread::yield_now();
    }
}

impl Pair {
    /// Connects two nodes; the second one listens.
    pub fn connect(opener: &Opener) -> Pair {
        let (mut server, to) = opener.listen();
        let mut client = opener.connect(to);
        let one = client.connect(b"let me in").unwrap();
        let two = wait_for("request", || {
            client.next_event().unwrap();
            match server.next_event().unwrap()? {
                FabricEvent::Request(request) => {
                    assert!(request.data.starts_with(b"let me in"), "{:?}", request.data);
                    Some(accept(&mut *server, request))
                }
                _ => panic!("an event before the request"),
            }
        });
        wait_for("connection", || {
            server.next_event().unwrap();
            match client.next_event().unwrap()? {
                FabricEvent::Connected { connection, data } => {
                    assert_eq!(connection, one);
                    assert!(data.starts_with(b"come in"), "{data:?}");
                    Some(())
                }
                FabricEvent::Closed { why, .. } => panic!("refused: {why}"),
                FabricEvent::Request(_) => panic!("a request at the client"),
            }
        });
        Pair {
            nodes: [client, server],
            connections: [one, two],
            seen: [Vec::new(), Vec::new()],
        }
    }

    pub fn poll(&mut self) {
        for (node, seen) in self.nodes.iter_mut().zip(&mut self.seen) {
            node.next_event().unwrap();
            node.poll_completions(seen).unwrap();
        }
    }

    /// Polls until the node has told of a completion, and takes it.
    pub fn wait_for(&mut self, at: usize, number: u64, kind: CompletionKind) {
        let expected = Completion { number, kind };
        wait_for(&format!("{expected:?}"), || {
            self.poll();
            let found = self.seen[at].iter().position(|one| *one == expected)?;
            Some(self.seen[at].remove(found))
        });
    }

    /// Registers a memory at a node.
    pub fn register(&mut self, at: usize, memory: &PinnedMemory, access: RemoteAccess) -> RegionId {
        self.nodes[at].register(memory, access).unwrap()
    }

    /// Posts until there is room.
    pub fn post(
        &mut self,
        mut post: impl FnMut(&mut dyn RdmaNode, ConnectionId) -> Result<bool, FabricError>,
    ) {
        wait_for("room", || {
            let is_posted = post(&mut *self.nodes[0], self.connections[0]).unwrap();
            self.poll();
            is_posted.then_some(())
        });
    }

    pub fn write(&mut self, from: &LocalSlice, to: &RemoteMemory, at: u64, options: PostOptions) {
        self.post(|node, connection| node.post_write(connection, from, to, at, options));
    }

    pub fn send(&mut self, from: &LocalSlice, options: PostOptions) {
        self.post(|node, connection| node.post_send(connection, from, options));
    }

    pub fn receive(&mut self, into: &LocalSlice, number: u64) {
        let (node, connection) = (&mut self.nodes[1], self.connections[1]);
        wait_for("room for a receive buffer", || {
            let is_posted = node.post_receive(connection, into, number).unwrap();
            is_posted.then_some(())
        });
    }
}

pub fn accept(server: &mut dyn RdmaNode, request: ConnectionRequest) -> ConnectionId {
    let connection = server.begin_accept(&request).unwrap();
    server.finish_accept(connection, b"come in").unwrap();
    connection
}

pub fn slice(region: RegionId, range: Range<usize>) -> LocalSlice {
    LocalSlice { region, range }
}

pub fn numbered(number: u64) -> PostOptions {
    PostOptions {
        completion: Some(number),
        ..PostOptions::default()
    }
}
