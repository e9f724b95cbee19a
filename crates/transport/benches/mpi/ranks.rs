//! The ranks of this program: both ends of two edges by the medium `mpi`.

use std::fs;
use std::hint::spin_loop;
use std::path::Path;
use std::time::Instant;

use thalweg_transport::media::{self, plugin};
use thalweg_transport::{Batching, EdgeSpec, EdgeTicket, ReceivingEnd, SendingEnd};

use crate::{BYTES, Outcome, median};

/// Bytes of an edge, as the run time has them for media between hosts.
const RING_BYTES: usize = 1 << 20;

/// Frames that are timed together: about as long as a group of messages of the control.
const GROUP: u64 = 2_000;

/// Runs as a rank; `folder` has the library, and the tickets go through it.
pub fn run(kind: &str, folder: &Path, count: &str) -> Outcome<()> {
    let count: u64 = count.parse()?;
    media::search(&[folder.to_owned()]);
    let ranks = plugin::ranks_of("mpi").ok_or("the library has no ranks")?;
    let rank = ranks.join()?.rank;
    let medium = media::find("mpi").ok_or("there is no medium mpi")?;
    let (out, tickets) = medium.open(&spec(rank))?;
    let (own, other) = (
        folder.join(rank.to_string()),
        folder.join((1 - rank).to_string()),
    );
    fs::write(own.with_extension("part"), &tickets[0].bytes)?;
    fs::rename(own.with_extension("part"), own)?;
    let bytes = loop {
        if let Ok(bytes) = fs::read(&other) {
            break bytes;
        }
        std::thread::yield_now();
    };
    let fds = Vec::new();
    let back = medium.accept(&spec(1 - rank), EdgeTicket { bytes, fds })?;
    let mut ends = Ends { out, back };
    let pass = match kind {
        "trip" => trips,
        _ => one_way,
    };
    let ns = pass(rank, count, &mut ends)?;
    if rank == 0 {
        println!("{ns:.1}");
    }
    Ok(())
}

fn spec(sender: u32) -> EdgeSpec {
    EdgeSpec {
        name: "Bench.0".into(),
        edge: sender,
        receiver_count: 1,
        ring_bytes: RING_BYTES,
        batching: Batching::default(),
        token: [7; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    }
}

/// The ends of this rank.
struct Ends {
    out: Box<dyn SendingEnd>,
    back: Box<dyn ReceivingEnd>,
}

/// Median nanoseconds of a frame one way, by frames there and back.
fn trips(rank: u32, count: u64, ends: &mut Ends) -> Outcome<f64> {
    let (out, back) = (&mut *ends.out, &mut *ends.back);
    let mut times = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let begun = Instant::now();
        if rank == 0 {
            write(out)?;
        }
        while look(back)? == 0 {
            spin_loop();
        }
        if rank == 1 {
            write(out)?;
        }
        back.release();
        times.push(begun.elapsed().as_nanos() as f64 / 2.0);
    }
    Ok(median(times))
}

/// Median nanoseconds of a frame one way, in groups, at the slower of both ranks.
fn one_way(rank: u32, count: u64, ends: &mut Ends) -> Outcome<f64> {
    let (out, back) = (&mut *ends.out, &mut *ends.back);
    let mut times = Vec::with_capacity((count / GROUP) as usize);
    let mut begun = Instant::now();
    let (mut group, mut taken) = (0, 0);
    while taken < count {
        let more = match rank {
            0 => write(out).map(|()| 1)?,
            _ => take_some(back)?,
        };
        taken += more;
        group += more;
        if group >= GROUP {
            let now = Instant::now();
            times.push((now - begun).as_nanos() as f64 / group as f64);
            (begun, group) = (now, 0);
        }
    }
    while !out.flush()? {
        spin_loop();
    }
    let own = median(times);
    if rank == 1 {
        while !out.try_write(1, 0, &own.to_ne_bytes())? || !out.flush()? {
            spin_loop();
        }
        return Ok(own);
    }
    loop {
        if let Some(frame) = back.poll()?.into_iter().next() {
            return Ok(own.max(f64::from_ne_bytes(frame.bytes.try_into()?)));
        }
    }
}

#[inline]
fn write(out: &mut dyn SendingEnd) -> Outcome<()> {
    while !out.try_write(1, 0, &[7; BYTES])? {
        spin_loop();
    }
    Ok(())
}

/// Takes the frames that have come; their batch is released when it was read.
fn take_some(back: &mut dyn ReceivingEnd) -> Outcome<u64> {
    let count = look(back)?;
    back.release();
    Ok(count)
}

/// Number of frames that have come.
fn look(back: &mut dyn ReceivingEnd) -> Outcome<u64> {
    let (mut count, mut sum) = (0, 0_u64);
    for frame in back.poll()? {
        count += 1;
        sum += u64::from(frame.bytes[0]) + frame.bytes.len() as u64;
    }
    match sum == count * (7 + BYTES as u64) {
        true => Ok(count),
        false => Err("frames came garbled".into()),
    }
}
