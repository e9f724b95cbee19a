//! Batches of rum: the three limits of a batch, and its counters.

use std::sync::atomic::Ordering;
use std::time::Duration;

use transport::{Batching, ReceivingEnd, SendingEnd};

use crate::edge::{medium, spec, until};

/// A time longer than any test.
const NEVER: Duration = Duration::from_secs(3600);

const BATCH_BYTES: usize = 4096;

/// Bytes of a payload that needs no padding.
const LEN: usize = 56;
const FRAME_BYTES: usize = 64;

/// An edge to several receivers.
fn edge(batch: Batching, receivers: u32) -> (Box<dyn SendingEnd>, Vec<Box<dyn ReceivingEnd>>) {
    let mut spec = spec(receivers);
    spec.batching = batch;
    let (out, tickets) = medium("rum").open(&spec).expect("opened");
    let accept = |ticket| medium("rum").accept(&spec, ticket).expect("accepted");
    (out, tickets.into_iter().map(accept).collect())
}

fn put(out: &mut dyn SendingEnd, count: usize) {
    for _ in 0..count {
        assert!(
            out.try_write(1, 0, &[7; LEN]).expect("a receiver"),
            "no room"
        );
    }
}

/// Polls `count` frames without releasing them.
fn poll(end: &mut dyn ReceivingEnd, count: usize) {
    let mut polled = 0;
    until("frames", || {
        polled += end.poll().expect("sound").count();
        (polled >= count).then_some(())
    });
    assert_eq!(polled, count);
}

/// Gives the receiver a batch and the next one; it releases neither.
fn keep_busy(out: &mut dyn SendingEnd, end: &mut dyn ReceivingEnd) {
    for _ in 0..2 {
        put(out, 1);
        until("out", || out.flush().expect("flushed").then_some(()));
        poll(end, 1);
    }
}

#[test]
fn a_batch_to_a_busy_receiver_waits_until_it_is_full() {
    let batch = Batching {
        time_min: NEVER,
        time_max: NEVER,
        bytes_max: BATCH_BYTES,
    };
    let (mut out, mut ends) = edge(batch, 1);
    let end = &mut *ends[0];
    keep_busy(&mut *out, end);
    let few = BATCH_BYTES / FRAME_BYTES / 2;
    put(&mut *out, few);
    for _ in 0..1000 {
        assert_eq!(end.poll().expect("sound").count(), 0);
    }
    put(&mut *out, few);
    let counters = out.counters().expect("counters");
    assert_eq!(counters.batches.load(Ordering::Relaxed), 3);
    // The last frames would have exceeded the batch's limit: they begin the next one.
    let mut polled = 0;
    until("a full batch", || {
        polled += end.poll().expect("sound").count();
        (polled > few).then_some(())
    });
    let bytes = polled * FRAME_BYTES;
    assert!((BATCH_BYTES / 2..=BATCH_BYTES).contains(&bytes), "{bytes}");
    until("out", || out.flush().expect("flushed").then_some(()));
    poll(end, 2 * few - polled);
}

#[test]
fn a_batch_is_sent_when_the_receiver_is_idle() {
    let batch = Batching {
        time_min: NEVER,
        time_max: NEVER,
        ..Batching::default()
    };
    let (mut out, mut ends) = edge(batch, 1);
    let end = &mut *ends[0];
    for count in 1..20 {
        keep_busy(&mut *out, end);
        put(&mut *out, count);
        // The sender is not called any more.
        end.release();
        poll(end, count);
        end.release();
    }
}

#[test]
fn a_batch_is_sent_when_it_has_waited_long_enough() {
    let batch = Batching {
        time_min: NEVER,
        time_max: Duration::from_millis(2),
        ..Batching::default()
    };
    // The longest time is not shorter than the shortest.
    let batches = [
        Batching {
            time_min: Duration::from_millis(2),
            ..batch
        },
        Batching {
            time_min: Duration::ZERO,
            time_max: Duration::ZERO,
            ..batch
        },
    ];
    for batch in batches {
        let (mut out, mut ends) = edge(batch, 1);
        let end = &mut *ends[0];
        keep_busy(&mut *out, end);
        for count in 1..20 {
            put(&mut *out, count);
            poll(end, count);
        }
    }
}

/// Many small frames are one write, to each of several receivers, unless they come too slowly.
#[test]
fn many_small_tuples_are_one_write() {
    let never_late = Batching {
        time_min: NEVER,
        time_max: NEVER,
        ..Batching::default()
    };
    let (mut out, mut ends) = edge(never_late, 6);
    let counters = out.counters().expect("counters");
    const FRAMES: usize = 100_000;
    let (mut sent, mut got) = (0, [0; 6]);
    until("the last frame", || {
        while sent < FRAMES && out.try_write(1, 0, &[7; LEN]).expect("receivers") {
            sent += 1;
        }
        let is_out = sent == FRAMES && out.flush().expect("flushed");
        for (end, got) in ends.iter_mut().zip(&mut got) {
            *got += end.poll().expect("sound").count();
            end.release();
        }
        (is_out && got == [FRAMES; 6]).then_some(())
    });
    let batches = counters.batches.load(Ordering::Relaxed);
    assert!(batches > 0);
    assert!(batches * 10 < FRAMES as u64 * 6, "{batches} batches");
    assert!(counters.bytes.load(Ordering::Relaxed) >= (FRAMES * FRAME_BYTES) as u64);
}

/// The receiver that holds an edge up can be seen in the counters meanwhile.
#[test]
fn the_slowest_receiver_is_shown() {
    let (mut out, mut ends) = edge(Batching::default(), 3);
    let counters = out.counters().expect("counters");
    until("a full edge", || {
        let has_room = out.try_write(1, 0, &[7; LEN]).expect("receivers");
        out.flush().expect("flushed");
        for end in [0, 2] {
            ends[end].poll().expect("sound");
            ends[end].release();
        }
        let slowest = counters.slowest_receiver.load(Ordering::Relaxed);
        (!has_room && slowest == 1).then_some(())
    });
    assert!(counters.queued_bytes.load(Ordering::Relaxed) > 0);
    assert!(counters.blocked_since_ns.load(Ordering::Relaxed) > 0);
    until("room", || {
        for end in &mut ends {
            end.poll().expect("sound");
            end.release();
        }
        out.try_write(1, 0, &[7; LEN])
            .expect("receivers")
            .then_some(())
    });
    assert_eq!(counters.blocked_since_ns.load(Ordering::Relaxed), 0);
    assert!(counters.blocked_ns.load(Ordering::Relaxed) > 0);
    until("drained", || {
        for end in &mut ends {
            end.poll().expect("sound");
            end.release();
        }
        out.is_drained().expect("receivers").then_some(())
    });
    assert_eq!(counters.queued_bytes.load(Ordering::Relaxed), 0);
}
