//! The fabric for tests: its nodes, the queues between them, and its faults.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::rng::FabricRng;
use super::transfers::{
    MemoryPlace, NOT_ACCEPTED, PostedReceive, Transfer, TransferKind, TransferQueue,
};
use crate::error::FabricError;
use crate::memory::Mapping;
use crate::rdma_node::{Completion, CompletionKind, ConnectionId, FabricEvent, RemoteAccess};

/// Most polls for which a direction of a connection carries nothing.
const PAUSE_POLLS_MAX: usize = 300;

/// Polls in 100 that do not move what a node has left behind, although it is its turn.
const LEFT_LATE_PERCENT: u8 = 95;

/// Faults of a fabric for tests, as its nodes meet them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimFabricFaults {
    /// Seed of all choices.
    pub seed: u64,
    /// Whether the words of a write are placed in any order; otherwise from the first to the last.
    pub reorders_words: bool,
    /// Polls in 100 that move nothing.
    pub stall_percent: u8,
    /// Completions in 100 that are told only with the next one that is, and numbers in 100 that
    /// are told some polls after the bytes of their write are placed.
    pub late_completion_percent: u8,
    /// Completions in 100 of a node's own operations that are never told.
    pub lost_completion_percent: u8,
    /// Polls in 100 after which one direction of a connection carries nothing for a while, such as
    /// the messages by which a receiver grants credit.
    pub pause_percent: u8,
    /// Posts in 100 that find no room: operations and receive buffers.
    pub no_room_percent: u8,
    /// Polls in 10,000 at which a connection breaks: what is on its way is lost, a write or a
    /// message perhaps half placed. Both sides are told, and some operations fail.
    pub breaks_in_10_000: u16,
    /// Whether a write that brings a number waits for a receive buffer and uses it up, as it does
    /// with the provider `verbs`.
    pub numbers_use_receives: bool,
    /// Whether numbers that come with writes have 4 bytes, as with the provider `verbs`, and not 8.
    pub has_narrow_numbers: bool,
    /// Whether what is on its way still arrives when the node that has sent it closes the
    /// connection or sees it broken, until the peer closes its side: as from the buffers of a
    /// network.
    pub outlives_disconnects: bool,
    /// Whether nothing can be sent inline.
    pub lacks_inline: bool,
    /// Whether registrations of memory fail.
    pub refuses_registrations: bool,
}

/// Counts of what a node has posted, and of what it was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimCounts {
    /// Writes, reads and messages.
    pub operations: u64,
    /// Operations whose bytes were copied into them.
    pub inline_operations: u64,
    /// Number of posted receive buffers.
    pub receives: u64,
    /// Times that the device was told of operations or receive buffers: once for several, if all
    /// but the last were posted with the word that more follows.
    pub doorbells: u64,
    /// Completions of the node's own operations and of its peers'.
    pub completions: u64,
    /// Bytes of the operations.
    pub bytes: u64,
    /// Number of memories that were registered.
    pub registrations: u64,
}

/// A fabric for tests. Clones are handles of the same one.
#[derive(Clone)]
pub struct SimFabric {
    state: Arc<Mutex<FabricState>>,
}

/// All nodes of a fabric, and what is on the way between them.
pub(super) struct FabricState {
    pub(super) faults: SimFabricFaults,
    pub(super) rng: FabricRng,
    pub(super) nodes: HashMap<u32, NodeState>,
    pub(super) queues: Vec<TransferQueue>,
    /// Number of the node that was opened last. Numbers are not used again.
    pub(super) last_node: u32,
    /// Number of connections that were broken.
    pub(super) breaks: u64,
    /// By node, what it has posted.
    pub(super) counts: HashMap<u32, SimCounts>,
    /// The node that nothing gets to or from.
    pub(super) silent_node: Option<u32>,
    /// Nodes whose queues have failed.
    failed_nodes: Vec<u32>,
}

/// A node as the fabric sees it.
pub(super) struct NodeState {
    pub(super) events: Vec<FabricEvent>,
    pub(super) completions: Vec<Completion>,
    /// Completions that are told with the next one.
    pub(super) late: Vec<Completion>,
    pub(super) regions: Vec<NodeRegion>,
    /// By connection: the queue by which it sends.
    pub(super) connections: Vec<usize>,
    pub(super) is_listening: bool,
    /// Descriptor that becomes readable with events and completions.
    pub(super) wakeup: Arc<OwnedFd>,
}

/// A registered memory of a node.
pub(super) struct NodeRegion {
    pub(super) mapping: Arc<Mapping>,
    pub(super) access: RemoteAccess,
    pub(super) key: u64,
}

