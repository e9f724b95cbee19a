//! The latency of a lone message, one way: half of a ping-pong between two processors.
//!
//! ```text
//!   processor 0                    processor 1
//!   stamps, puts ---- ring 0 ---->  polls, copies
//!   polls, stamps <--- ring 1 ----  and puts
//! ```
//! `cargo bench -p thalweg-ring -- ping_pong`. The control is two lines each way and nothing else:
//! one with 56 bytes and one with their number. Nanoseconds; ratios of medians in the same turn.
#![expect(unsafe_code, reason = "the control is a bare hand-over")]

use std::cell::UnsafeCell;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use control::median;
use rtrb::{Consumer, Producer, RingBuffer};
use thalweg_ring::{Reader, RingShape, Writer, join_ring, private_ring, shared_ring};

use crate::measure::messages::race2;
use crate::measure::turns;

/// Rounds of a turn.
const ROUNDS: u64 = 50_000;

/// Rounds that do not count.
const WARM_UP: u64 = 1_000;

/// A message that with its header fills a cache line.
type Ball = [u8; 56];

const SHAPE: RingShape = RingShape {
    bytes: 64 * 1024,
    readers: 1,
};

/// Prints the times of a round trip as a table.
pub fn run() {
    let names = ["bare", "rtrb", "private", "shared"];
    let contenders: [fn() -> Vec<f64>; 4] = [in_bare, in_rtrb, in_private, in_shared];
    let mut all = contenders.map(|_| Vec::new());
    let mut runs = Vec::new();
    for (contender, all) in contenders.into_iter().zip(&mut all) {
        runs.push(move || {
            let mut times = contender();
            let middle = median(times.iter().copied());
            all.append(&mut times);
            middle
        });
    }
    let mut runs: Vec<&mut dyn FnMut() -> f64> = runs.iter_mut().map(|run| run as _).collect();
    let rows = turns(&mut runs);
    println!(
        "{:>8} {:>15} {:>8} {:>8} {:>8}",
        "", "median", "99%", "99.9%", "most"
    );
    for ((name, (middle, ratio)), mut times) in names.into_iter().zip(rows).zip(all) {
        times.sort_by(f64::total_cmp);
        let part = |part: f64| times[(times.len() as f64 * part) as usize];
        let most = times.last().copied().unwrap_or_default();
        print!("{name:>8} {middle:>8.0} ({ratio:.2})");
        println!(" {:>8.0} {:>8.0} {most:>8.0}", part(0.99), part(0.999));
    }
}

/// An end of a connection that carries a ball.
trait End {
    fn put(&mut self, ball: &Ball);

    /// Waits for the answer of the other side.
    fn take(&mut self) -> Ball;
}

/// Nanoseconds of half a round trip, for each round.
fn play(mut here: impl End + Send, mut there: impl End + Send) -> Vec<f64> {
    let mut times = Vec::with_capacity(ROUNDS as usize);
    let ping = || {
        for round in 0..WARM_UP + ROUNDS {
            let mut ball = [0; 56];
            ball[..8].copy_from_slice(&round.to_ne_bytes());
            let start = Instant::now();
            here.put(&ball);
            let back = here.take();
            let time = start.elapsed().as_nanos() as f64 / 2.0;
            assert_eq!(back, ball);
            if round >= WARM_UP {
                times.push(time);
            }
        }
    };
    let pong = || {
        for _ in 0..WARM_UP + ROUNDS {
            let ball = there.take();
            there.put(&ball);
        }
    };
    race2(ping, pong);
    times
}

/// The control: a line and its number.
#[derive(Default)]
struct Lines {
    number: Line<AtomicU64>,
    ball: Line<UnsafeCell<Option<Ball>>>,
}

#[derive(Default)]
#[repr(align(128))]
struct Line<T>(T);

// SAFETY: the ball is whose turn it is by the number, which release and acquire hand over.
unsafe impl Sync for Lines {}

struct Bare<'a> {
    out: &'a Lines,
    back: &'a Lines,
    sent: u64,
    taken: u64,
}

impl End for Bare<'_> {
    fn put(&mut self, ball: &Ball) {
        self.sent += 1;
        // SAFETY: the other side waits for this one now.
        unsafe { *self.out.ball.0.get() = Some(*ball) };
        self.out.number.0.store(self.sent, Ordering::Release);
    }

    fn take(&mut self) -> Ball {
        self.taken += 1;
        while self.back.number.0.load(Ordering::Acquire) != self.taken {}
        // SAFETY: the other side waits for us now.
        unsafe { *self.back.ball.0.get() }.unwrap_or([0; 56])
    }
}

fn in_bare() -> Vec<f64> {
    let (there, back) = (Lines::default(), Lines::default());
    let end = |out, back| Bare {
        out,
        back,
        sent: 0,
        taken: 0,
    };
    play(end(&there, &back), end(&back, &there))
}

/// Both ends on one side of the net.
struct Ring(Writer, Reader);

impl End for Ring {
    fn put(&mut self, ball: &Ball) {
        let room = self.0.claim(ball.len()).expect("all was released");
        room.copy_from_slice(ball);
        self.0.commit(1, 0, ball.len());
        assert_eq!(self.0.take_sleeping_readers(), 0);
    }

    fn take(&mut self) -> Ball {
        loop {
            if let Some(frame) = self.1.poll().next() {
                let ball = frame.bytes.try_into().expect("a ball");
                self.1.release();
                assert!(!self.1.take_sleeping_writer());
                return ball;
            }
        }
    }
}

fn in_private() -> Vec<f64> {
    let ring = || {
        let (writer, mut readers) = private_ring(SHAPE).expect("memory");
        (writer, readers.remove(0))
    };
    let ((out, at), (back, home)) = (ring(), ring());
    play(Ring(out, home), Ring(back, at))
}

fn in_shared() -> Vec<f64> {
    let ring = || {
        let (writer, fd) = shared_ring(SHAPE).expect("memory");
        (writer, join_ring(fd.as_fd(), 0).expect("a ring"))
    };
    let ((out, at), (back, home)) = (ring(), ring());
    play(Ring(out, home), Ring(back, at))
}

impl End for (Producer<Ball>, Consumer<Ball>) {
    fn put(&mut self, ball: &Ball) {
        assert!(self.0.push(*ball).is_ok());
    }

    fn take(&mut self) -> Ball {
        loop {
            if let Ok(ball) = self.1.pop() {
                return ball;
            }
        }
    }
}

fn in_rtrb() -> Vec<f64> {
    let ((out, at), (back, home)) = (RingBuffer::new(1024), RingBuffer::new(1024));
    play((out, home), (back, at))
}
