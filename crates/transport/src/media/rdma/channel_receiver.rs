//! The receiver's side of mode `channel`: receive buffers, and credit for those that are posted.
//!
//! ```text
//!   messages   released      polled        arrived       posted
//!   buffers    |.............|.............|.............|
//!               frames in use  not polled    empty
//! ```
//! Each number counts messages or receive buffers since the connection was made; all only grow. A
//! buffer is posted again when its frames are released. Credit is the number of buffers that were
//! posted: the number of messages that the sender may have sent.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

use fabric::{
    COMPLETIONS_PER_POLL, Completion, CompletionKind, ConnectionId, FabricEvent, LocalSlice,
    PinnedMemory, PostOptions, RdmaNode, RegionId, RemoteAccess,
};
use ring::frame::FrameBatch;

use super::CHANNEL_CREDIT_BYTES;
use super::channel_pool::PoolShape;
use super::frame_check::check_frames;
use super::mode::ModeReceiver;
use super::write_targets::{memory, refused};
use crate::media::tcp_edge::stream_end::StreamEnd;
use crate::{EdgeSpec, Error};

/// One message of credit in so many has a completion, by which the provider's queue is emptied.
const CREDITS_PER_COMPLETION: u64 = 8;

/// Fewest buffers that credit is sent for while messages wait to be polled: a sender that gets more
/// at a time makes larger messages.
const CREDIT_STEP_MIN: u64 = 2;

/// Number of the completions of credit.
const CREDIT_COMPLETION: u64 = u64::MAX;

/// The receiver's side of an edge in mode `channel`.
pub(super) struct ChannelReceiver<N> {
    node: N,
    connection: ConnectionId,
    pool: PinnedMemory,
    region: RegionId,
    shape: PoolShape,
    /// The word of credit that is sent.
    credit: PinnedMemory,
    credit_region: RegionId,
    /// Buffers that the sender uses at a time; `None` until it has accepted.
    granted: Option<u64>,
    /// Sizes of the messages that have come and were not polled.
    arrived: VecDeque<usize>,
    polled: u64,
    released: u64,
    posted: u64,
    /// Credit that was sent last, and the number of messages of credit.
    credited: u64,
    credit_messages: u64,
    /// Whether the word of credit is on its way and must not change.
    is_credit_on_way: bool,
    completions: Vec<Completion>,
    /// Why an operation has failed, if one has.
    failure: Option<String>,
    end: Option<StreamEnd>,
}

impl<N: RdmaNode> ChannelReceiver<N> {
    /// Asks the sender for a connection, over a node for its address. Does not wait for it.
    pub(super) fn new(
        mut node: N,
        spec: &EdgeSpec,
        receiver: u32,
        ring_bytes: usize,
    ) -> Result<ChannelReceiver<N>, Error> {
        let shape = PoolShape::new(ring_bytes, node.limits());
        let pool = memory(shape.bytes())?;
        let credit = memory(CHANNEL_CREDIT_BYTES)?;
        let region = node.register(&pool, RemoteAccess::None);
        let region = region.map_err(refused)?;
        let credit_region = node.register(&credit, RemoteAccess::None);
        let credit_region = credit_region.map_err(refused)?;
        let request = shape.request(spec, receiver).to_bytes();
        let connection = node.connect(&request).map_err(refused)?;
        let mut receiver = ChannelReceiver {
            node,
            connection,
            pool,
            region,
            shape,
            credit,
            credit_region,
            granted: None,
            arrived: VecDeque::with_capacity(shape.buffers),
            polled: 0,
            released: 0,
            posted: 0,
            credited: 0,
            credit_messages: 0,
            is_credit_on_way: false,
            completions: Vec::with_capacity(COMPLETIONS_PER_POLL),
            failure: None,
            end: None,
        };
        receiver.post_buffers();
        Ok(receiver)
    }
}

impl<N: RdmaNode> ModeReceiver for ChannelReceiver<N> {
    fn may_sleep(&mut self) -> Result<bool, Error> {
        self.node.may_sleep().map_err(refused)
    }

    fn list_wait_fds<'a>(&'a self, fds: &mut Vec<BorrowedFd<'a>>) {
        // A provider without descriptors was refused when the edge was opened.
        fds.extend(self.node.wait_fds().into_iter().flatten());
    }

    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        if self.arrived.is_empty() {
            self.progress()?;
        }
        match (self.arrived.pop_front(), &self.end) {
            (Some(bytes), _) => {
                let range = self.shape.range(self.polled, bytes);
                self.polled += 1;
                Ok(FrameBatch::new(self.pool.bytes(range)))
            }
            (None, None) => Ok(FrameBatch::default()),
            (None, Some(end)) => Err(end.to_error()),
        }
    }

    fn release(&mut self) {
        self.released = self.polled;
        self.post_buffers();
        let due = (self.shape.buffers as u64).div_ceil(4).max(CREDIT_STEP_MIN);
        let is_due = self.credit() - self.credited >= due;
        // A receiver that finds nothing more may not come back soon.
        if is_due || self.arrived.is_empty() {
            self.take_all();
            if is_due || self.arrived.is_empty() {
                self.send_credit();
            }
        }
    }

    fn progress(&mut self) -> Result<(), Error> {
        self.take_completions()?;
        if !self.arrived.is_empty() && self.credit() > self.credited {
            self.take_all();
        }
        while let Some(event) = self.node.next_event().map_err(refused)? {
            match event {
                FabricEvent::Connected { data, .. } => match self.shape.of_acceptance(&data) {
                    Ok(used) => self.granted = Some(used.buffers as u64),
                    Err(error) => self.end(StreamEnd::Lost(error.to_string())),
                },
                FabricEvent::Closed { why, .. } => self.end(StreamEnd::Lost(why)),
                FabricEvent::Request(_) => {}
            }
        }
        // Receive buffers fail when their connection ends, and the event says why it did.
        if let Some(why) = self.failure.take() {
            self.end(StreamEnd::Lost(why));
        }
        self.post_buffers();
        self.send_credit();
        Ok(())
    }

    fn is_connecting(&self) -> bool {
        self.granted.is_none() && self.end.is_none()
    }

    fn owes_credit(&self) -> bool {
        let is_posted = self.posted == self.released + self.shape.buffers as u64;
        let is_told = self.credit() == self.credited || self.is_credit_on_way;
        self.end.is_none() && !(is_posted && is_told)
    }

    fn has_news(&mut self) -> Result<bool, Error> {
        Ok(self.end.is_some() || !self.arrived.is_empty())
    }
}