impl SimFabricFaults {
    /// No faults: words are placed in order, each post is taken, each completion told at once.
    pub const NONE: SimFabricFaults = SimFabricFaults {
        seed: 0,
        reorders_words: false,
        stall_percent: 0,
        late_completion_percent: 0,
        lost_completion_percent: 0,
        pause_percent: 0,
        no_room_percent: 0,
        breaks_in_10_000: 0,
        numbers_use_receives: false,
        has_narrow_numbers: false,
        outlives_disconnects: false,
        lacks_inline: false,
        refuses_registrations: false,
    };

    /// All faults, but for breaks, refused registrations, providers without inline sends, and those
    /// whose numbers use receive buffers.
    pub const fn wild(seed: u64) -> SimFabricFaults {
        SimFabricFaults {
            seed,
            reorders_words: true,
            stall_percent: 20,
            late_completion_percent: 20,
            lost_completion_percent: 5,
            pause_percent: 1,
            no_room_percent: 20,
            breaks_in_10_000: 0,
            numbers_use_receives: false,
            has_narrow_numbers: false,
            outlives_disconnects: false,
            lacks_inline: false,
            refuses_registrations: false,
        }
    }
}

impl SimFabric {
    /// Makes a fabric with these faults.
    pub fn new(faults: SimFabricFaults) -> SimFabric {
        let state = FabricState {
            faults,
            rng: FabricRng::new(faults.seed),
            nodes: HashMap::new(),
            queues: Vec::new(),
            last_node: 0,
            breaks: 0,
            counts: HashMap::new(),
            silent_node: None,
            failed_nodes: Vec::new(),
        };
        let state = Arc::new(Mutex::new(state));
        SimFabric { state }
    }

    /// Number of connections that the fabric has broken.
    pub fn breaks(&self) -> u64 {
        self.state().breaks
    }

    /// Counts of the node with this number ([`SimNode::number`](super::SimNode::number)).
    pub fn counts(&self, node: u32) -> SimCounts {
        self.state().counts.get(&node).copied().unwrap_or_default()
    }

    /// Whether the words of a write are placed from the first to the last.
    pub fn places_in_order(&self) -> bool {
        !self.state().faults.reorders_words
    }

    /// Lets nothing pass to or from a node, although no connection ends; `None`: all passes again.
    pub fn silence(&self, node: Option<u32>) {
        self.state().silent_node = node;
    }

    /// Has the queues of a node fail from now on.
    pub fn fail_node(&self, node: u32) {
        self.state().failed_nodes.push(node);
    }

    /// Ends all faults from now on.
    pub fn heal(&self) {
        self.state().faults = SimFabricFaults::NONE;
    }

    pub(super) fn state(&self) -> MutexGuard<'_, FabricState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FabricState {
    /// Moves something, if the faults let it.
    pub(super) fn step(&mut self) {
        self.break_some_connection();
        if self.rng.happens(self.faults.stall_percent) {
            return;
        }
        let silent = self.silent_node;
        let busy = |(at, queue): (usize, &TransferQueue)| {
            let is_silent = silent.is_some_and(|node| queue.is_of(node));
            (queue.begun() > 0 && !queue.is_severed && !is_silent).then_some(at)
        };
        let busy: Vec<usize> = self.queues.iter().enumerate().filter_map(busy).collect();
        if busy.is_empty() {
            return;
        }
        let at = busy[self.rng.below(busy.len())];
        // What a node has left behind is in some buffer of the network, and comes late.
        let is_late = self.queues[at].is_left && self.rng.happens(LEFT_LATE_PERCENT);
        if is_late || self.is_paused(at) || self.lacks_receive_for_number(at) {
            return;
        }
        if let Err(why) = self.find_receive(at) {
            return self.close(at, why);
        }
        let Some(transfer) = self.queues[at].transfers.front_mut() else {
            return;
        };
        let is_placed = transfer.advance(&mut self.rng, self.faults.reorders_words);
        let is_late =
            transfer.immediate.is_some() && self.rng.happens(self.faults.late_completion_percent);
        if is_placed
            && !is_late
            && let Some(transfer) = self.queues[at].transfers.pop_front()
        {
            self.finish(at, &transfer);
            self.close_if_last(at);
        }
    }

