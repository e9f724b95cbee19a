//! Both modes over libfabric's provider `tcp`, where the library is installed.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::sim_edge::spec;
use crate::media::find_with;
use crate::media::tcp_edge::address_ticket::{read_ticket, seal_tickets};
use crate::{EdgeSpec, Error, Medium, ReceivingEnd, SendingEnd};

/// Longest time that a test waits for anything: far above what any takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The medium in each mode; empty, with a line that says why, where libfabric is missing.
fn modes() -> Vec<&'static dyn Medium> {
    let modes = ["mode=write", "mode=channel"].map(|mode| find_with("rdma", mode).unwrap());
    match modes[0].check_available() {
        Ok(()) => modes.to_vec(),
        Err(why) => {
            // Past the test runner, which shows nothing of tests that pass.
            let words =
                format!("PASSED OVER: the modes over libfabric's provider tcp, for {why}\n");
            let _ = std::io::stderr().write_all(words.as_bytes());
            Vec::new()
        }
    }
}

/// Flushes after which a frame that is not out is taken to wait for its receiver.
const FLUSHES_MAX: usize = 100;

/// Time for which a sender has nothing to send: several times as long as the IO thread looks after
/// an edge by turns.
const IDLE: Duration = Duration::from_millis(300);

fn until<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "no {what} within {TIMEOUT:?}");
        thread::yield_now();
    }
}

/// Passes a frame over an edge.
fn pass(sender: &mut dyn SendingEnd, receiver: &mut dyn ReceivingEnd) {
    let put = || sender.try_write(1, 0, &[7; 8]).unwrap().then_some(());
    until("room", put);
    until("frame", || {
        let count = receiver.poll().unwrap().count();
        receiver.release();
        (count > 0).then_some(())
    });
}

/// Claims until something is found, and commits nothing.
fn claim_until<T>(
    what: &str,
    sender: &mut dyn SendingEnd,
    found: impl Fn(Result<(), Error>) -> Option<T>,
) -> T {
    until(what, || found(sender.claim(8).map(drop)))
}

/// The first bytes that a receiver of this edge sends to its sender.
fn greeting(medium: &'static dyn Medium, spec: &EdgeSpec) -> Vec<u8> {
    /// Bytes of a request from its token on.
    const FROM_TOKEN: usize = 39;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let ticket = seal_tickets(medium.name(), spec, &[address]).remove(0);
    let owned = spec.clone();
    let receiver = thread::spawn(move || medium.accept(&owned, ticket).map(drop));
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let (mut bytes, mut part) = (Vec::new(), [0; 256]);
    let is_whole = |bytes: &[u8]| {
        let token = bytes.windows(16).position(|part| part == spec.token);
        token.is_some_and(|token| bytes.len() >= token + FROM_TOKEN)
    };
    while !is_whole(&bytes) {
        let count = stream.read(&mut part).unwrap();
        assert!(count > 0, "the receiver is gone");
        bytes.extend_from_slice(&part[..count]);
    }
    drop(stream);
    receiver.join().unwrap().unwrap();
    bytes
}

/// A sender that has had nothing to send for a while finds room each time, and no use for it.
#[test]
fn an_idle_sender_notices_the_end_of_its_receiver() {
    for medium in modes() {
        let spec = spec(1);
        let (mut sender, mut tickets) = medium.open(&spec).unwrap();
        let mut receiver = medium.accept(&spec, tickets.remove(0)).unwrap();
        pass(&mut *sender, &mut *receiver);
        let start = Instant::now();
        claim_until("time", &mut *sender, |claimed| {
            claimed.unwrap();
            (start.elapsed() > IDLE).then_some(())
        });
        drop(receiver);
        let loss = claim_until("loss", &mut *sender, Result::err);
        assert!(matches!(loss, Error::PeerLost(_)), "{loss}");
    }
}

/// The provider keeps a connection without a greeting, and looks at the port when that comes.
#[test]
fn a_stranger_may_greet_when_all_receivers_have_come() {
    for medium in modes() {
        let spec = spec(1);
        let greeting = greeting(medium, &spec);
        let (mut sender, mut tickets) = medium.open(&spec).unwrap();
        let (_, address) = read_ticket(medium.name(), &spec, &tickets[0]).unwrap();
        let mut stranger = TcpStream::connect(address).unwrap();
        let mut receiver = medium.accept(&spec, tickets.remove(0)).unwrap();
        pass(&mut *sender, &mut *receiver);
        stranger.write_all(&greeting).unwrap();
        stranger.set_read_timeout(Some(TIMEOUT)).unwrap();
        stranger.read_to_end(&mut Vec::new()).unwrap();
        pass(&mut *sender, &mut *receiver);
    }
}

