//! Messages into posted buffers, one message in each.
//!
//! ```text
//!   | 8 bytes, unused | payload, to a multiple of 8 |      in each buffer
//! ```
//! The unused bytes make a message as large as a frame of the medium. Credit is the number of
//! buffers that were posted so far: it only grows, and goes back when a quarter of them is free.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;

use fabric::{FabricNode, PinnedMemory, RegionId, RemoteAccess};

use super::fabric_end::{FabricEnd, ListeningNode, open_connecting, post_receive, register};
use super::{REMOTE_RING_BYTES, RemoteProvider, RemoteReceiver, RemoteSender, RemoteWire};
use crate::Error;
use crate::backoff::Backoff;

/// Number of buffers of each side, as in the medium with its default ring.
const BUFFERS: u64 = 32;

/// Bytes of a buffer.
const BUFFER_BYTES: usize = REMOTE_RING_BYTES / BUFFERS as usize;

/// Bytes of a message of credit, and of those before a payload.
const WORD: usize = 8;

/// Messages into posted buffers.
pub enum RemoteSends {}

/// The sending side: its buffers, and those for credit.
pub struct RemoteMessageSender {
    end: FabricEnd,
    buffers: (PinnedMemory, RegionId),
    credit: (PinnedMemory, RegionId),
    bytes: usize,
    /// Number of buffers that the receiver has posted so far.
    granted: u64,
    /// Number of messages that were sent.
    sent: u64,
}

/// The receiving side: its buffers, and the credit that it gives.
pub struct RemoteMessageReceiver {
    end: FabricEnd,
    buffers: (PinnedMemory, RegionId),
    credit: (PinnedMemory, RegionId),
    bytes: usize,
    /// Numbers of the buffers that have messages, the oldest first.
    filled: VecDeque<u64>,
    /// Number of buffers that were posted so far.
    posted: u64,
}

/// Bytes of the buffer with this number.
fn buffer(number: u64) -> Range<usize> {
    let start = (number % BUFFERS) as usize * BUFFER_BYTES;
    start..start + BUFFER_BYTES
}

/// Bytes of the buffer for credit with this number.
fn credit_buffer(number: u64) -> Range<usize> {
    let start = (number % BUFFERS) as usize * WORD;
    start..start + WORD
}

impl RemoteWire for RemoteSends {
    type Sender = RemoteMessageSender;
    type Receiver = RemoteMessageReceiver;

    fn accept(mut listening: ListeningNode, bytes: usize) -> Result<RemoteMessageSender, Error> {
        let node = &mut listening.node;
        let buffers = register(node, REMOTE_RING_BYTES, RemoteAccess::None)?;
        let credit = register(node, WORD * BUFFERS as usize, RemoteAccess::None)?;
        let region = credit.1;
        let end = listening.accept(&[], |node, connection| {
            (0..BUFFERS).try_for_each(|number| {
                post_receive(node, connection, (region, credit_buffer(number)), number)
            })
        })?;
        Ok(RemoteMessageSender {
            end,
            buffers,
            credit,
            bytes,
            granted: 0,
            sent: 0,
        })
    }

    fn connect(
        provider: RemoteProvider,
        address: SocketAddr,
        bytes: usize,
    ) -> Result<RemoteMessageReceiver, Error> {
        let mut node = open_connecting(provider, address)?;
        let buffers = register(&mut node, REMOTE_RING_BYTES, RemoteAccess::None)?;
        let credit = register(&mut node, WORD, RemoteAccess::None)?;
        let mut receiver = RemoteMessageReceiver {
            end: FabricEnd::connect(node, &[])?,
            buffers,
            credit,
            bytes,
            filled: VecDeque::with_capacity(BUFFERS as usize),
            posted: 0,
        };
        for number in 0..BUFFERS {
            receiver.post(number)?;
        }
        receiver.give_credit()?;
        Ok(receiver)
    }
}

impl RemoteMessageSender {
    /// Lets the provider work, and takes the credit that has come.
    fn poll(&mut self) -> Result<(), Error> {
        let mut come = [0; BUFFERS as usize];
        let mut count = 0;
        self.end.poll(&mut |number, _| {
            come[count] = number;
            count += 1;
            Ok(())
        })?;
        for &number in &come[..count] {
            let (memory, region) = &self.credit;
            let range = credit_buffer(number);
            self.granted = memory.word(range.start);
            let connection = self.end.connection;
            post_receive(&mut self.end.node, connection, (*region, range), number)?;
        }
        Ok(())
    }

    /// Waits until the receiver has posted so many buffers.
    fn wait_granted(&mut self, buffers: u64) -> Result<(), Error> {
        let mut backoff = Backoff::default();
        while self.granted < buffers {
            self.poll()?;
            backoff.wait();
        }
        Ok(())
    }
}

impl RemoteSender for RemoteMessageSender {
    fn send(&mut self, fill: impl FnOnce(&mut [u8])) -> Result<(), Error> {
        self.wait_granted(self.sent + 1)?;
        let start = buffer(self.sent).start;
        self.sent += 1;
        let (memory, region) = &mut self.buffers;
        let payload = start + WORD..start + WORD + self.bytes;
        fill(memory.bytes_mut(payload.clone()));
        let message = start..payload.end.next_multiple_of(WORD);
        let region = *region;
        let mut granted = self.granted;
        let credit = &self.credit;
        let mut come = Vec::new();
        self.end.send((region, message), &mut |number, _| {
            granted = credit.0.word(credit_buffer(number).start);
            come.push(number);
            Ok(())
        })?;
        self.granted = granted;
        let connection = self.end.connection;
        come.into_iter().try_for_each(|number| {
            let into = (self.credit.1, credit_buffer(number));
            post_receive(&mut self.end.node, connection, into, number)
        })
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.wait_granted(self.sent + BUFFERS)
    }
}

impl RemoteMessageReceiver {
    fn post(&mut self, number: u64) -> Result<(), Error> {
        let into = (self.buffers.1, buffer(number));
        post_receive(&mut self.end.node, self.end.connection, into, number)?;
        self.posted += 1;
        Ok(())
    }

    fn give_credit(&mut self) -> Result<(), Error> {
        let (memory, region) = &mut self.credit;
        memory
            .bytes_mut(0..WORD)
            .copy_from_slice(&self.posted.to_ne_bytes());
        let filled = &mut self.filled;
        self.end.send((*region, 0..WORD), &mut |number, _| {
            filled.push_back(number);
            Ok(())
        })
    }
}

impl RemoteReceiver for RemoteMessageReceiver {
    fn try_take(&mut self, read: impl FnOnce(&[u8])) -> Result<bool, Error> {
        if self.filled.is_empty() {
            let filled = &mut self.filled;
            self.end.poll(&mut |number, _| {
                filled.push_back(number);
                Ok(())
            })?;
        }
        let Some(number) = self.filled.pop_front() else {
            return Ok(false);
        };
        let start = buffer(number).start + WORD;
        read(self.buffers.0.bytes(start..start + self.bytes));
        self.post(number)?;
        if self.posted.is_multiple_of(BUFFERS / 4) {
            self.give_credit()?;
        }
        Ok(true)
    }

    fn acknowledge(&mut self) -> Result<(), Error> {
        self.give_credit()
    }

    fn wait_closed(&mut self) -> Result<(), Error> {
        self.end.wait_closed()
    }

    fn node(&mut self) -> &mut FabricNode {
        &mut self.end.node
    }

    fn node_ref(&self) -> &FabricNode {
        &self.end.node
    }
}
