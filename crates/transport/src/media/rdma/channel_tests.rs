//! Mode `channel` on the fabric for tests: nothing torn, lost or stuck, whatever the fabric does,
//! and an error for whatever a peer does.

use fabric::sim::{SimFabric, SimFabricFaults, SimNode};
use fabric::{
    ConnectionId, FabricEvent, LocalSlice, PinnedMemory, PostOptions, RdmaNode, RemoteAccess,
};
use ring::frame::FrameHeader;

use super::CHANNEL_MODE;
use super::channel_pool::PoolShape;
use super::channel_receiver::ChannelReceiver;
use super::channel_sender::ChannelSender;
use super::mode::{ModeReceiver, ModeSender};
use super::sim_edge::{RING_BYTES, SimEdge, StepRng, payload, seeds, spec};
use crate::{EdgeSpec, Error};

type ChannelEdge = SimEdge<ChannelSender<SimNode>, ChannelReceiver<SimNode>>;

fn open(faults: SimFabricFaults, receivers: u32) -> ChannelEdge {
    let fabric = SimFabric::new(faults);
    let (node, address) = fabric.listen().unwrap();
    let spec = spec(receivers);
    let sender = ChannelSender::new(node, &spec, RING_BYTES).unwrap();
    let receive = |number| {
        let node = fabric.connect(address).unwrap();
        ChannelReceiver::new(node, &spec, number, RING_BYTES).unwrap()
    };
    let mut edge = SimEdge::new(sender, (0..receivers).map(receive).collect());
    edge.payload = |number| payload(number, 1000);
    edge
}

