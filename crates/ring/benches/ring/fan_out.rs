//! The rate of a writer with two readers, beside the same with one.
//!
//! ```text
//!   processor 0          processor 1
//!   writer ---- ring +---> reader 0   one thread, in turns: with two processors there is no third
//!                    +---> reader 1
//! ```
//! `cargo bench -p thalweg-ring -- fan_out`. Million messages a second that are sent; both readers
//! add up all words of all of them.

use thalweg_ring::{Reader, RingShape, private_ring};

use crate::measure::bare::Take;
use crate::measure::messages::{Filling, Taking, count, race2, rate};
use crate::measure::{RING_BYTES, turns};

/// Prints the rates of one writer and several readers as a table.
pub fn run() {
    println!("{:>6} {:>10} {:>18}", "bytes", "1 reader", "2 readers");
    row::<64>();
    row::<256>();
    row::<1024>();
    row::<4096>();
}

fn row<const N: usize>() {
    let rows = turns(&mut [&mut || sent::<N>(1), &mut || sent::<N>(2)]);
    let (one, (two, ratio)) = (rows[0].0, rows[1]);
    println!("{N:>6} {one:>10.1} {two:>10.1} ({ratio:.2})");
}

fn sent<const N: usize>(readers: u32) -> f64 {
    rate::<N>(|filling, taking| turn(readers, filling, taking))
}

fn turn<const N: usize>(readers: u32, filling: &mut Filling<N>, taking: &mut Taking<N>) {
    let bytes = RING_BYTES;
    let (mut writer, mut ends) = private_ring(RingShape { bytes, readers }).expect("memory");
    let write = || {
        for seq in 0..count::<N>() {
            let room = loop {
                if let Some(room) = writer.claim(N) {
                    break room;
                }
            };
            filling.fill(room, seq);
            writer.commit(1, 0, N);
            assert_eq!(writer.take_sleeping_readers(), 0);
        }
    };
    let read = || {
        let (first, others) = ends.split_first_mut().expect("a reader");
        let mut other = Taking::<N>::new();
        let (mut taken, mut taken_too) = (0, count::<N>() * others.len() as u64);
        while taken < count::<N>() || taken_too > 0 {
            taken += take(first, taking);
            taking.batch(taken);
            for reader in &mut *others {
                taken_too -= take(reader, &mut other);
            }
        }
    };
    race2(write, read);
}

/// Takes what is there; how many messages.
fn take<const N: usize>(reader: &mut Reader, taking: &mut Taking<N>) -> u64 {
    let mut taken = 0;
    for frame in reader.poll() {
        if let Ok(message) = frame.bytes.try_into() {
            taking.message(message);
            taken += 1;
        }
    }
    reader.release();
    assert!(!reader.take_sleeping_writer());
    taken
}
