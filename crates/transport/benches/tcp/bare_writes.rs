//! The control of `rdma`: remote writes of one message each into a ring, by libfabric's provider
//! `tcp`, with nothing else. A message is as large as a record of one frame; its first and last
//! words tell that it has come, and a word of credit goes back for each quarter of the ring.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;

use fabric::{
    Completion, ConnectionId, FabricAddress, FabricEvent, FabricNode, LocalSlice, PinnedMemory,
    PostOptions, ProviderQuery, RdmaNode, RegionId, RemoteAccess, RemoteMemory,
};

/// One write in eight has a completion, as in the medium.
const WRITES_PER_COMPLETION: u64 = 8;

/// Bytes of a word, of which a message has one at each end.
const WORD: usize = 8;

/// The writing side: a ring that is the source of its writes, and the credit that it gets.
pub struct BareWriter {
    end: BareEnd,
    credit: PinnedMemory,
}

/// The reading side: a ring that is written, and the credit that it gives.
pub struct BareReader {
    end: BareEnd,
    ring: PinnedMemory,
}

/// A node with its connection: what it writes from, and where to.
struct BareEnd {
    node: FabricNode,
    connection: ConnectionId,
    source: PinnedMemory,
    region: RegionId,
    to: RemoteMemory,
    completions: Vec<Completion>,
    message_bytes: usize,
    /// Number of messages that a ring holds.
    capacity: u64,
    /// Number of messages that were written or read.
    messages: u64,
    /// Number of writes that were posted.
    writes: u64,
}

/// A node with its connection and memory.
pub struct BareNode {
    pub node: FabricNode,
    pub connection: ConnectionId,
    pub memory: Vec<PinnedMemory>,
    pub regions: Vec<RegionId>,
}

impl BareNode {
    pub fn new(
        node: FabricNode,
        connection: ConnectionId,
        bytes: usize,
        access: RemoteAccess,
    ) -> BareNode {
        let mut all = BareNode {
            node,
            connection,
            memory: Vec::new(),
            regions: Vec::new(),
        };
        let (memory, region, _) = register(&mut all.node, bytes, access);
        all.memory.push(memory);
        all.regions.push(region);
        all
    }

    /// Registers another memory.
    pub fn add_memory(&mut self, bytes: usize) {
        let (memory, region, _) = register(&mut self.node, bytes, RemoteAccess::None);
        self.memory.push(memory);
        self.regions.push(region);
    }

    /// Lets the provider work, and returns what is done.
    pub fn poll(&mut self) -> Vec<Completion> {
        let mut completions = Vec::new();
        let polled = self.node.poll_completions(&mut completions);
        polled.expect("a sound connection");
        completions
    }
}

/// Both sides of a ring of `ring_bytes` bytes, for payloads of `len` bytes.
pub fn pair(len: usize, ring_bytes: usize) -> (BareWriter, BareReader) {
    let mut writer = open(loopback());
    let mut reader = open(FabricAddress::Connect(
        writer.listen_address().expect("an address"),
    ));
    let connections = connect(&mut writer, &mut reader);
    let message_bytes = len + 2 * WORD;
    let end = |node, connection, (source, region, _), to| BareEnd {
        node,
        connection,
        source,
        region,
        to,
        completions: Vec::new(),
        message_bytes,
        capacity: (ring_bytes / message_bytes) as u64,
        messages: 0,
        writes: 0,
    };
    let source = register(&mut writer, ring_bytes, RemoteAccess::None);
    let credit = register(&mut writer, WORD, RemoteAccess::Write);
    let ring = register(&mut reader, ring_bytes, RemoteAccess::Write);
    let credit_source = register(&mut reader, WORD, RemoteAccess::None);
    let writer = BareWriter {
        end: end(writer, connections[0], source, ring.2),
        credit: credit.0,
    };
    let reader = BareReader {
        end: end(reader, connections[1], credit_source, credit.2),
        ring: ring.0,
    };
    (writer, reader)
}

