//! One frame there and back: at once again, and a thousand a second.

use std::time::{Duration, Instant};

use control::median;
use control::remote::{RemoteProvider, RemoteSender, RemoteSends, RemoteWire, RemoteWrites};
use transport::{ReceivingEnd, SendingEnd};

use crate::table::{RECEIVER, SENDER, compare, join, on_core};
use crate::{bare, edge, remote};

/// Round trips of a run.
const TRIPS: u64 = 3_000;
const PACED_TRIPS: u64 = 300;

const PACE: Duration = Duration::from_millis(1);

const LEN: usize = 64;

/// Prints the median microseconds of a round trip, on plain TCP and on a bare socket.
pub fn tcp() {
    let at_once = || bare_trips(TRIPS, Duration::ZERO);
    compare("tcp 64 B, at once again", "us", at_once, || {
        edge_trips("tcp", TRIPS, Duration::ZERO)
    });
    let paced = || bare_trips(PACED_TRIPS, PACE);
    compare("tcp 64 B, 1,000 a second", "us", paced, || {
        edge_trips("tcp", PACED_TRIPS, PACE)
    });
}

/// Prints the median microseconds of a round trip, on rum and on plain TCP.
pub fn rum() {
    for (what, count, pace) in [
        ("at once again", TRIPS, Duration::ZERO),
        ("1,000 a second", PACED_TRIPS, PACE),
    ] {
        let tcp = || edge_trips("tcp", count, pace);
        let what = format!("rum 64 B, {what}, to tcp");
        compare(&what, "us", tcp, || edge_trips("rum", count, pace));
    }
}

/// Prints the median microseconds of a round trip, on rdma and by libfabric alone.
pub fn rdma() {
    if !edge::is_available("rdma") {
        return;
    }
    for (what, count, pace) in [
        ("at once again", TRIPS, Duration::ZERO),
        ("1,000 a second", PACED_TRIPS, PACE),
    ] {
        for (medium, provider) in edge::WRITE_EDGES {
            let bare = || remote_trips::<RemoteWrites>(provider, count, pace);
            let of_mode = format!("{medium} 64 B, {what}, to bare fi_write");
            compare(&of_mode, "us", bare, || edge_trips(medium, count, pace));
        }
        let bare = || remote_trips::<RemoteSends>(RemoteProvider::Tcp, count, pace);
        let of_mode = format!("rdma channel 64 B, {what}, to bare fi_send");
        compare(&of_mode, "us", bare, || {
            edge_trips("rdma mode=channel", count, pace)
        });
    }
}

/// Median of round trips that begin at this pace.
fn trips(count: u64, pace: Duration, mut trip: impl FnMut()) -> f64 {
    let start = Instant::now();
    median((0..count).map(|number| {
        while start.elapsed() < pace * number as u32 {
            std::hint::spin_loop();
        }
        let start = Instant::now();
        trip();
        start.elapsed().as_secs_f64() * 1e6
    }))
}

fn bare_trips(count: u64, pace: Duration) -> f64 {
    let (here, there) = bare::pair();
    let echoes = on_core(RECEIVER, move || {
        let mut room = [0; 4096];
        for _ in 0..count {
            let len = bare::read(&there, &mut room);
            bare::write(&there, &room[..len]);
        }
    });
    let pings = on_core(SENDER, move || {
        let (payload, mut room) = ([1; LEN + 8], [0; 4096]);
        trips(count, pace, || {
            bare::write(&here, &payload);
            bare::read(&here, &mut room);
        })
    });
    join(echoes);
    join(pings)
}

fn remote_trips<W: RemoteWire>(provider: RemoteProvider, count: u64, pace: Duration) -> f64
where
    W::Sender: 'static,
    W::Receiver: 'static,
{
    let (mut there, mut there_end) = remote::pair::<W>(provider, LEN);
    let (mut back, mut back_end) = remote::pair::<W>(provider, LEN);
    let echoes = on_core(RECEIVER, move || {
        for _ in 0..count {
            let first = remote::first_word(&mut there_end);
            let sent = back.send(|room| room.fill(first as u8));
            sent.expect("a sound connection");
        }
        (there_end, back)
    });
    let pings = on_core(SENDER, move || {
        let took = trips(count, pace, || {
            there.send(|room| room.fill(1)).expect("a sound connection");
            remote::first_word(&mut back_end);
        });
        (took, there, back_end)
    });
    drop(join(echoes));
    join(pings).0
}

fn edge_trips(medium: &str, count: u64, pace: Duration) -> f64 {
    let (mut there, mut there_end) = edge::open(medium, 1);
    let (mut back, mut back_end) = edge::open(medium, 1);
    let echoes = on_core(RECEIVER, move || {
        for _ in 0..count {
            echo(&mut *there_end[0], &mut *back);
        }
        (there_end, back)
    });
    let pings = on_core(SENDER, move || {
        let payload = [1; LEN];
        let took = trips(count, pace, || {
            put(&mut *there, &payload);
            while !take(&mut *back_end[0]) {}
        });
        (took, there, back_end)
    });
    drop(join(echoes));
    join(pings).0
}

/// Waits for a frame and sends it back.
fn echo(end: &mut dyn ReceivingEnd, back: &mut dyn SendingEnd) {
    loop {
        let frame = end.poll().expect("a sound edge").next();
        if let Some(frame) = frame {
            put(back, frame.bytes);
            return end.release();
        }
    }
}

fn put(out: &mut dyn SendingEnd, payload: &[u8]) {
    while !out.try_write(1, 0, payload).expect("a sound edge") {}
}

fn take(end: &mut dyn ReceivingEnd) -> bool {
    let is_there = end.poll().expect("a sound edge").next().is_some();
    end.release();
    is_there
}
