//! Any sequence of calls on a ring gives what a queue of vectors gives.
#![cfg(not(loom))]

use std::collections::VecDeque;

use proptest::prelude::*;
use thalweg_ring::{Reader, RingShape, Writer, frame, private_ring};

#[derive(Clone, Debug)]
enum Call {
    /// Claim so much, commit so much of it.
    Put {
        claim: usize,
        commit: usize,
    },
    /// Claim, and leave it.
    Forget {
        claim: usize,
    },
    Publish,
    Poll {
        reader: u32,
    },
    Release {
        reader: u32,
    },
    Dismiss {
        reader: u32,
    },
    Drop {
        reader: u32,
    },
    ArmWriter {
        len: usize,
    },
    ArmReader {
        reader: u32,
    },
}

/// Frames that a reader was given, and frames that it has still to get.
#[derive(Default)]
struct Expected {
    queue: VecDeque<(u8, Vec<u8>)>,
    /// Least number of bytes in the ring that were polled and not released.
    held: usize,
}

fn calls(capacity: usize, readers: u32) -> impl Strategy<Value = Vec<Call>> {
    let len = 0..capacity / 2;
    let reader = 0..readers;
    let call = prop_oneof![
        80 => (len.clone(), 0.0..=1.0).prop_map(|(claim, part)| Call::Put {
            claim,
            commit: (claim as f64 * part) as usize,
        }),
        10 => len.clone().prop_map(|claim| Call::Forget { claim }),
        10 => Just(Call::Publish),
        60 => reader.clone().prop_map(|reader| Call::Poll { reader }),
        40 => reader.clone().prop_map(|reader| Call::Release { reader }),
        10 => len.prop_map(|len| Call::ArmWriter { len }),
        10 => reader.clone().prop_map(|reader| Call::ArmReader { reader }),
        2 => reader.clone().prop_map(|reader| Call::Dismiss { reader }),
        2 => reader.prop_map(|reader| Call::Drop { reader }),
    ];
    prop::collection::vec(call, 1..if cfg!(miri) { 40 } else { 200 })
}

struct Run {
    writer: Writer,
    /// Readers by number, without those that were dropped.
    readers: Vec<Option<Reader>>,
    is_dismissed: Vec<bool>,
    expected: Vec<Expected>,
    capacity: usize,
    next: u8,
}

impl Run {
    fn new(capacity: usize, readers: u32) -> Run {
        let shape = RingShape {
            bytes: capacity,
            readers,
        };
        let (writer, ends) = private_ring(shape).expect("memory");
        Run {
            writer,
            expected: ends.iter().map(|_| Expected::default()).collect(),
            is_dismissed: vec![false; ends.len()],
            readers: ends.into_iter().map(Some).collect(),
            capacity,
            next: 1,
        }
    }

    /// Whether the writer waits for the reader: until it is both dismissed and dropped.
    fn is_awaited(&self, reader: usize) -> bool {
        self.readers[reader].is_some() || !self.is_dismissed[reader]
    }

    /// Bytes that the slowest reader has not released, without padding at the ring's end.
    fn queued_min(&self) -> usize {
        let all = (0..self.expected.len()).filter(|reader| self.is_awaited(*reader));
        let bytes = all.map(|reader| {
            let Expected { queue, held } = &self.expected[reader];
            let queued = queue
                .iter()
                .map(|(_, bytes)| frame::frame_bytes(bytes.len()));
            held + queued.sum::<usize>()
        });
        bytes.max().unwrap_or(0)
    }

    fn put(&mut self, claim: usize, commit: usize) {
        let queued = self.writer.queued_bytes();
        let largest = self.writer.payload_bytes_max();
        let Some(room) = self.writer.claim(claim) else {
            // Refused: too large, or what is queued, the frame and what fills the end do not fit.
            let bytes = frame::frame_bytes(claim);
            assert!(claim > largest || queued + 2 * bytes > self.capacity);
            return;
        };
        assert_eq!(room.len(), claim);
        room.fill(!self.next);
        room[..commit].fill(self.next);
        self.writer.commit(self.next, 0, commit);
        for reader in 0..self.expected.len() {
            if self.is_awaited(reader) {
                let frame = (self.next, vec![self.next; commit]);
                self.expected[reader].queue.push_back(frame);
            }
        }
        self.next = self.next % 255 + 1;
    }

    fn poll(&mut self, reader: usize) {
        let Some(end) = &mut self.readers[reader] else {
            return;
        };
        let Expected { queue, held } = &mut self.expected[reader];
        let batch = end.poll();
        assert_eq!(batch.is_empty(), queue.is_empty());
        for frame in batch {
            let (kind, bytes) = queue.pop_front().expect("a frame that was put");
            assert_eq!((frame.kind, frame.bytes), (kind, &bytes[..]));
            *held += frame::frame_bytes(bytes.len());
        }
    }

    fn call(&mut self, call: Call) {
        match call {
            Call::Put { claim, commit } => self.put(claim, commit),
            Call::Forget { claim } => {
                self.writer.claim(claim);
            }
            Call::Publish => self.writer.publish(),
            Call::Poll { reader } => self.poll(reader as usize),
            Call::Release { reader } => {
                if let Some(end) = &mut self.readers[reader as usize] {
                    end.release();
                    self.expected[reader as usize].held = 0;
                }
            }
            Call::Dismiss { reader } => self.dismiss(reader),
            Call::Drop { reader } => self.readers[reader as usize] = None,
            Call::ArmWriter { len } => {
                let must_wait = self.writer.arm(len);
                self.writer.disarm();
                let has_room = self.writer.claim(len).is_some();
                assert!(must_wait != has_room || len > self.writer.payload_bytes_max());
            }
            Call::ArmReader { reader } => {
                let Some(end) = &mut self.readers[reader as usize] else {
                    return;
                };
                let must_wait = end.arm();
                end.disarm();
                let is_idle = self.expected[reader as usize].queue.is_empty();
                assert_eq!(must_wait, is_idle);
            }
        }
        let queued = self.writer.queued_bytes();
        assert!((self.queued_min()..=self.capacity).contains(&queued));
        assert_eq!(self.writer.fault(), None);
    }

    fn dismiss(&mut self, reader: u32) {
        self.writer.dismiss(reader);
        self.is_dismissed[reader as usize] = true;
        let live = self.is_dismissed.iter().filter(|is| !**is).count();
        assert_eq!(self.writer.live_reader_count() as usize, live);
    }

    fn drain(&mut self) {
        for reader in 0..self.readers.len() {
            while self.readers[reader].is_some() && !self.expected[reader].queue.is_empty() {
                self.poll(reader);
            }
            if let Some(end) = &mut self.readers[reader] {
                end.release();
                assert_eq!(end.fault(), None);
            } else {
                self.dismiss(reader as u32);
            }
        }
        assert_eq!(self.writer.queued_bytes(), 0);
    }
}

fn run(capacity: usize, readers: u32, calls: Vec<Call>) {
    let mut run = Run::new(capacity, readers);
    for call in calls {
        run.call(call);
    }
    run.drain();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 512 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_smallest_ring(calls in calls(32, 1)) {
        run(32, 1, calls);
    }

    #[test]
    fn one_reader(calls in calls(256, 1)) {
        run(256, 1, calls);
    }

    #[test]
    fn three_readers(calls in calls(512, 3)) {
        run(512, 3, calls);
    }

    #[test]
    fn a_ring_of_pages(calls in calls(8192, 2)) {
        run(8192, 2, calls);
    }
}
