//! Edges over the fabric for tests: streams of numbered frames, driven a step at a time as a seed
//! says, and checked frame by frame.

use std::net::Ipv4Addr;

use super::mode::{ModeReceiver, ModeSender};
use crate::{Batching, EdgeSpec, Error};

/// Bytes of a ring: few, so that it is full and wraps often.
pub(super) const RING_BYTES: usize = 4096;

/// Steps in which a stream of a test must come through: far more than any seed takes.
const STEPS_MAX: usize = 400_000;

/// Random numbers by xorshift (Marsaglia, "Xorshift RNGs", 2003).
pub(super) struct StepRng(pub(super) u64);

impl StepRng {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Description of an edge.
pub(super) fn spec(receivers: u32) -> EdgeSpec {
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

/// The payload with a number: its length, mostly below 100 and always below `len_max`, and its
/// bytes follow from the number.
pub(super) fn payload(number: u64, len_max: u64) -> Vec<u8> {
    let mut rng = StepRng(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let len = match rng.below(10) {
        0 => rng.below(len_max),
        1 => 0,
        _ => rng.below(100),
    };
    (0..len).map(|at| (number.wrapping_add(at)) as u8).collect()
}

/// All ends of an edge, and the frames that have passed.
pub(super) struct SimEdge<S, R> {
    pub(super) sender: S,
    pub(super) receivers: Vec<R>,
    /// The payload of each frame.
    pub(super) payload: fn(u64) -> Vec<u8>,
    pub(super) sent: u64,
    pub(super) received: Vec<u64>,
}

impl<S: ModeSender, R: ModeReceiver> SimEdge<S, R> {
    pub(super) fn new(sender: S, receivers: Vec<R>) -> SimEdge<S, R> {
        SimEdge {
            sender,
            received: vec![0; receivers.len()],
            receivers,
            payload: |number| payload(number, 1500),
            sent: 0,
        }
    }

    /// Lets the two sides do something, as `rng` says. The text says what was wrong.
    pub(super) fn step(&mut self, rng: &mut StepRng, frames: u64) -> Result<(), String> {
        match rng.below(3) {
            0 => {
                let progress = match rng.below(4) {
                    0 => self.sender.flush().map(drop),
                    _ => self.sender.progress(),
                };
                progress.map_err(|error| error.to_string())?;
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

    /// Polls a receiver, and perhaps releases. The text says what was wrong.
    pub(super) fn receive(&mut self, at: usize, rng: &mut StepRng) -> Result<(), String> {
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

    /// Drops the sender, and receives until that is told. Returns the number of frames that the
    /// first receiver has got.
    pub(super) fn frames_at_loss(mut self) -> u64 {
        drop(self.sender);
        let loss = loop {
            match self.receivers[0].poll() {
                Ok(batch) => self.received[0] += batch.count() as u64,
                Err(error) => break error,
            }
            self.receivers[0].release();
        };
        assert!(matches!(loss, Error::PeerLost(_)), "{loss}");
        self.received[0]
    }

    /// Drives the edge until all frames have come and are released. The text says what was wrong.
    pub(super) fn run(&mut self, seed: u64, frames: u64) -> Result<(), String> {
        let mut rng = StepRng(seed.wrapping_mul(2) + 1);
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
pub(super) fn seeds() -> u64 {
    let asked = std::env::var("THALWEG_RDMA_SEEDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(200)
}
