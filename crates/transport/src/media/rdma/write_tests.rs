//! Mode `write` on the fabric for tests: nothing torn, lost or stuck, whatever the fabric does.

use std::net::Ipv4Addr;

use fabric::sim::{SimFabric, SimFabricFaults, SimNode};

use super::PlacementProof;
use super::write_receiver::WriteReceiver;
use super::write_sender::WriteSender;
use crate::{Batching, EdgeSpec, Error};

const RING_BYTES: usize = 4096;

/// Steps in which a stream of a test must come through: far more than any seed takes.
const STEPS_MAX: usize = 400_000;

struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn spec(receivers: u32) -> EdgeSpec {
    EdgeSpec {
        name: "Trades.0".into(),
        edge: 3,
        receiver_count: receivers,
        ring_bytes: RING_BYTES,
        batching: Batching::default(),
        token: [7; 16],
        listen: Ipv4Addr::LOCALHOST.into(),
    }
}

/// The payload with a number: its length and bytes follow from the number.
fn payload(number: u64) -> Vec<u8> {
    let mut rng = Rng(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let len = match rng.below(10) {
        0 => rng.below(1500),
        1 => 0,
        _ => rng.below(100),
    };
    (0..len).map(|at| (number.wrapping_add(at)) as u8).collect()
}

struct Edge {
    sender: WriteSender<SimNode>,
    receivers: Vec<WriteReceiver<SimNode>>,
    payload: fn(u64) -> Vec<u8>,
    sent: u64,
    received: Vec<u64>,
}

impl Edge {
    fn open(faults: SimFabricFaults, proof: PlacementProof, receivers: u32) -> Edge {
        let fabric = SimFabric::new(faults);
        let (node, address) = fabric.listen().unwrap();
        let spec = spec(receivers);
        let salt = faults.seed ^ 0x5555;
        let sender = WriteSender::new(node, &spec, proof, RING_BYTES, salt).unwrap();
        let receive = |number| {
            let node = fabric.connect(address).unwrap();
            WriteReceiver::new(node, &spec, number, proof, RING_BYTES).unwrap()
        };
        Edge {
            sender,
            receivers: (0..receivers).map(receive).collect(),
            payload,
            sent: 0,
            received: vec![0; receivers as usize],
        }
    }

    /// Lets the two sides do something, as `rng` says. The text says what was wrong.
    fn step(&mut self, rng: &mut Rng, frames: u64) -> Result<(), String> {
        match rng.below(3) {
            0 => {
                self.sender.progress().map_err(|error| error.to_string())?;
            }
            1 if self.sent < frames => {
                let bytes = (self.payload)(self.sent);
                // Some claims are larger than what is committed, some are forgotten.
                let claimed = bytes.len() + rng.below(9) as usize;
                let has_room = self.sender.try_claim(claimed);
                if !has_room.map_err(|error| error.to_string())? {
                    return Ok(());
                }
                self.sender.claimed()[..bytes.len()].copy_from_slice(&bytes);
                if rng.below(10) > 0 {
                    let (kind, flags) = (1 + (self.sent % 5) as u8, (self.sent % 3) as u8);
                    self.sender.commit(kind, flags, bytes.len());
                    self.sent += 1;
                }
            }
            _ => {
                let at = rng.below(self.receivers.len() as u64) as usize;
                self.receive(at, rng)?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, at: usize, rng: &mut Rng) -> Result<(), String> {
        let next = &mut self.received[at];
        for frame in self.receivers[at]
            .poll()
            .map_err(|error| error.to_string())?
        {
            let expected = (self.payload)(*next);
            if frame.bytes != expected || frame.kind != 1 + (*next % 5) as u8 {
                return Err(format!("frame {next} is torn"));
            }
            *next += 1;
        }
        if rng.below(2) == 0 {
            self.receivers[at].release();
        }
        Ok(())
    }

    fn run(&mut self, seed: u64, frames: u64) -> Result<(), String> {
        let mut rng = Rng(seed.wrapping_mul(2) + 1);
        for _ in 0..STEPS_MAX {
            let is_received = self.received.iter().all(|count| *count == frames);
            if is_received && self.sender.is_drained() {
                return Ok(());
            }
            self.step(&mut rng, frames)?;
        }
        let (sent, received) = (self.sent, &self.received);
        Err(format!("stuck after {sent} sent and {received:?} received"))
    }
}

/// Number of seeds: 200, or as many as `THALWEG_RDMA_SEEDS` says.
fn seeds() -> u64 {
    let asked = std::env::var("THALWEG_RDMA_SEEDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(200)
}

#[test]
fn numbers_keep_frames_whole_when_words_come_in_any_order() {
    for seed in 0..seeds() {
        let mut edge = Edge::open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 1);
        edge.run(seed, 60)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

/// Eight records of a frame fill the ring, so that many a one ends where the ring does.
#[test]
fn numbers_go_on_behind_a_record_that_ends_with_the_ring() {
    for seed in 0..seeds() {
        let mut edge = Edge::open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 1);
        edge.payload = |number| vec![number as u8; RING_BYTES / 8 - 24];
        edge.run(seed, 60)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn marks_keep_frames_whole_when_words_come_in_order() {
    for seed in 0..seeds() {
        let faults = SimFabricFaults {
            reorders_words: false,
            ..SimFabricFaults::wild(seed)
        };
        let mut edge = Edge::open(faults, PlacementProof::Marks, 1);
        edge.run(seed, 60)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn every_receiver_gets_every_frame() {
    for seed in 0..seeds() / 4 {
        let mut edge = Edge::open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 3);
        edge.run(seed, 40)
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn marks_alone_are_caught_when_words_come_in_any_order() {
    let is_caught = |seed: &u64| {
        let mut edge = Edge::open(SimFabricFaults::wild(*seed), PlacementProof::Marks, 1);
        edge.run(*seed, 60).is_err()
    };
    assert!(
        (0..200).any(|seed| is_caught(&seed)),
        "the fabric catches nothing"
    );
}

#[test]
fn a_stranger_is_refused() {
    let fabric = SimFabric::new(SimFabricFaults::NONE);
    let (node, address) = fabric.listen().unwrap();
    let proof = PlacementProof::Marks;
    let mut sender = WriteSender::new(node, &spec(1), proof, RING_BYTES, 5).unwrap();
    let wrong = EdgeSpec {
        token: [8; 16],
        ..spec(1)
    };
    let node = fabric.connect(address).unwrap();
    let mut stranger = WriteReceiver::new(node, &wrong, 0, proof, RING_BYTES).unwrap();
    let refusal = (0..1000).find_map(|_| {
        sender.progress().unwrap();
        stranger.poll().err()
    });
    assert!(matches!(refusal, Some(Error::PeerLost(_))), "{refusal:?}");
    assert!(sender.lost_receivers().is_empty());
}

#[test]
fn frames_before_a_loss_are_received_first() {
    for seed in 0..seeds() {
        let mut edge = Edge::open(SimFabricFaults::wild(seed), PlacementProof::Numbers, 1);
        let mut rng = Rng(seed + 1);
        while edge.sent < 10 {
            edge.step(&mut rng, 10).unwrap();
        }
        for _ in 0..10_000 {
            edge.sender.progress().unwrap();
        }
        let Edge {
            sender,
            receivers,
            received,
            ..
        } = edge;
        drop(sender);
        let (mut receiver, mut count) = (receivers.into_iter().next().unwrap(), received[0]);
        let loss = loop {
            match receiver.poll() {
                Ok(batch) => count += batch.count() as u64,
                Err(error) => break error,
            }
            receiver.release();
        };
        assert!(matches!(loss, Error::PeerLost(_)), "{loss}");
        assert_eq!(count, 10, "seed {seed}");
    }
}