/// Passes frames over an edge for each seed.
fn pass(receivers: u32, frames: u64, seeds: u64, faults: impl Fn(u64) -> SimFabricFaults) {
    for seed in 0..seeds {
        let mut edge = open(faults(seed), receivers);
        let passed = edge.run(seed, frames);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn frames_come_whole_and_in_order() {
    pass(1, 60, seeds(), SimFabricFaults::wild);
}

#[test]
fn every_receiver_gets_every_frame() {
    pass(3, 40, seeds() / 4, SimFabricFaults::wild);
}

/// Messages of credit are the provider's until their completions come, so none is lost here.
#[test]
fn providers_without_inline_sends_work() {
    pass(1, 60, seeds() / 4, |seed| SimFabricFaults {
        lacks_inline: true,
        late_completion_percent: 0,
        lost_completion_percent: 0,
        ..SimFabricFaults::wild(seed)
    });
}

/// Credit tells of messages whose completions are lost.
#[test]
fn no_completion_is_waited_for_behind_credit() {
    pass(1, 60, seeds() / 4, |seed| SimFabricFaults {
        lost_completion_percent: 100,
        ..SimFabricFaults::wild(seed)
    });
}

#[test]
fn frames_that_fill_their_buffers_pass() {
    for seed in 0..seeds() / 4 {
        let mut edge = open(SimFabricFaults::wild(seed), 1);
        edge.payload =
            |number| vec![number as u8; RING_BYTES / 4 - 16 - 24 * (number % 3) as usize];
        let passed = edge.run(seed, 60);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// While nobody polls, small frames use half of the receiver's buffers, and then share one, which
/// goes out with a flush or when the sending thread is about to sleep.
#[test]
fn small_frames_share_a_buffer_when_credit_is_short() {
    share_a_buffer(|sender| drop(sender.flush()));
    share_a_buffer(|sender| drop(sender.may_sleep(RING_BYTES / 4 - 16)));
}

fn share_a_buffer(let_out: impl Fn(&mut ChannelSender<SimNode>)) {
    let mut edge = open(SimFabricFaults::NONE, 1);
    for _ in 0..20 {
        edge.sender.progress().unwrap();
        assert!(edge.receivers[0].poll().unwrap().is_empty());
    }
    for number in 0..60_u8 {
        assert!(edge.sender.try_claim(8).unwrap(), "frame {number}");
        edge.sender.claimed().fill(number);
        edge.sender.commit(1, 0, 8);
    }
    let_out(&mut edge.sender);
    for _ in 0..2000 {
        edge.sender.progress().unwrap();
    }
    let mut batches = Vec::new();
    while batches.iter().sum::<usize>() < 60 {
        let count = edge.receivers[0].poll().unwrap().count();
        batches.extend((count > 0).then_some(count));
    }
    assert_eq!(batches, [1, 1, 58]);
}

#[test]
fn frames_before_a_loss_are_received_first() {
    for seed in 0..seeds() {
        let mut edge = open(SimFabricFaults::wild(seed), 1);
        let mut rng = StepRng(seed + 1);
        while edge.sent < 10 {
            edge.step(&mut rng, 10).unwrap();
        }
        // Polls now and then: what has come behind the last poll is still to be received.
        while !edge.sender.flush().unwrap() {
            if rng.below(4) == 0 {
                edge.receive(0, &mut rng).unwrap();
            }
        }
        assert_eq!(edge.frames_at_loss(), 10, "seed {seed}");
    }
}

#[test]
fn receivers_go_on_when_one_is_lost() {
    for seed in 0..seeds() / 4 {
        let mut edge = open(SimFabricFaults::wild(seed), 3);
        let mut rng = StepRng(seed + 1);
        while edge.sent < 10 {
            edge.step(&mut rng, 10).unwrap();
        }
        drop(edge.receivers.remove(1));
        edge.received.remove(1);
        let passed = edge.run(seed, 40);
        passed.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        edge.sender.progress().unwrap();
        assert_eq!(edge.sender.lost_receivers(), [1], "seed {seed}");
        drop(std::mem::take(&mut edge.receivers));
        edge.sender.progress().unwrap();
        let lost = edge.sender.try_claim(8).err();
        assert!(
            matches!(lost, Some(Error::PeerLost(_))),
            "seed {seed}: {lost:?}"
        );
    }
}

#[test]
fn refused_registrations_are_errors() {
    let fabric = SimFabric::new(SimFabricFaults {
        refuses_registrations: true,
        ..SimFabricFaults::NONE
    });
    let (node, address) = fabric.listen().unwrap();
    let refusal = ChannelSender::new(node, &spec(1), RING_BYTES)
        .err()
        .unwrap();
    assert!(
        refusal.to_string().contains("Cannot allocate memory"),
        "{refusal}"
    );
    let node = fabric.connect(address).unwrap();
    assert!(ChannelReceiver::new(node, &spec(1), 0, RING_BYTES).is_err());
}

#[test]
fn a_stranger_is_refused() {
    let wrong_token = EdgeSpec {
        token: [8; 16],
        ..spec(1)
    };
    for (wrong, ring_bytes) in [(wrong_token, RING_BYTES), (spec(1), 2 * RING_BYTES)] {
        let fabric = SimFabric::new(SimFabricFaults::NONE);
        let (node, address) = fabric.listen().unwrap();
        let mut sender = ChannelSender::new(node, &spec(1), RING_BYTES).unwrap();
        let node = fabric.connect(address).unwrap();
        let mut stranger = ChannelReceiver::new(node, &wrong, 0, ring_bytes).unwrap();
        let refusal = (0..1000).find_map(|_| {
            sender.progress().unwrap();
            stranger.poll().err()
        });
        assert!(matches!(refusal, Some(Error::PeerLost(_))), "{refusal:?}");
        assert!(sender.lost_receivers().is_empty());
    }
}

/// A side of an edge that says what it likes.
struct Liar {
    node: SimNode,
    connection: ConnectionId,
    memory: PinnedMemory,
    /// The memory as the source of messages, and as receive buffers.
    all: LocalSlice,
}

impl Liar {
    fn new(mut node: SimNode, connect: impl FnOnce(&mut SimNode) -> ConnectionId) -> Liar {
        let memory = PinnedMemory::new(RING_BYTES).unwrap();
        let region = node.register(&memory, RemoteAccess::None).unwrap();
        let connection = connect(&mut node);
        let range = 0..RING_BYTES;
        let all = LocalSlice { region, range };
        for number in 0..8 {
            assert!(node.post_receive(connection, &all, number).unwrap());
        }
        Liar {
            node,
            connection,
            memory,
            all,
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.memory.bytes_mut(0..bytes.len()).copy_from_slice(bytes);
        let from = LocalSlice {
            range: 0..bytes.len(),
            ..self.all.clone()
        };
        let options = PostOptions {
            is_inline: bytes.len() <= self.node.limits().inline_bytes_max,
            ..PostOptions::default()
        };
        assert!(
            self.node
                .post_send(self.connection, &from, options)
                .unwrap()
        );
    }

    fn progress(&mut self) {
        self.node.poll_completions(&mut Vec::new()).unwrap();
        self.node.next_event().unwrap();
    }
}

/// The words of a sender about a receiver that sends these messages of credit.
fn loss_by_credit(messages: &[&[u8]]) -> String {
    let fabric = SimFabric::new(SimFabricFaults::NONE);
    let (node, address) = fabric.listen().unwrap();
    let mut sender = ChannelSender::new(node, &spec(1), RING_BYTES).unwrap();
    let node = fabric.connect(address).unwrap();
    let shape = PoolShape::new(RING_BYTES, node.limits());
    let request = shape.request(&spec(1), 0).to_bytes();
    let mut liar = Liar::new(node, |node| node.connect(&request).unwrap());
    for _ in 0..20 {
        sender.progress().unwrap();
        liar.progress();
    }
    messages.iter().for_each(|message| liar.send(message));
    let loss = (0..1000).find_map(|_| {
        liar.progress();
        sender.progress().unwrap();
        sender.try_claim(8).err()
    });
    loss.map(|loss| loss.to_string()).unwrap_or_default()
}

#[test]
fn wrong_credit_is_the_loss_of_its_receiver() {
    let word = |credit: u64| credit.to_ne_bytes();
    assert_eq!(loss_by_credit(&[&word(4)]), "");
    assert_eq!(
        loss_by_credit(&[&word(4), &word(3)]),
        "receiver 0 is gone: its credit is 3; it should be above 4, 4 at most"
    );
    assert_eq!(
        loss_by_credit(&[&word(5)]),
        "receiver 0 is gone: its credit is 5; it should be above 0, 4 at most"
    );
    assert_eq!(
        loss_by_credit(&[&word(u64::MAX)]),
        format!(
            "receiver 0 is gone: its credit is {}; it should be above 0, 4 at most",
            u64::MAX
        )
    );
    assert_eq!(
        loss_by_credit(&[&[1; 7]]),
        "receiver 0 is gone: it has sent 7 bytes; credit has 8"
    );
}

/// The words of a receiver about a sender that accepts with these bytes and sends this message.
fn end_by_message(acceptance: &[u8], message: &[u8]) -> String {
    let fabric = SimFabric::new(SimFabricFaults::NONE);
    let (mut node, address) = fabric.listen().unwrap();
    let own = fabric.connect(address).unwrap();
    let mut receiver = ChannelReceiver::new(own, &spec(1), 0, RING_BYTES).unwrap();
    let Some(FabricEvent::Request(request)) = node.next_event().unwrap() else {
        panic!("no request");
    };
    let mut liar = Liar::new(node, |node| node.begin_accept(&request).unwrap());
    liar.node
        .finish_accept(liar.connection, acceptance)
        .unwrap();
    liar.send(message);
    let end = (0..1000).find_map(|_| {
        liar.progress();
        receiver.poll().err()
    });
    end.map(|end| end.to_string()).unwrap_or_default()
}

#[test]
fn a_broken_sender_is_an_error() {
    let shape = PoolShape {
        buffers: 4,
        buffer_bytes: RING_BYTES / 4,
    };
    let acceptance = shape.acceptance().to_bytes();
    let (kind, flags) = (1, 0);
    let header = |len| FrameHeader { len, kind, flags }.to_word().to_ne_bytes();
    assert_eq!(end_by_message(&acceptance, &header(0)), "");
    assert_eq!(
        end_by_message(&acceptance, &header(1)),
        "message 0 of the sender is broken: a frame of 16 bytes begins 8 bytes before its end"
    );
    assert_eq!(
        end_by_message(&acceptance, &[0; 12]),
        "message 0 of the sender is broken: 4 bytes are left behind its last frame"
    );
    assert_eq!(
        end_by_message(&acceptance, &[]),
        "message 0 of the sender is broken: it is empty"
    );
    let other = PoolShape {
        buffers: 4,
        buffer_bytes: 512,
    };
    assert_eq!(
        end_by_message(&other.acceptance().to_bytes(), &header(0)),
        "the sender is gone: the other side has 4 buffers of 512 bytes, this side 4 of 1024"
    );
    let mut write = acceptance;
    write[6..8].copy_from_slice(&1_u16.to_le_bytes());
    assert_eq!(
        end_by_message(&write, &header(0)),
        format!("the sender is gone: the other side has mode 1, this side {CHANNEL_MODE}")
    );
    assert_eq!(
        end_by_message(&acceptance, &[0; RING_BYTES / 4 + 8]),
        "the sender is gone: a message is larger than its receive buffer"
    );
}
