//! The control of `rdma` in mode `channel`: messages of one payload each into posted buffers, by
//! libfabric's provider `tcp`, with the credits of the medium and nothing else. All receive buffers
//! are posted first; a word of credit goes back for each quarter of them.

use fabric::{
    Completion, CompletionKind, FabricAddress, LocalSlice, PostOptions, RdmaNode, RemoteAccess,
};

use crate::bare_writes::{BareNode, connect, loopback, open};

/// Buffers of a side, as in the medium.
const BUFFERS: u64 = 32;

/// One message in eight has a completion, as in the medium.
const MESSAGES_PER_COMPLETION: u64 = 8;

/// Bytes of a message of credit.
const CREDIT_BYTES: usize = 8;

/// Number of the completions of own messages; those of receive buffers are their buffers.
const OWN: u64 = u64::MAX;

/// The sending side.
pub struct BareSender {
    end: BareNode,
    message_bytes: usize,
    sent: u64,
    /// Number of messages that may have been sent, and of those whose buffers are free.
    credit: u64,
    credits: u64,
}

/// The receiving side.
pub struct BareReceiver {
    end: BareNode,
    message_bytes: usize,
    received: u64,
    arrived: u64,
}

/// Both sides, for messages of `len` bytes.
pub fn pair(len: usize) -> (BareSender, BareReceiver) {
    let mut sender = open(loopback());
    let address = sender.listen_address().expect("an address");
    let mut receiver = open(FabricAddress::Connect(address));
    let [to, from] = connect(&mut sender, &mut receiver);
    let bytes = BUFFERS as usize * len.max(CREDIT_BYTES);
    let mut sender = BareSender {
        end: BareNode::new(sender, to, bytes, RemoteAccess::None),
        message_bytes: len,
        sent: 0,
        credit: BUFFERS,
        credits: 0,
    };
    let mut receiver = BareReceiver {
        end: BareNode::new(receiver, from, bytes, RemoteAccess::None),
        message_bytes: len,
        received: 0,
        arrived: 0,
    };
    // Credit comes into buffers behind those that are sent from.
    sender.end.add_memory(BUFFERS as usize * CREDIT_BYTES);
    receiver.end.add_memory(CREDIT_BYTES);
    for number in 0..BUFFERS {
        receiver.post_buffer(number);
        sender.post_credit_buffer(number);
    }
    (sender, receiver)
}

impl BareSender {
    /// Sends a payload.
    pub fn send(&mut self, payload: &[u8]) {
        while self.sent >= self.credit {
            self.progress();
        }
        let start = (self.sent % BUFFERS) as usize * self.message_bytes;
        let range = start..start + self.message_bytes;
        self.end.memory[0]
            .bytes_mut(range.clone())
            .copy_from_slice(payload);
        self.sent += 1;
        let is_told = self.sent.is_multiple_of(MESSAGES_PER_COMPLETION);
        let from = LocalSlice {
            region: self.end.regions[0],
            range,
        };
        while !self.end.post_send(&from, is_told.then_some(OWN)) {
            self.progress();
        }
    }

    /// Waits until the receiver has all messages but those of the last quarter of the buffers.
    pub fn flush(&mut self) {
        while self.sent + BUFFERS - self.credit >= BUFFERS / 4 {
            self.progress();
        }
    }

    fn progress(&mut self) {
        for completion in self.end.poll() {
            if matches!(completion.kind, CompletionKind::Received { .. }) {
                let at = (self.credits % BUFFERS) as usize * CREDIT_BYTES;
                self.credit = self.end.memory[1].word(at);
                self.post_credit_buffer(self.credits);
                self.credits += 1;
            }
        }
    }

    fn post_credit_buffer(&mut self, number: u64) {
        let start = (number % BUFFERS) as usize * CREDIT_BYTES;
        self.end.post_receive(1, start..start + CREDIT_BYTES);
    }
}

impl BareReceiver {
    /// Waits for the next message and returns its first word.
    pub fn receive(&mut self) -> u64 {
        while self.arrived == self.received {
            self.arrived += self
                .end
                .poll()
                .iter()
                .filter(|one| is_received(one))
                .count() as u64;
        }
        let start = (self.received % BUFFERS) as usize * self.message_bytes;
        let first = self.end.memory[0].bytes(start..start + 8);
        let first = u64::from_ne_bytes(first.try_into().expect("8 bytes"));
        self.post_buffer(self.received);
        self.received += 1;
        if self.received.is_multiple_of(BUFFERS / 4) {
            let credit = (self.received + BUFFERS).to_ne_bytes();
            self.end.memory[1]
                .bytes_mut(0..CREDIT_BYTES)
                .copy_from_slice(&credit);
            let from = LocalSlice {
                region: self.end.regions[1],
                range: 0..CREDIT_BYTES,
            };
            while !self.end.post_send(&from, None) {
                self.arrived += self
                    .end
                    .poll()
                    .iter()
                    .filter(|one| is_received(one))
                    .count() as u64;
            }
        }
        first
    }

    fn post_buffer(&mut self, number: u64) {
        let start = (number % BUFFERS) as usize * self.message_bytes;
        self.end.post_receive(0, start..start + self.message_bytes);
    }
}

fn is_received(completion: &Completion) -> bool {
    matches!(completion.kind, CompletionKind::Received { .. })
}

impl BareNode {
    fn post_send(&mut self, from: &LocalSlice, completion: Option<u64>) -> bool {
        let options = PostOptions {
            completion,
            is_inline: from.range.len() <= self.node.limits().inline_bytes_max,
            ..PostOptions::default()
        };
        let posted = self.node.post_send(self.connection, from, options);
        posted.expect("a sound connection")
    }

    fn post_receive(&mut self, memory: usize, range: std::ops::Range<usize>) {
        let into = LocalSlice {
            region: self.regions[memory],
            range,
        };
        let posted = self.node.post_receive(self.connection, &into, 1);
        assert!(
            posted.expect("a sound connection"),
            "no room for a receive buffer"
        );
    }
}
