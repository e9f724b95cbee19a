//! Paths that fall silent: the time until the others have taken over, and the bytes that go out
//! twice because a path only seemed silent.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use control::{HostPaths, median};
use transport::{EdgeCounters, ReceivingEnd, SendingEnd};

use crate::bare;
use crate::edge::{self, Edge, EdgeKind};

/// Bytes of a frame's payload.
const LEN: usize = 1000;

const TURNS: usize = 9;

/// Time of a run before its path is taken away, and after that.
const BEFORE: Duration = Duration::from_millis(600);
const AFTER: Duration = Duration::from_millis(600);

/// Prints the longest time without any frame around the moment at which a path is taken away, at
/// full rate and at a tenth of one path's rate.
pub fn measure(hosts: &HostPaths) {
    let rails = edge::media().map(|medium| (medium, "rails", EdgeKind::rails(medium, hosts)));
    let mut edges: Vec<_> = rails.collect();
    if bare::has_mptcp() {
        edges.push(("rum", "MPTCP", EdgeKind::mptcp("rum", hosts)));
    }
    for (medium, paths, kind) in edges {
        for (what, pause) in [
            ("at full rate", Duration::ZERO),
            ("1,000 frames a second", Duration::from_millis(1)),
        ] {
            let turns = (0..TURNS).map(|turn| gap(hosts, &kind, turn % 2, pause));
            let gaps: Vec<_> = turns.collect();
            println!(
                "  {medium}, {paths}, {what}: longest time without a frame, median {:.0} ms, most {:.0} ms; \
                 before the cut {:.0} ms",
                median(gaps.iter().map(|gap| gap.1)),
                gaps.iter().fold(0.0, |most, gap| gap.1.max(most)),
                median(gaps.iter().map(|gap| gap.0)),
            );
        }
    }
}

/// Milliseconds without a frame at most, before a path is taken away and after it.
fn gap(hosts: &HostPaths, kind: &EdgeKind, path: usize, pause: Duration) -> (f64, f64) {
    let Edge { mut out, mut end } = kind.open(hosts);
    let is_over = AtomicBool::new(false);
    let gaps = std::thread::scope(|scope| {
        scope.spawn(|| send(&mut *out, pause, &is_over));
        let before = longest_gap(&mut *end, BEFORE);
        let cut = Instant::now();
        hosts.set_up(path, false).expect("taken away");
        let after = longest_gap(&mut *end, AFTER.max(cut.elapsed()));
        is_over.store(true, Ordering::Relaxed);
        (before, after)
    });
    hosts.set_up(path, true).expect("given back");
    gaps
}

/// Milliseconds without a frame at most within this time.
fn longest_gap(end: &mut dyn ReceivingEnd, time: Duration) -> f64 {
    let (begin, mut last, mut longest) = (Instant::now(), Instant::now(), Duration::ZERO);
    while begin.elapsed() < time {
        match edge::take(end) {
            0 => edge::sleep(end),
            _ => {
                longest = longest.max(last.elapsed());
                last = Instant::now();
            }
        }
    }
    longest.max(last.elapsed()).as_secs_f64() * 1e3
}

fn send(out: &mut dyn SendingEnd, pause: Duration, is_over: &AtomicBool) {
    let (begin, mut sent) = (Instant::now(), 0);
    while !is_over.load(Ordering::Relaxed) {
        if begin.elapsed() < pause * sent {
            std::thread::sleep(pause / 4);
        } else if out.try_write(1, 0, &[1; LEN]).expect("a sound edge") {
            sent += 1;
            if !pause.is_zero() {
                out.flush().expect("a sound edge");
            }
        } else {
            edge::sleep(out);
        }
    }
}

/// Times for which the receiver does nothing, now and then.
const PAUSES: [u64; 4] = [0, 20, 80, 300];

/// Prints the share of bytes that went out twice because a path seemed silent that was not, for
/// receivers that are busy for a while now and then.
pub fn measure_busy_receiver(hosts: &HostPaths) {
    for pause in PAUSES {
        let shares = (0..3).map(|_| doubled_share(hosts, Duration::from_millis(pause)));
        let share = median(shares) * 100.0;
        println!("  busy for {pause} ms now and then: {share:.2}% of the bytes went out twice");
    }
}

fn doubled_share(hosts: &HostPaths, pause: Duration) -> f64 {
    let Edge { mut out, mut end } = EdgeKind::rails("rum", hosts).open(hosts);
    let counters = out.counters().expect("counters");
    let (is_over, mut last_pause) = (AtomicBool::new(false), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| send(&mut *out, Duration::ZERO, &is_over));
        let begin = Instant::now();
        while begin.elapsed() < 5 * BEFORE {
            if edge::take(&mut *end) == 0 {
                edge::sleep(&mut *end);
            }
            if !pause.is_zero() && last_pause.elapsed() > 2 * pause {
                std::thread::sleep(pause);
                last_pause = Instant::now();
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let on_rails = sum(&counters, |rail| &rail.bytes);
    let headers = 32 * sum(&counters, |rail| &rail.batches);
    let once = counters.bytes.load(Ordering::Relaxed);
    (on_rails - headers) as f64 / once as f64 - 1.0
}

fn sum(counters: &EdgeCounters, pick: fn(&transport::RailCounters) -> &AtomicU64) -> u64 {
    let rails = counters.rails.iter();
    rails.map(|rail| pick(rail).load(Ordering::Relaxed)).sum()
}