    /// Breaks a connection, if the faults say so.
    fn break_some_connection(&mut self) {
        let breaks = usize::from(self.faults.breaks_in_10_000);
        if breaks == 0 || self.rng.below(10_000) >= breaks {
            return;
        }
        let open = self.queues.iter().enumerate();
        let open: Vec<usize> = open.filter(|(_, q)| q.is_open).map(|(at, _)| at).collect();
        if open.is_empty() {
            return;
        }
        let at = open[self.rng.below(open.len())];
        self.breaks += 1;
        let left = self.queues[at].transfers.iter();
        let left: Vec<u64> = left.filter_map(|transfer| transfer.completion).collect();
        for number in left {
            if self.rng.happens(50) {
                let error = FabricError::Disconnected("the network has failed".to_owned());
                let kind = CompletionKind::Failed(error);
                self.tell(self.queues[at].from.0, Completion { number, kind });
            }
        }
        match self.faults.outlives_disconnects {
            true => {
                let (node, connection) = self.queues[at].from;
                let event = FabricEvent::Closed {
                    connection: ConnectionId::new(connection),
                    why: "the network has failed".to_owned(),
                    is_refused: false,
                };
                self.tell_event(node, event);
                self.sever(at);
            }
            false => self.close(at, "the network has failed"),
        }
    }

    /// Ends a connection for the node of a queue: what it has sent arrives, and the peer is told of
    /// the end behind it. Of a silent node nothing arrives, and the peer is not told.
    pub(super) fn sever(&mut self, at: usize) {
        let (from, to) = (self.queues[at].from, self.queues[at].to);
        let is_silent = self
            .silent_node
            .is_some_and(|node| self.queues[at].is_of(node));
        let mut queues = self.queues.iter_mut();
        let Some(back) = queues.find(|queue| (queue.from, queue.to) == (to, from)) else {
            return self.close(at, "the peer has closed the connection");
        };
        if std::mem::replace(&mut back.is_severed, true) {
            return self.close(at, "both sides have closed the connection");
        }
        back.transfers.clear();
        back.held = 0;
        let queue = &mut self.queues[at];
        (queue.is_open, queue.is_left) = (false, true);
        queue.held = 0;
        match is_silent {
            true => queue.transfers.clear(),
            false => {
                queue.transfers.iter_mut().for_each(Transfer::copy_source);
                self.close_if_last(at);
            }
        }
    }

    /// Ends a connection that its node has left, behind the last thing that was on its way.
    fn close_if_last(&mut self, at: usize) {
        let queue = &self.queues[at];
        if !queue.is_left || !queue.transfers.is_empty() {
            return;
        }
        let (from, to) = (queue.from, queue.to);
        let mut queues = self.queues.iter();
        let back = queues.position(|queue| (queue.from, queue.to) == (to, from));
        if let Some(back) = back {
            self.close(back, "the peer has closed the connection");
        }
    }

    /// The error of a node whose queues have failed.
    pub(super) fn check_node(&self, node: u32) -> Result<(), FabricError> {
        match self.failed_nodes.contains(&node) {
            false => Ok(()),
            true => Err(FabricError::Call {
                call: "fi_cq_read",
                code: libc::EIO,
                text: "the device has failed".to_owned(),
            }),
        }
    }

    /// Whether a direction of a connection carries nothing now; may begin such a pause.
    fn is_paused(&mut self, at: usize) -> bool {
        let queue = &mut self.queues[at];
        if queue.paused_polls == 0 && self.rng.happens(self.faults.pause_percent) {
            queue.paused_polls = 1 + self.rng.below(PAUSE_POLLS_MAX);
        }
        let is_paused = queue.paused_polls > 0;
        queue.paused_polls = queue.paused_polls.saturating_sub(1);
        is_paused
    }

