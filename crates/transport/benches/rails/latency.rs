//! The latency of lone frames, from the sender's commit to the receiver's poll: by one path and by
//! rails.

use std::time::Duration;

use control::{HostPaths, median};
use transport::{ReceivingEnd, SendingEnd, monotonic_ns};

use crate::edge::{self, Edge, EdgeKind};

/// Frames of a run, and the pause between two.
const FRAMES: usize = 400;
const PACE: Duration = Duration::from_micros(1000);

const TURNS: usize = 21;

/// Prints the median microseconds on each edge, and the ratio to one path of the same turn.
pub fn measure(hosts: &HostPaths) {
    for medium in edge::media() {
        let (one, rails) = (
            EdgeKind::one_path(medium, hosts),
            EdgeKind::rails(medium, hosts),
        );
        let turns: Vec<_> = (0..TURNS)
            .map(|_| (latency(hosts, &one), latency(hosts, &rails)))
            .collect();
        let of = |pick: fn(&(f64, f64)) -> f64| median(turns.iter().map(pick));
        println!(
            "  {medium}: one path {:.1} us, rails {:.1} us, ratio {:.3}",
            of(|turn| turn.0),
            of(|turn| turn.1),
            of(|turn| turn.1 / turn.0)
        );
    }
}

/// Median microseconds of a frame at a low rate; both threads sleep in between.
fn latency(hosts: &HostPaths, kind: &EdgeKind) -> f64 {
    let Edge { mut out, mut end } = kind.open(hosts);
    let mut took = Vec::with_capacity(FRAMES);
    std::thread::scope(|scope| {
        scope.spawn(|| send(&mut *out));
        while took.len() < FRAMES {
            receive(&mut *end, &mut took);
            edge::sleep(&mut *end);
        }
    });
    median(took.into_iter())
}

fn send(out: &mut dyn SendingEnd) {
    let begin = monotonic_ns();
    for number in 0..FRAMES {
        let due = begin + number as u64 * PACE.as_nanos() as u64;
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(monotonic_ns())));
        let payload = [monotonic_ns(); 8];
        let payload: Vec<u8> = payload.iter().flat_map(|word| word.to_le_bytes()).collect();
        while !out.try_write(1, 0, &payload).expect("a sound edge") {}
        out.flush().expect("a sound edge");
    }
    while !out.is_drained().expect("a sound edge") {
        std::thread::sleep(PACE);
    }
}

/// Adds the microseconds since each frame that has come was sent.
fn receive(end: &mut dyn ReceivingEnd, took: &mut Vec<f64>) {
    for frame in end.poll().expect("a sound edge") {
        let word = frame.bytes.first_chunk().expect("a time");
        took.push((monotonic_ns() - u64::from_le_bytes(*word)) as f64 / 1e3);
    }
    end.release();
}
