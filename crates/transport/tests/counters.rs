//! Counters of a sending end, read by another thread.

extern crate thalweg_transport as transport;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use transport::{Batching, EdgeCounters, EdgeSpec, ReceivingEnd, SendingEnd, media};

const RECEIVERS: u32 = 3;

/// Longest time that a test waits: far above what any takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Edges with several receivers, over each medium that uses a ring.
fn edges() -> impl Iterator<Item = (Box<dyn SendingEnd>, Vec<Box<dyn ReceivingEnd>>)> {
    ["ring", "shm"].into_iter().map(open)
}

fn open(name: &str) -> (Box<dyn SendingEnd>, Vec<Box<dyn ReceivingEnd>>) {
    let spec = EdgeSpec {
        name: "Trades.0".into(),
        edge: 7,
        receiver_count: RECEIVERS,
        ring_bytes: 4096,
        batching: Batching::default(),
        token: [3; 16],
        listen: Ipv4Addr::LOCALHOST.into(),
    };
    let medium = media::find(name).unwrap();
    let (out, tickets) = medium.open(&spec).unwrap();
    let accept = |ticket| medium.accept(&spec, ticket).unwrap();
    (out, tickets.into_iter().map(accept).collect())
}

/// Committed bytes, queued bytes, and the slowest receiver.
fn level(counters: &EdgeCounters) -> (u64, u64, u32) {
    counters.refresh();
    let number = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let slowest = counters.slowest_receiver.load(Ordering::Relaxed);
    (
        number(&counters.bytes),
        number(&counters.queued_bytes),
        slowest,
    )
}

/// Takes every frame that has come.
fn take(end: &mut dyn ReceivingEnd) {
    while !end.poll().unwrap().is_empty() {
        end.release();
    }
}

#[test]
fn they_name_the_slowest_receiver_and_what_is_queued_for_it() {
    for (mut out, mut ends) in edges() {
        let counters: Arc<EdgeCounters> = out.counters().unwrap();
        assert_eq!(level(&counters), (0, 0, 0));
        for _ in 0..10 {
            assert!(out.try_write(1, 0, &[0; 56]).unwrap());
        }
        take(&mut *ends[0]);
        take(&mut *ends[2]);
        assert_eq!(level(&counters), (640, 640, 1));
        take(&mut *ends[1]);
        assert_eq!(level(&counters), (640, 0, 0));
        assert!(out.try_write(1, 0, &[0; 56]).unwrap());
        drop(ends.remove(0));
        take(&mut *ends[0]);
        assert_eq!(
            level(&counters),
            (704, 64, 2),
            "whoever is gone does not count"
        );
        drop(out);
        assert_eq!(level(&counters), (704, 64, 2), "they stay");
    }
}

/// Over sockets frames and credit take a while.
#[test]
fn tcp_names_the_slowest_receiver() {
    let (mut out, mut ends) = open("tcp");
    let counters = out.counters().unwrap();
    while !out.try_write(1, 0, &[0; 56]).unwrap() {}
    let start = Instant::now();
    while (level(&counters).1, level(&counters).2) != (64, 1) {
        take(&mut *ends[0]);
        take(&mut *ends[2]);
        out.is_drained().unwrap();
        assert!(start.elapsed() < TIMEOUT, "{:?}", level(&counters));
    }
}

#[test]
fn they_say_since_when_there_is_no_room() {
    for (mut out, mut ends) in edges() {
        let counters = out.counters().unwrap();
        while out.try_write(1, 0, &[0; 56]).unwrap() {}
        assert!(!out.try_write(1, 0, &[0; 56]).unwrap());
        let since = counters.blocked_since_ns.load(Ordering::Relaxed);
        assert!(since > 0 && counters.blocked_ns.load(Ordering::Relaxed) == 0);
        ends.iter_mut().for_each(|end| take(&mut **end));
        assert!(out.try_write(1, 0, &[0; 56]).unwrap());
        assert_eq!(counters.blocked_since_ns.load(Ordering::Relaxed), 0);
        assert!(counters.blocked_ns.load(Ordering::Relaxed) > 0);
        assert!(level(&counters).1 < 4096);
    }
}