/// Takes frames until there were `count`.
fn take(receiver: &mut dyn ReceivingEnd, count: usize) {
    let mut got = 0;
    until("frames", || {
        got += receiver.poll().unwrap().count();
        receiver.release();
        (got == count).then_some(())
    });
}

#[test]
fn counters_name_the_slowest_receiver() {
    for medium in modes() {
        let spec = spec(2);
        let (mut sender, tickets) = medium.open(&spec).unwrap();
        let accept = |ticket| medium.accept(&spec, ticket).unwrap();
        let mut receivers: Vec<_> = tickets.into_iter().map(accept).collect();
        for _ in 0..3 {
            until("room", || {
                sender.try_write(1, 0, &[7; 8]).unwrap().then_some(())
            });
        }
        let counters = sender.counters().unwrap();
        let level = || {
            counters.refresh();
            let queued = counters.queued_bytes.load(Ordering::Relaxed);
            (
                queued > 0,
                counters.slowest_receiver.load(Ordering::Relaxed),
            )
        };
        take(&mut *receivers[0], 3);
        until("credit of receiver 0", || {
            assert!(receivers[0].poll().unwrap().is_empty());
            (level() == (true, 1)).then_some(())
        });
        take(&mut *receivers[1], 3);
        until("credit of receiver 1", || {
            assert!(receivers[1].poll().unwrap().is_empty());
            (level() == (false, 0)).then_some(())
        });
    }
}

#[test]
fn a_refusal_says_why_on_both_sides() {
    for medium in modes() {
        let spec = spec(1);
        let (sender, tickets) = medium.open(&spec).unwrap();
        let (_, address) = read_ticket(medium.name(), &spec, &tickets[0]).unwrap();
        let other = EdgeSpec {
            token: [9; 16],
            ..spec
        };
        let ticket = seal_tickets(medium.name(), &other, &[address]).remove(0);
        let mut stranger = medium.accept(&other, ticket).unwrap();
        let why = "the token is not that of this job";
        let refusal = until("refusal", || stranger.poll().err()).to_string();
        assert!(
            refusal.ends_with(&format!("the peer says: {why}")),
            "{refusal}"
        );
        let counters = sender.counters().unwrap();
        let counted = until("count", || counters.last_refusals().pop());
        assert_eq!(
            counted,
            format!("a request for a connection was refused: {why}")
        );
    }
}

/// Bytes of a ring that holds more than the sockets of a connection do.
const LARGE_RING_BYTES: usize = 64 << 20;

/// Commits frames and flushes each, until one is not out or there were `frames_max`. Returns their
/// number.
fn fill(sender: &mut dyn SendingEnd, frames_max: usize) -> usize {
    for frames in 0..frames_max {
        assert!(sender.try_write(1, 0, &[7; 64]).unwrap());
        if !(0..FLUSHES_MAX).any(|_| sender.flush().unwrap()) {
            return frames + 1;
        }
    }
    frames_max
}

/// The provider keeps up to some 9,000 bytes back while a socket is full and says that they are
/// written. How many frames a socket takes is not known before, so several numbers are tried.
#[test]
fn what_the_provider_keeps_back_goes_out_without_a_call() {
    let Some(write) = modes().into_iter().next() else {
        return;
    };
    let spec = EdgeSpec {
        ring_bytes: LARGE_RING_BYTES,
        ..spec(1)
    };
    let mut frames_max = usize::MAX;
    for _ in 0..5 {
        let (mut sender, mut tickets) = write.open(&spec).unwrap();
        let mut receiver = write.accept(&spec, tickets.remove(0)).unwrap();
        pass(&mut *sender, &mut *receiver);
        let frames = fill(&mut *sender, frames_max);
        frames_max = frames - 10;
        let start = Instant::now();
        claim_until("time", &mut *sender, |claimed| {
            claimed.unwrap();
            (start.elapsed() > IDLE).then_some(())
        });
        take(&mut *receiver, frames);
    }
}
