//! The rate of one stream: by one path, by two bare sockets, by rails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use control::{HostPaths, median};

use crate::bare::{self, BareSockets};
use crate::edge::{self, Edge, EdgeKind};

/// Bytes of a frame's payload.
const LEN: usize = 1000;

/// Time before a measurement, in which connections find their rates.
const WARM_UP: Duration = Duration::from_millis(500);

/// Time of a measurement.
const MEASURED: Duration = Duration::from_millis(1500);

const TURNS: usize = 5;

/// A contender: its medium, its paths, and a run that returns Mbit/s of payload.
type Contender<'a> = (&'static str, &'static str, Box<dyn Fn() -> f64 + 'a>);

/// Prints Mbit/s of payload, and the ratios to the first path alone and to the sum of the paths,
/// each by a bare socket of the same turn.
pub fn measure(hosts: &HostPaths) {
    let contenders = contenders(hosts);
    let mut results = vec![Vec::new(); contenders.len()];
    for _ in 0..TURNS {
        for (rates, (_, _, run)) in results.iter_mut().zip(&contenders) {
            rates.push(run());
        }
    }
    for ((medium, paths, _), rates) in contenders.iter().zip(&results) {
        let to = |control: &dyn Fn(usize) -> f64| {
            median((0..TURNS).map(|turn| rates[turn] / control(turn)))
        };
        let (one, sum) = (
            to(&|turn| results[0][turn]),
            to(&|turn| results[0][turn] + results[1][turn]),
        );
        let rate = median(rates.iter().copied());
        println!(
            "  {medium:<8} {paths:<11} {rate:>6.1} Mbit/s, to the first path {one:.3}, to the sum {sum:.3}"
        );
    }
}

/// The bare paths alone, which the others are compared with, and the others.
fn contenders(hosts: &HostPaths) -> Vec<Contender<'_>> {
    let bare = |paths: &'static [usize]| {
        Box::new(move || bare_rate(BareSockets::open(hosts, paths))) as Box<dyn Fn() -> f64>
    };
    let edge = |kind: EdgeKind| Box::new(move || edge_rate(hosts, &kind)) as Box<dyn Fn() -> f64>;
    let mut contenders = vec![
        ("bare", "first path", bare(&[0])),
        ("bare", "second path", bare(&[1])),
        ("bare", "both", bare(&[0, 1])),
    ];
    for medium in edge::media() {
        contenders.push((
            medium,
            "first path",
            edge(EdgeKind::one_path(medium, hosts)),
        ));
        contenders.push((medium, "rails", edge(EdgeKind::rails(medium, hosts))));
    }
    if bare::has_mptcp() {
        let run = || bare_rate(BareSockets::open_mptcp(hosts));
        contenders.push(("bare", "MPTCP", Box::new(run)));
        contenders.push(("rum", "MPTCP", edge(EdgeKind::mptcp("rum", hosts))));
    } else {
        println!("  MPTCP is passed over: the kernel does not have it");
    }
    contenders
}

fn bare_rate(sockets: BareSockets) -> f64 {
    let BareSockets { senders, receivers } = sockets;
    let mut room = vec![0; 256 * 1024];
    rate(
        || bare::send(&senders),
        || bare::receive(&receivers, &mut room),
    )
}

fn edge_rate(hosts: &HostPaths, kind: &EdgeKind) -> f64 {
    let Edge { mut out, mut end } = kind.open(hosts);
    let payload = [1; LEN];
    let send = || {
        if !out.try_write(1, 0, &payload).expect("a sound edge") {
            edge::sleep(&mut *out);
        }
    };
    let receive = || match edge::take(&mut *end) {
        0 => {
            edge::sleep(&mut *end);
            0
        }
        bytes => bytes,
    };
    rate(send, receive)
}

/// Mbit/s that come out while a thread sends without end.
fn rate(mut send: impl FnMut() + Send, mut receive: impl FnMut() -> u64) -> f64 {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                send();
            }
        });
        let begin = Instant::now();
        while begin.elapsed() < WARM_UP {
            receive();
        }
        let (begin, mut bytes) = (Instant::now(), 0);
        while begin.elapsed() < MEASURED {
            bytes += receive();
        }
        let took = begin.elapsed().as_secs_f64();
        is_over.store(true, Ordering::Relaxed);
        bytes as f64 * 8.0 / took / 1e6
    })
}
