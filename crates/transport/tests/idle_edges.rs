//! Idle edges take no time: the IO thread sleeps until something happens.

extern crate thalweg_transport as transport;

use std::fs;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use transport::{Batching, EdgeSpec, ReceivingEnd, SendingEnd, media};

const EDGES: u32 = 20;

/// Time for which nothing may happen.
const SILENCE: Duration = Duration::from_millis(300);

const PATIENCE: Duration = Duration::from_secs(300);

type Edge = (Box<dyn SendingEnd>, Vec<Box<dyn ReceivingEnd>>);

fn open(name: &str, link: u32) -> Edge {
    let medium = media::find(name).expect("a medium of that name");
    let spec = EdgeSpec {
        name: "Trades.0".into(),
        edge: link,
        receiver_count: 2,
        ring_bytes: 1 << 16,
        batching: Batching::default(),
        token: [3; 16],
        listen: Ipv4Addr::LOCALHOST.into(),
    };
    let (out, tickets) = medium.open(&spec).expect("opened");
    let accept = |ticket| medium.accept(&spec, ticket).expect("accepted");
    (out, tickets.into_iter().map(accept).collect())
}

/// Sends some frames through an edge.
fn work((out, ends): &mut Edge) {
    let start = Instant::now();
    for _ in 0..10 {
        while !out.try_write(1, 0, &[7; 100]).expect("a sound edge") {}
    }
    let mut taken = vec![0; ends.len()];
    let mut is_drained = false;
    while taken.iter().any(|count| *count < 10) || !is_drained {
        is_drained = out.flush().expect("a sound edge") && out.is_drained().expect("a sound edge");
        for (end, taken) in ends.iter_mut().zip(&mut taken) {
            *taken += end.poll().expect("a sound edge").count();
            end.release();
        }
        assert!(start.elapsed() < PATIENCE, "{taken:?} of 10 frames");
    }
}

/// Number of times that the IO thread has gone to sleep.
fn sleeps() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").expect("threads").flatten();
    let io_thread = tasks.map(|task| task.path()).find(|task| {
        fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "thalweg-io")
    });
    let status =
        fs::read_to_string(io_thread.expect("an IO thread").join("status")).expect("its status");
    let line = status.lines().find(|line| line.starts_with("voluntary"));
    let count = line.and_then(|line| line.split_whitespace().last()?.parse().ok());
    count.expect("a count")
}

#[test]
fn the_io_thread_sleeps_while_edges_are_idle() {
    let media = ["tcp", "rum"];
    let mut edges: Vec<Edge> = media
        .iter()
        .flat_map(|name| (0..EDGES).map(|link| open(name, link)))
        .collect();
    for _ in 0..3 {
        edges.iter_mut().for_each(work);
        let start = Instant::now();
        loop {
            let before = sleeps();
            std::thread::sleep(SILENCE);
            if sleeps() == before {
                break;
            }
            assert!(start.elapsed() < PATIENCE, "it goes on waking up");
        }
    }
}
