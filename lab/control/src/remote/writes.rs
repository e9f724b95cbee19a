//! Remote writes of one message each into a ring.
//!
//! ```text
//!   | number | 8 bytes, unused | payload, to a multiple of 8 | number |      in each slot
//! ```
//! The first and the last word tell that a message is whole; the unused bytes make it as large as a
//! record of one frame in the medium.

use std::net::SocketAddr;
use std::ops::Range;

use fabric::{FabricNode, PinnedMemory, RdmaNode, RegionId, RemoteAccess, RemoteMemory};

use super::fabric_end::{
    FabricEnd, ListeningNode, from_bytes, open_connecting, register, to_bytes,
};
use super::{REMOTE_RING_BYTES, RemoteProvider, RemoteReceiver, RemoteSender, RemoteWire};
use crate::Error;
use crate::backoff::Backoff;

/// Bytes of a word.
const WORD: usize = 8;

/// Bytes before the payload.
const HEAD_BYTES: usize = 2 * WORD;

/// Messages by remote writes.
pub enum RemoteWrites {}

/// The layout of a ring: its slots, and the bytes of a message in each.
#[derive(Clone, Copy)]
struct SlotRing {
    payload_bytes: usize,
    slot_bytes: usize,
    slots: u64,
}

impl SlotRing {
    fn new(bytes: usize) -> SlotRing {
        let slot_bytes = HEAD_BYTES + bytes.next_multiple_of(WORD) + WORD;
        SlotRing {
            payload_bytes: bytes,
            slot_bytes,
            slots: (REMOTE_RING_BYTES / slot_bytes) as u64,
        }
    }

    fn slot(self, number: u64) -> Range<usize> {
        let start = (number % self.slots) as usize * self.slot_bytes;
        start..start + self.slot_bytes
    }
}

/// The writing side: a ring that is the source of its writes, and the credit that it gets.
pub struct RemoteWriteSender {
    end: FabricEnd,
    source: (PinnedMemory, RegionId),
    credit: PinnedMemory,
    to: RemoteMemory,
    ring: SlotRing,
    /// Whether a write brings a number.
    has_numbers: bool,
    /// Number of messages that were written.
    written: u64,
}

/// The reading side: a ring that is written, and the credit that it gives.
pub struct RemoteWriteReceiver {
    end: FabricEnd,
    memory: PinnedMemory,
    credit: (PinnedMemory, RegionId),
    to: RemoteMemory,
    ring: SlotRing,
    /// Whether a write brings a number.
    has_numbers: bool,
    /// Number of messages that were read.
    read: u64,
}

impl RemoteWire for RemoteWrites {
    type Sender = RemoteWriteSender;
    type Receiver = RemoteWriteReceiver;

    fn accept(mut listening: ListeningNode, bytes: usize) -> Result<RemoteWriteSender, Error> {
        let has_numbers = listening.provider == RemoteProvider::Shm;
        let node = &mut listening.node;
        let source = register(node, REMOTE_RING_BYTES, RemoteAccess::None)?;
        let (credit, credit_region) = register(node, WORD, RemoteAccess::Write)?;
        let data = to_bytes(node.remote_memory(credit_region));
        let end = listening.accept(&data, |_, _| Ok(()))?;
        Ok(RemoteWriteSender {
            to: from_bytes(&end.data)?,
            end,
            source,
            credit,
            ring: SlotRing::new(bytes),
            has_numbers,
            written: 0,
        })
    }

    fn connect(
        provider: RemoteProvider,
        address: SocketAddr,
        bytes: usize,
    ) -> Result<RemoteWriteReceiver, Error> {
        let mut node = open_connecting(provider, address)?;
        let (memory, region) = register(&mut node, REMOTE_RING_BYTES, RemoteAccess::Write)?;
        let credit = register(&mut node, WORD, RemoteAccess::None)?;
        let data = to_bytes(node.remote_memory(region));
        let end = FabricEnd::connect(node, &data)?;
        Ok(RemoteWriteReceiver {
            to: from_bytes(&end.data)?,
            end,
            memory,
            credit,
            ring: SlotRing::new(bytes),
            has_numbers: provider == RemoteProvider::Shm,
            read: 0,
        })
    }
}

impl RemoteWriteSender {
    /// Waits until at most so many messages are not read yet.
    fn wait_read(&mut self, unread_max: u64) -> Result<(), Error> {
        let mut backoff = Backoff::default();
        while self.written - self.credit.word(0) > unread_max {
            self.end.poll(&mut |_, _| Ok(()))?;
            backoff.wait();
        }
        Ok(())
    }
}

impl RemoteSender for RemoteWriteSender {
    fn send(&mut self, fill: impl FnOnce(&mut [u8])) -> Result<(), Error> {
        self.wait_read(self.ring.slots - 1)?;
        let slot = self.ring.slot(self.written);
        self.written += 1;
        let word = self.written.to_ne_bytes();
        let (memory, region) = &mut self.source;
        let bytes = memory.bytes_mut(slot.clone());
        bytes[..WORD].copy_from_slice(&word);
        fill(&mut bytes[HEAD_BYTES..HEAD_BYTES + self.ring.payload_bytes]);
        let last = bytes.len() - WORD;
        bytes[last..].copy_from_slice(&word);
        // The last of a message's writes brings its number.
        let immediate = self.has_numbers.then_some(self.written & 0xffff_ffff);
        let write_bytes = self.end.node.limits().message_bytes_max;
        for start in slot.clone().step_by(write_bytes.min(slot.len())) {
            let end = slot.end.min(start.saturating_add(write_bytes));
            let immediate = immediate.filter(|_| end == slot.end);
            self.end
                .write((*region, start..end), &self.to, start as u64, immediate)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.wait_read(0)
    }
}

impl RemoteWriteReceiver {
    fn give_credit(&mut self) -> Result<(), Error> {
        let (memory, region) = &mut self.credit;
        memory
            .bytes_mut(0..WORD)
            .copy_from_slice(&self.read.to_ne_bytes());
        self.end.write((*region, 0..WORD), &self.to, 0, None)
    }
}

impl RemoteReceiver for RemoteWriteReceiver {
    fn try_take(&mut self, read: impl FnOnce(&[u8])) -> Result<bool, Error> {
        let slot = self.ring.slot(self.read);
        let number = self.read + 1;
        let is_there = |memory: &PinnedMemory, told: u64| {
            (!self.has_numbers || told >= number)
                && memory.word(slot.start) == number
                && memory.word(slot.end - WORD) == number
        };
        if !is_there(&self.memory, self.end.told) {
            self.end.poll(&mut |_, _| Ok(()))?;
            if !is_there(&self.memory, self.end.told) {
                return Ok(false);
            }
        }
        let start = slot.start + HEAD_BYTES;
        read(self.memory.bytes(start..start + self.ring.payload_bytes));
        self.read = number;
        if number.is_multiple_of(self.ring.slots / 4) {
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
