//! There and back with nothing in between: by a call, by cache lines, by a socket.
//!
//! ```text
//!   lines   0        16                       1024     1040
//!           | number | words of the message | number | words of the message |   there, then back
//! ```
//! The message's number is stored last and looked at first: it is the flag as well. Each word is
//! copied by the relay and read by the sink.

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use ring::Words;

use super::payload::Payload;
use super::words::Patience;
use crate::pace::{Monotonic, trips};

/// Words of one way.
const WAY: usize = 4096;

/// Words from a number to its message: other cache lines.
const LINE: usize = 16;

/// How often, and how fast.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// What each message holds.
    pub payload: Payload,
    /// How many.
    pub messages: u64,
    /// How many a second.
    pub rate: f64,
}

impl Task {
    /// Trips that this does; prints how long each took, and what came back adds up to.
    fn trips(self, mut trip: impl FnMut(u64) -> i64) {
        let mut sum = 0_i64;
        let took = trips(&Monotonic, self.rate, self.messages, |number| {
            sum = sum.wrapping_add(trip(number));
        });
        let lines = took.iter().map(|ns| format!("took {ns}\n"));
        println!("{}sum {sum}", lines.collect::<String>());
    }

    /// By calls of functions.
    pub fn call(self) {
        let mut message = vec![0; self.payload.bytes()];
        self.trips(|number| {
            self.payload.fill(number, &mut message);
            relay(self.payload, black_box(&message))
        });
    }
}

#[inline(never)]
fn relay(payload: Payload, message: &[u8]) -> i64 {
    sink(payload, black_box(message))
}

#[inline(never)]
fn sink(payload: Payload, message: &[u8]) -> i64 {
    payload.sum(message)
}

/// Cache lines for both ways.
pub struct Lines(Words);

impl Lines {
    /// Between threads.
    ///
    /// # Errors
    /// No memory.
    pub fn private() -> io::Result<Lines> {
        Words::private(2 * WAY).map(Lines)
    }

    /// Between processes.
    ///
    /// # Errors
    /// No memory.
    pub fn shared() -> io::Result<(Lines, OwnedFd)> {
        let (words, fd) = Words::shared(2 * WAY)?;
        Ok((Lines(words), fd))
    }

    /// Those of another process.
    ///
    /// # Errors
    /// There are none.
    pub fn join(fd: BorrowedFd<'_>) -> io::Result<Lines> {
        let words = Words::join(fd)?;
        match words.len() >= 2 * WAY {
            true => Ok(Lines(words)),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Source and sink.
    pub fn ping(&self, task: Task) {
        let (there, back) = self.0.split_at(WAY);
        let (wholes, words) = (task.payload.wholes(), task.payload.words());
        task.trips(|number| {
            for word in &there[LINE..LINE + wholes] {
                word.store(number, Ordering::Relaxed);
            }
            for word in &there[LINE + wholes..LINE + words] {
                word.store(task.payload.rest(number), Ordering::Relaxed);
            }
            there[0].store(number + 1, Ordering::Release);
            wait(&back[0], number + 1);
            let wholes = back[LINE..LINE + wholes].iter().map(load);
            let rest = back[LINE + task.payload.wholes()..LINE + words]
                .iter()
                .map(load);
            let rest = rest.map(|word| task.payload.rest_sum(word as u64));
            wholes.chain(rest).fold(0, i64::wrapping_add)
        });
    }

    /// The relay.
    pub fn pong(&self, task: Task) {
        let (there, back) = self.0.split_at(WAY);
        for number in 1..=task.messages {
            wait(&there[0], number);
            for at in LINE..LINE + task.payload.words() {
                back[at].store(there[at].load(Ordering::Relaxed), Ordering::Relaxed);
            }
            back[0].store(number, Ordering::Release);
        }
    }
}

fn load(word: &std::sync::atomic::AtomicU64) -> i64 {
    word.load(Ordering::Relaxed) as i64
}

fn wait(number: &std::sync::atomic::AtomicU64, for_this: u64) {
    let mut patience = Patience::default();
    while number.load(Ordering::Acquire) < for_this {
        patience.wait();
    }
}

/// Source and sink at a socket; both sides sleep in the system.
///
/// # Errors
/// The connection breaks.
pub fn socket_ping(task: Task, mut stream: &TcpStream) -> io::Result<()> {
    let mut message = vec![0; task.payload.bytes()];
    let mut broken = Ok(());
    task.trips(|number| {
        task.payload.fill(number, &mut message);
        let trip = stream.write_all(&message);
        let trip = trip.and_then(|()| stream.read_exact(&mut message));
        if let Err(error) = trip {
            broken = Err(error);
        }
        task.payload.sum(&message)
    });
    broken
}

/// The relay at a socket.
///
/// # Errors
/// The connection breaks.
pub fn socket_pong(task: Task, mut stream: &TcpStream) -> io::Result<()> {
    let mut message = vec![0; task.payload.bytes()];
    for _ in 0..task.messages {
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
    }
    Ok(())
}