impl<N: RdmaNode> ChannelReceiver<N> {
    /// Number of messages that the sender may have sent, 0 before it has accepted.
    fn credit(&self) -> u64 {
        let granted = self.granted.map(|granted| self.released + granted);
        granted.unwrap_or_default().min(self.posted)
    }

    /// Takes messages until no more come: when credit cannot be sent any more, the provider `tcp`
    /// forgets those that a sender has left behind and that were not taken.
    fn take_all(&mut self) {
        loop {
            let before = self.arrived.len();
            // The next poll reports an error, if there is one.
            let is_taken = self.take_completions().is_ok();
            if !is_taken || self.arrived.len() == before {
                return;
            }
        }
    }

    /// Takes the messages that have come.
    fn take_completions(&mut self) -> Result<(), Error> {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self.node.poll_completions(&mut completions);
        for completion in completions.drain(..) {
            match completion.kind {
                CompletionKind::Received { bytes, .. } => self.take_message(bytes),
                CompletionKind::Posted => self.is_credit_on_way = false,
                CompletionKind::RemoteWrite { .. } => {
                    let why = "the sender has written memory, and not sent a message";
                    self.break_off(why.to_owned());
                }
                CompletionKind::Failed(error) => self.failure = Some(error.to_string()),
            }
        }
        self.completions = completions;
        polled.map_err(refused)
    }

    /// Takes a message that has filled the next buffer, if it is one of whole frames. Those that
    /// came before the sender was lost are taken too.
    fn take_message(&mut self, bytes: usize) {
        if matches!(self.end, Some(StreamEnd::Refused(_))) {
            return;
        }
        let message = self.polled + self.arrived.len() as u64;
        let checked = match bytes <= self.shape.buffer_bytes {
            true => check_frames(self.pool.bytes(self.shape.range(message, bytes))),
            false => Err("it is larger than its buffer".to_owned()),
        };
        match checked {
            Ok(()) => self.arrived.push_back(bytes),
            Err(why) => self.break_off(format!("message {message} of the sender is broken: {why}")),
        }
    }

    /// Posts the buffers whose frames are released. Those that find no room are posted later.
    fn post_buffers(&mut self) {
        while self.end.is_none() && self.posted < self.released + self.shape.buffers as u64 {
            let buffer = self.shape.buffer_bytes;
            let into = self.shape.slice(self.region, self.posted, buffer);
            match self
                .node
                .post_receive(self.connection, &into, self.posted + 1)
            {
                Ok(true) => self.posted += 1,
                Ok(false) => return,
                Err(error) => self.end(StreamEnd::Lost(error.to_string())),
            }
        }
    }

    /// Tells the sender of buffers that it does not know of. If there is no room for that now, it
    /// is done later.
    fn send_credit(&mut self) {
        let credit = self.credit();
        if self.end.is_some() || credit == self.credited || self.is_credit_on_way {
            return;
        }
        let word = self.credit.bytes_mut(0..CHANNEL_CREDIT_BYTES);
        word.copy_from_slice(&credit.to_ne_bytes());
        let is_inline = self.node.limits().inline_bytes_max >= CHANNEL_CREDIT_BYTES;
        let messages = self.credit_messages + 1;
        let is_told = !is_inline || messages.is_multiple_of(CREDITS_PER_COMPLETION);
        let options = PostOptions {
            completion: is_told.then_some(CREDIT_COMPLETION),
            immediate: None,
            is_more: false,
            is_inline,
        };
        let from = LocalSlice {
            region: self.credit_region,
            range: 0..CHANNEL_CREDIT_BYTES,
        };
        match self.node.post_send(self.connection, &from, options) {
            Ok(true) => {
                self.credited = credit;
                self.credit_messages = messages;
                self.is_credit_on_way = !is_inline;
            }
            Ok(false) => {}
            Err(error) => self.end(StreamEnd::Lost(error.to_string())),
        }
    }

    /// Ends the stream for what the sender has done: nothing of it is believed any more.
    #[cold]
    fn break_off(&mut self, why: String) {
        self.end(StreamEnd::Refused(why));
        self.node.disconnect(self.connection);
    }

    fn end(&mut self, end: StreamEnd) {
        self.end.get_or_insert(end);
    }
}