/// Where nodes of this bench listen.
pub fn loopback() -> FabricAddress {
    FabricAddress::Listen(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// A node over the provider `tcp`.
pub fn open(address: FabricAddress) -> FabricNode {
    let query = ProviderQuery {
        provider: "tcp".to_owned(),
        device: None,
        address,
        traffic_class: 0,
    };
    FabricNode::open(&query).expect("libfabric is installed")
}

/// Memory that a node has registered.
fn register(
    node: &mut FabricNode,
    bytes: usize,
    access: RemoteAccess,
) -> (PinnedMemory, RegionId, RemoteMemory) {
    let memory = PinnedMemory::new(bytes).expect("memory");
    let region = node.register(&memory, access).expect("registered");
    let remote = node.remote_memory(region);
    (memory, region, remote)
}

/// Connects two nodes, the first of which listens.
pub fn connect(writer: &mut FabricNode, reader: &mut FabricNode) -> [ConnectionId; 2] {
    let from = reader.connect(b"bench").expect("asked");
    let mut to = None;
    let mut connected = 0;
    while connected < 2 {
        for event in [reader.next_event(), writer.next_event()] {
            match event.expect("a sound node") {
                Some(FabricEvent::Request(request)) => {
                    let accepted = writer.begin_accept(&request).expect("accepted");
                    writer.finish_accept(accepted, b"bench").expect("accepted");
                    to = Some(accepted);
                }
                Some(FabricEvent::Connected { .. }) => connected += 1,
                Some(FabricEvent::Closed { why, .. }) => panic!("{why}"),
                None => {}
            }
        }
    }
    [to.expect("a request before the connection"), from]
}

impl BareWriter {
    /// Writes a payload with a word at each end.
    pub fn write(&mut self, payload: &[u8]) {
        let end = &mut self.end;
        while end.messages - self.credit.word(0) >= end.capacity {
            end.progress();
        }
        let slot = end.slot(end.messages);
        end.messages += 1;
        let word = end.messages.to_ne_bytes();
        let bytes = end.source.bytes_mut(slot.clone());
        bytes[..WORD].copy_from_slice(&word);
        bytes[WORD..WORD + payload.len()].copy_from_slice(payload);
        bytes[WORD + payload.len()..].copy_from_slice(&word);
        end.post(slot.clone(), slot.start as u64);
    }

    /// Waits until the reader has all messages but those of the last quarter of a ring.
    pub fn flush(&mut self) {
        while self.end.messages - self.credit.word(0) >= self.end.capacity / 4 {
            self.end.progress();
        }
    }
}

impl BareReader {
    /// Waits for the next message and returns the first word of its payload.
    pub fn read(&mut self) -> u64 {
        let end = &mut self.end;
        let slot = end.slot(end.messages);
        let number = end.messages + 1;
        while self.ring.word(slot.start) != number || self.ring.word(slot.end - WORD) != number {
            end.progress();
        }
        end.messages = number;
        let first = self.ring.word(slot.start + WORD);
        if number.is_multiple_of(end.capacity / 4) {
            end.source
                .bytes_mut(0..WORD)
                .copy_from_slice(&number.to_ne_bytes());
            end.post(0..WORD, 0);
        }
        first
    }
}

impl BareEnd {
    /// The bytes of a ring that the message with this number has.
    fn slot(&self, number: u64) -> Range<usize> {
        let start = (number % self.capacity) as usize * self.message_bytes;
        start..start + self.message_bytes
    }

    fn post(&mut self, range: Range<usize>, offset: u64) {
        self.writes += 1;
        let is_told = self.writes.is_multiple_of(WRITES_PER_COMPLETION);
        let options = PostOptions {
            completion: is_told.then_some(self.writes),
            is_inline: range.len() <= self.node.limits().inline_bytes_max,
            ..PostOptions::default()
        };
        let region = self.region;
        let from = LocalSlice { region, range };
        loop {
            let node = &mut self.node;
            let posted = node.post_write(self.connection, &from, &self.to, offset, options);
            if posted.expect("a sound connection") {
                break;
            }
            self.progress();
        }
    }

    /// Lets the provider work.
    fn progress(&mut self) {
        self.completions.clear();
        let polled = self.node.poll_completions(&mut self.completions);
        polled.expect("a sound connection");
    }
}
