//! The simulation cuts an edge where it is told to, and repeats its faults for a seed.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use thalweg_transport::media::sim::{SEED, SEED_VARIABLE, SimFaults, SimMedium};
use thalweg_transport::{Batching, EdgeSpec, Error, Medium, ReceivingEnd, SendingEnd, media};

const PATIENCE: Duration = Duration::from_secs(300);

fn spec() -> EdgeSpec {
    EdgeSpec {
        name: "Trades.0".into(),
        edge: 1,
        receiver_count: 1,
        ring_bytes: 1 << 16,
        batching: Batching::default(),
        token: [7; 16],
        listen: Ipv4Addr::LOCALHOST.into(),
    }
}

/// Both ends of an edge over `ring`.
fn edge(seed: u64, faults: SimFaults) -> (Box<dyn SendingEnd>, Box<dyn ReceivingEnd>) {
    let inner = media::find("ring").expect("ring is registered");
    let sim = SimMedium {
        inner,
        seed: Some(seed),
        faults,
    };
    let (out, mut tickets) = sim.open(&spec()).unwrap();
    let end = sim.accept(&spec(), tickets.remove(0)).unwrap();
    (out, end)
}

/// Result of a run: the frames that came, and the last error of each side.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    came: Vec<u32>,
    turns: u32,
    sender: Option<String>,
    receiver: Option<String>,
}

/// Sends `count` numbers, or until the edge is cut.
fn run(seed: u64, faults: SimFaults, count: u32) -> Run {
    let (out, mut end) = edge(seed, faults);
    let mut out = Some(out);
    let (mut next, mut came, mut turns) = (0_u32, Vec::new(), 0);
    let (mut sender, mut receiver) = (None, None);
    let start = Instant::now();
    while receiver.is_none() {
        turns += 1;
        assert!(start.elapsed() < PATIENCE, "never over: {}", repeat(seed));
        let put = out.as_mut().filter(|_| next < count);
        match put.map(|out| out.try_write(1, 0, &next.to_le_bytes())) {
            Some(Ok(is_put)) => next += u32::from(is_put),
            Some(Err(error)) => {
                sender = Some(error.to_string());
                out = None;
            }
            None => out = None,
        }
        match end.poll() {
            Ok(batch) => came.extend(batch.map(|frame| {
                let number = frame.bytes.try_into().expect("four bytes");
                u32::from_le_bytes(number)
            })),
            Err(Error::PeerLost(loss)) => receiver = Some(loss.reason),
            Err(error) => panic!("{error}: {}", repeat(seed)),
        }
        end.release();
    }
    Run {
        came,
        turns,
        sender,
        receiver,
    }
}

fn repeat(seed: u64) -> String {
    format!("{SEED_VARIABLE}={seed} cargo test -p thalweg-transport --test sim")
}

/// The requested seed and some more.
fn seeds() -> impl Iterator<Item = u64> {
    (0..50).map(|more| SEED.wrapping_add(more))
}

#[test]
fn a_cut_sender_loses_nothing_that_it_committed() {
    for seed in seeds() {
        let at = 1 + seed % 97;
        let faults = SimFaults {
            cut_sender: Some(at),
            ..SimFaults::MILD
        };
        let run = run(seed, faults, 1000);
        let came: Vec<u32> = (0..at as u32).collect();
        assert_eq!(run.came, came, "{}", repeat(seed));
        let why = "receiver 0 is gone: the simulation has cut the edge";
        assert_eq!(run.sender.as_deref(), Some(why), "{}", repeat(seed));
    }
}

#[test]
fn a_cut_receiver_is_lost_to_the_sender() {
    for seed in seeds() {
        let at = 1 + seed % 97;
        let faults = SimFaults {
            cut_receiver: Some((0, at)),
            ..SimFaults::MILD
        };
        let (mut out, mut end) = edge(seed, faults);
        let (mut came, mut sent) = (0, 0);
        let start = Instant::now();
        let lost = loop {
            assert!(start.elapsed() < PATIENCE, "never over: {}", repeat(seed));
            match out.try_write(1, 0, b"frame") {
                Ok(is_put) => sent += u64::from(is_put),
                Err(error) => break error,
            }
            if let Ok(batch) = end.poll() {
                came += batch.count() as u64;
            }
            end.release();
        };
        assert!(
            matches!(lost, Error::PeerLost(_)),
            "{lost}: {}",
            repeat(seed)
        );
        assert!(came == at && sent >= at, "{came}, {sent}: {}", repeat(seed));
    }
}

#[test]
fn the_same_seed_has_the_same_luck() {
    let lucks: Vec<u32> = seeds()
        .map(|seed| {
            let first = run(seed, SimFaults::MILD, 300);
            let came: Vec<u32> = (0..300).collect();
            assert_eq!(first.came, came, "{}", repeat(seed));
            assert_eq!(first, run(seed, SimFaults::MILD, 300), "{}", repeat(seed));
            first.turns
        })
        .collect();
    assert!(lucks.iter().any(|turns| *turns != lucks[0]), "{lucks:?}");
}

#[test]
fn without_faults_every_put_has_room_and_every_poll_a_frame() {
    let run = run(1, SimFaults::default(), 300);
    assert_eq!(run.came.len(), 300);
    // A few more turns, to see that the stream is over.
    assert!((300..310).contains(&run.turns), "{} turns", run.turns);
}
