//! The two sides: frames that follow from a seed and their number, so that the reader knows them.

use std::time::{Duration, Instant};

use thalweg_ring::{Reader, Writer};

use crate::PATIENCE;
use crate::random::Random;
use crate::wakeup_socket::WakeupSocket;

/// Kind of every frame but the last.
const FRAME: u8 = 1;
/// Kind of the last frame.
const LAST: u8 = 2;

/// Settings of a run: what is sent, and for how long.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Seed from which all frames and pauses follow.
    pub seed: u64,
    /// Time after which the last frame is sent.
    pub time: Duration,
    /// Most bytes of a payload.
    pub len_max: usize,
}

/// A frame, as both sides know it.
struct Expected {
    len: usize,
    flags: u8,
    bytes: Random,
}

impl Expected {
    /// A frame of the plan: mostly short, sometimes as long as allowed.
    fn new(plan: Plan, seq: u64) -> Expected {
        let len_max = plan.len_max;
        let mut random = Random::new(plan.seed ^ seq.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let most = match random.below(64) {
            0 => len_max,
            1..8 => len_max.min(2000),
            _ => len_max.min(100),
        };
        Expected {
            len: random.below(most as u64 + 1) as usize,
            flags: random.next() as u8,
            bytes: random,
        }
    }

    fn fill(mut self, room: &mut [u8]) {
        for chunk in room.chunks_mut(8) {
            let word = self.bytes.next().to_ne_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    fn check(mut self, bytes: &[u8], seq: u64) {
        assert_eq!(bytes.len(), self.len, "length of frame {seq}");
        for chunk in bytes.chunks(8) {
            let word = self.bytes.next().to_ne_bytes();
            assert_eq!(chunk, &word[..chunk.len()], "a word of frame {seq}");
        }
    }
}

/// Sends until it is time; how many frames.
pub fn send(plan: Plan, mut writer: Writer, bells: Vec<WakeupSocket>) -> u64 {
    let end = Instant::now() + plan.time;
    let mut random = Random::new(plan.seed);
    let mut seq: u64 = 0;
    while !seq.is_multiple_of(256) || Instant::now() < end {
        let frame = Expected::new(plan, seq);
        // Sometimes more is claimed than is committed.
        let more = if random.once_in(8) {
            plan.len_max
        } else {
            frame.len
        };
        claim(&mut writer, &bells, &mut random, more);
        let (len, flags) = (frame.len, frame.flags);
        frame.fill(&mut writer.claim(more).expect("what was there before")[..len]);
        writer.commit(FRAME, flags, len);
        seq += 1;
        if random.once_in(100) {
            writer.publish();
        }
        wake(&writer, &bells);
        pause(&mut random);
    }
    claim(&mut writer, &bells, &mut random, 0);
    writer.commit(LAST, 0, 0);
    wake(&writer, &bells);
    let mut patience = Patience::new();
    while writer.queued_bytes() > 0 {
        // Until everything is released: that needs no wake-up.
        patience.pass("for everything to be released");
    }
    assert_eq!(writer.fault(), None);
    seq
}

/// Waits for room, awake or asleep.
fn claim(writer: &mut Writer, bells: &[WakeupSocket], random: &mut Random, len: usize) {
    let mut patience = Patience::new();
    while writer.claim(len).is_none() {
        if random.once_in(4) {
            if writer.arm(len) {
                WakeupSocket::wait(bells);
            }
            writer.disarm();
        } else {
            patience.pass("for room");
        }
    }
}

/// Waiting without sleep, which ends: the other side may have failed.
struct Patience(Instant);

impl Patience {
    fn new() -> Patience {
        Patience(Instant::now())
    }

    fn pass(&mut self, what: &str) {
        assert!(self.0.elapsed() < PATIENCE, "waited in vain {what}");
        std::thread::yield_now();
    }
}

fn wake(writer: &Writer, bells: &[WakeupSocket]) {
    let sleepers = writer.take_sleeping_readers();
    for (reader, bell) in bells.iter().enumerate() {
        if sleepers & 1 << reader != 0 {
            bell.wake();
        }
    }
}

/// Receives until the last frame; how many came before it.
pub fn receive(plan: Plan, mut reader: Reader, bell: WakeupSocket) -> u64 {
    let mut random = Random::new(plan.seed ^ u64::from(reader.number()));
    let bells = [bell];
    let (mut seq, mut is_last) = (0, false);
    while !is_last {
        let is_closed = reader.is_closed();
        let batch = reader.poll();
        let is_empty = batch.is_empty();
        assert!(!is_empty || !is_closed, "{seq} frames and no last one");
        for frame in batch {
            assert!(!is_last);
            is_last = frame.kind == LAST;
            if !is_last {
                let expected = Expected::new(plan, seq);
                assert_eq!((frame.kind, frame.flags), (FRAME, expected.flags));
                expected.check(frame.bytes, seq);
                seq += 1;
            }
        }
        assert_eq!(reader.fault(), None);
        // Sometimes several batches are released at once, but never is one forgotten.
        if is_empty || is_last || !random.once_in(4) {
            reader.release();
            if reader.take_sleeping_writer() {
                bells[0].wake();
            }
        }
        if is_empty {
            rest(&mut reader, &bells, &mut random);
        }
        pause(&mut random);
    }
    seq
}

/// Waits a little for frames, awake or asleep.
fn rest(reader: &mut Reader, bells: &[WakeupSocket], random: &mut Random) {
    if random.once_in(4) {
        if reader.arm() {
            WakeupSocket::wait(bells);
        }
        reader.disarm();
    } else {
        std::thread::yield_now();
    }
}

/// Now and then the other side gets ahead.
fn pause(random: &mut Random) {
    if random.once_in(512) {
        for _ in 0..random.below(20_000) {
            std::hint::spin_loop();
        }
    }
}