    /// Gives the next transfer of a queue its receive buffer, if it is a message without one. The
    /// error is the reason why its connection ends.
    fn find_receive(&mut self, at: usize) -> Result<(), &'static str> {
        let transfer = self.queues[at].transfers.front();
        let Some(bytes) = transfer.filter(|t| t.target.is_none()).map(|t| t.bytes) else {
            return Ok(());
        };
        let posted = self.receives_of(at).and_then(|receives| receives.front());
        let posted = posted.ok_or("a message found no receive buffer")?;
        if posted.bytes < bytes {
            return Err("a message is larger than its receive buffer");
        }
        let place = posted.place.clone();
        if let Some(transfer) = self.queues[at].transfers.front_mut() {
            transfer.target = Some(place);
        }
        Ok(())
    }

    /// Whether the next transfer of a queue brings a number and waits for a receive buffer.
    fn lacks_receive_for_number(&mut self, at: usize) -> bool {
        let uses_receives = self.faults.numbers_use_receives;
        let next = self.queues[at].transfers.front();
        let brings_number =
            next.is_some_and(|next| next.kind == TransferKind::Write && next.immediate.is_some());
        uses_receives && brings_number && self.receives_of(at).is_none_or(|own| own.is_empty())
    }

    /// The receive buffers at the end of a queue, which are those of the queue that goes back.
    fn receives_of(&mut self, at: usize) -> Option<&mut VecDeque<PostedReceive>> {
        let (peer, connection) = self.queues[at].to;
        let back = *self.nodes.get(&peer)?.connections.get(connection)?;
        Some(&mut self.queues[back].receives)
    }

    /// Tells both nodes of an operation whose bytes are all placed.
    fn finish(&mut self, at: usize, transfer: &Transfer) {
        let (from, to) = (self.queues[at].from.0, self.queues[at].to.0);
        let received = match (transfer.kind, transfer.immediate) {
            (TransferKind::Send, immediate) => {
                let filled = self.receives_of(at).and_then(VecDeque::pop_front);
                let PostedReceive { completion, .. } =
                    filled.expect("the buffer that the message has filled");
                let bytes = transfer.bytes;
                let kind = CompletionKind::Received { bytes, immediate };
                Some(Completion {
                    number: completion,
                    kind,
                })
            }
            (TransferKind::Write, Some(immediate)) => {
                let used = match self.faults.numbers_use_receives {
                    true => self.receives_of(at).and_then(VecDeque::pop_front),
                    false => None,
                };
                let number = used.map_or(0, |used| used.completion);
                let kind = CompletionKind::RemoteWrite { immediate };
                Some(Completion { number, kind })
            }
            _ => None,
        };
        if let Some(received) = received {
            self.count(to, |counts| counts.completions += 1);
            self.tell(to, received);
        }
        let is_told = !self.rng.happens(self.faults.lost_completion_percent);
        if let Some(number) = transfer.completion.filter(|_| is_told) {
            self.count(from, |counts| counts.completions += 1);
            let kind = CompletionKind::Posted;
            let completion = Completion { number, kind };
            match self.rng.happens(self.faults.late_completion_percent) {
                true => self.with_node(from, |node| node.late.push(completion)),
                false => self.tell(from, completion),
            }
        }
    }

    /// Counts what a node does.
    pub(super) fn count(&mut self, node: u32, count: impl FnOnce(&mut SimCounts)) {
        count(self.counts.entry(node).or_default());
    }

    /// Appends a completion to those of a node, after the late ones.
    fn tell(&mut self, node: u32, completion: Completion) {
        self.with_node(node, |node| {
            let late = std::mem::take(&mut node.late);
            node.completions.extend(late);
            node.completions.push(completion);
            node.wake();
        });
    }

    /// Appends an event to those of a node.
    pub(super) fn tell_event(&mut self, node: u32, event: FabricEvent) {
        self.with_node(node, |node| {
            node.events.push(event);
            node.wake();
        });
    }

    /// Ends the connection of a queue: what is on the way in both directions is lost, as it is when
    /// a process dies.
    pub(super) fn close(&mut self, at: usize, why: &str) {
        if !self.queues[at].is_open {
            return;
        }
        let (from, to) = (self.queues[at].from, self.queues[at].to);
        for queue in &mut self.queues {
            if [(from, to), (to, from)].contains(&(queue.from, queue.to)) {
                queue.is_open = false;
                queue.transfers.clear();
                queue.held = 0;
                queue.receives.clear();
            }
        }
        let ends = [from, to].into_iter();
        for (node, connection) in ends.filter(|(_, connection)| *connection != NOT_ACCEPTED) {
            let connection = ConnectionId::new(connection);
            let why = why.to_owned();
            let event = FabricEvent::Closed {
                connection,
                why,
                is_refused: false,
            };
            self.tell_event(node, event);
        }
    }

    /// The place of a peer's memory that a key and an address name.
    pub(super) fn remote_place(
        &self,
        node: u32,
        access: RemoteAccess,
        key: u64,
        offset: usize,
        bytes: usize,
    ) -> Option<MemoryPlace> {
        let regions = &self.nodes.get(&node)?.regions;
        let region = regions.iter().find(|region| region.key == key)?;
        let end = offset.checked_add(bytes)?;
        let is_allowed = region.access == access && end <= region.mapping.len();
        is_allowed.then(|| MemoryPlace {
            mapping: region.mapping.clone(),
            offset,
        })
    }

    /// The state of a node, which lives as long as the node.
    pub(super) fn node(&mut self, number: u32) -> &mut NodeState {
        self.nodes
            .get_mut(&number)
            .expect("a node that is not dropped")
    }

    fn with_node(&mut self, node: u32, act: impl FnOnce(&mut NodeState)) {
        if let Some(node) = self.nodes.get_mut(&node) {
            act(node);
        }
    }
}

impl NodeState {
    fn wake(&self) {
        // A full counter is readable too.
        let _ = rustix::io::write(&*self.wakeup, &1u64.to_ne_bytes());
    }
}
