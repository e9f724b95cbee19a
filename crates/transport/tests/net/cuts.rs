//! Connections of rum that break: no frame is lost, doubled or reordered.
//!
//! Seeds decide where they break, so each run is repeated exactly. For other seeds:
//!
//! ```text
//!   THALWEG_CUT_SEED=17 cargo test -p thalweg-transport --test net -- cuts
//! ```

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use transport::media::rum::RumMedium;
use transport::{EdgeSpec, Error, Medium, PeerLoss, ReceivingEnd, SendingEnd};

use crate::edge::{PATIENCE, address, put, spec, take, ticket_to, until};
use crate::proxy::{Proxy, Random};
use crate::wire::{self, CREDIT, FRAMES, Hello, connect};

const RUM: RumMedium = RumMedium {
    reconnect_timeout: PATIENCE,
};

/// Number of cuts in a stream.
pub const CUTS: u32 = 200;

/// An edge with a proxy in front of its sender.
fn through(spec: &EdgeSpec, rum: RumMedium, seed: u64, cuts: u32, cut_bytes: u64) -> Cut {
    let (out, tickets) = rum.open(spec).expect("opened");
    let proxy = Proxy::new(address("rum", spec, &tickets[0]), seed, cuts, cut_bytes);
    let accept = |receiver| {
        // The first connections may be cut, too.
        let ticket = ticket_to("rum", spec, receiver, proxy.address());
        (rum.accept(spec, ticket).expect("accepted"), 0)
    };
    let ends = (0..spec.receiver_count).map(accept).collect();
    Cut { out, ends, proxy }
}

/// An edge whose connections are cut.
pub struct Cut {
    pub out: Box<dyn SendingEnd>,
    pub ends: Vec<(Box<dyn ReceivingEnd>, u64)>,
    pub proxy: Proxy,
}

impl Cut {
    /// Sends and receives until every cut is made, and some more frames.
    fn pass_until_cut(&mut self, random: &mut Random) -> u64 {
        let (mut sent, mut rest) = (0, 1000);
        until("the last cut and the last frame", || {
            for _ in 0..random.below(60) {
                if rest > 0 && put(&mut *self.out, sent).expect("room or not") {
                    sent += 1;
                    rest -= u64::from(self.proxy.cuts_left() == 0);
                }
            }
            if random.below(10) == 0 {
                self.out.flush().expect("flushed");
            }
            for (end, next) in &mut self.ends {
                if random.below(3) > 0 {
                    *next = take(&mut **end, *next).expect("a sound stream");
                }
            }
            let have_all = self.ends.iter().all(|(_, next)| *next == sent);
            (rest == 0 && have_all).then_some(sent)
        })
    }
}

impl Cut {
    /// Waits until the sender knows that every frame has come: receivers whose connection broke
    /// report again.
    fn drain(&mut self, sent: u64) {
        until("drained", || {
            for (end, next) in &mut self.ends {
                *next = take(&mut **end, *next).expect("a sound stream");
                assert_eq!(*next, sent, "a frame too many");
            }
            self.out.is_drained().expect("drained").then_some(())
        });
    }
}

/// Seed of a test: from its own number and the variable.
pub fn seed(number: u64) -> u64 {
    let said = std::env::var("THALWEG_CUT_SEED");
    let more: u64 = said.map_or(0, |said| said.parse().expect("a number"));
    number + 10 * more
}

fn a_cut_stream_is_whole(number: u64, receivers: u32, cut_bytes: u64) {
    let seed = seed(number);
    println!("seed {seed}, {receivers} receivers, cuts within {cut_bytes} bytes");
    let spec = spec(receivers);
    stays_whole(through(&spec, RUM, seed, CUTS, cut_bytes), seed);
}

/// Passes frames until all cuts are made, and ends the edge.
pub fn stays_whole(mut cut: Cut, seed: u64) {
    let sent = cut.pass_until_cut(&mut Random::new(seed));
    assert_eq!(cut.proxy.cuts_left(), 0);
    let counters = cut.out.counters().expect("counters");
    let reconnects = counters.reconnects.load(Ordering::Relaxed);
    assert!(reconnects > 10, "{reconnects} reconnects by {CUTS} cuts");
    cut.drain(sent);
    drop(cut.out);
    for (end, next) in &mut cut.ends {
        until("word of the sender's end", || {
            match take(&mut **end, *next) {
                Ok(number) => {
                    assert_eq!(number, sent, "a frame too many");
                    None
                }
                Err(Error::PeerLost(_)) => Some(()),
                Err(error) => panic!("{error}"),
            }
        });
    }
}

#[test]
fn cuts_lose_double_and_reorder_nothing() {
    a_cut_stream_is_whole(1, 1, 60_000);
}

#[test]
fn nor_do_cuts_within_the_first_bytes() {
    a_cut_stream_is_whole(2, 1, 700);
}

#[test]
fn nor_do_cuts_of_one_of_several() {
    a_cut_stream_is_whole(3, 3, 30_000);
}

/// Frames go there on one edge and back on another, both of them cut.
#[test]
fn nor_do_cuts_both_ways() {
    let (there, back) = (spec(1), spec(1));
    let mut there = through(&there, RUM, seed(7), CUTS / 2, 30_000);
    let mut back = through(&back, RUM, seed(8), CUTS / 2, 30_000);
    let cuts_left = |cut: &Cut| cut.proxy.cuts_left() > 0;
    let (mut sent, mut echoed, mut rest) = (0, 0, 1000);
    until("the last cut and the last echo", || {
        if rest > 0 && put(&mut *there.out, sent).expect("room or not") {
            sent += 1;
            rest -= u64::from(!cuts_left(&there) && !cuts_left(&back));
        }
        let (end, next) = &mut there.ends[0];
        *next = take(&mut **end, *next).expect("a sound stream");
        while echoed < *next && put(&mut *back.out, echoed).expect("room or not") {
            echoed += 1;
        }
        let (end, next) = &mut back.ends[0];
        *next = take(&mut **end, *next).expect("a sound stream");
        (rest == 0 && *next == sent).then_some(())
    });
    there.drain(sent);
    back.drain(sent);
}

/// An end that waits for a connection sleeps, and is woken when there is one.
#[test]
fn sleepers_are_woken_by_the_next_connection() {
    let spec = spec(1);
    let Cut {
        mut out,
        ends,
        proxy,
    } = through(&spec, RUM, seed(4), CUTS, 20_000);
    let (mut end, mut next) = ends.into_iter().next().expect("a receiver");
    const FRAMES: u64 = 6000;
    let sends = std::thread::spawn(move || {
        for number in 0..FRAMES {
            asleep_until(&mut *out, |out| put(out, number).expect("room or not"));
        }
        until("drained", || {
            let is_out = out.flush().expect("flushed");
            (is_out && out.is_drained().expect("drained")).then_some(())
        });
    });
    while next < FRAMES || !sends.is_finished() {
        let before = next;
        asleep_until(&mut *end, |end| {
            match take(end, next) {
                Ok(number) => next = number,
                Err(Error::PeerLost(_)) => return true,
                Err(error) => panic!("{error}"),
            }
            next > before
        });
    }
    sends.join().expect("everything is sent");
    assert!(proxy.cuts_left() < CUTS);
}

/// Retries until it works, asleep in between.
pub fn asleep_until<E: transport::Waitable + ?Sized>(
    end: &mut E,
    mut attempt: impl FnMut(&mut E) -> bool,
) {
    while !attempt(end) {
        if end.arm().expect("armed or not") {
            let (mut readable, mut writable) = (Vec::new(), Vec::new());
            end.poll_fds(&mut readable, &mut writable);
            assert!(is_ready(&readable, &writable), "asleep for {PATIENCE:?}");
        }
        end.disarm();
    }
}

fn is_ready(
    readable: &[std::os::fd::BorrowedFd<'_>],
    writable: &[std::os::fd::BorrowedFd<'_>],
) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let readable = readable.iter().map(|fd| PollFd::new(fd, PollFlags::IN));
    let writable = writable.iter().map(|fd| PollFd::new(fd, PollFlags::OUT));
    let mut fds: Vec<_> = readable.chain(writable).collect();
    let patience = Timespec::try_from(PATIENCE).ok();
    poll(&mut fds, patience.as_ref()).expect("polled") > 0
}

/// Both sides give up when no connection can be made within the timeout.
#[test]
fn a_dead_network_is_a_loss_on_both_sides() {
    let patience = Duration::from_millis(200);
    let spec = spec(1);
    let mut cut = through(
        &spec,
        RumMedium {
            reconnect_timeout: patience,
        },
        5,
        0,
        1,
    );
    put(&mut *cut.out, 0).expect("room");
    let (end, next) = &mut cut.ends[0];
    until("a frame", || {
        *next = take(&mut **end, *next).expect("a sound stream");
        (*next == 1).then_some(())
    });
    let way = cut.proxy.address();
    cut.proxy.die();
    let loss = until("word of the sender's end", || loss(take(&mut **end, 1)));
    assert_eq!(loss.receiver, None);
    let word = format!("for {patience:?} no connection to {way} could be made again");
    assert!(loss.reason.contains(&word), "{}", loss.reason);
    // The receiver has given up, so its liveness port is closed.
    let loss = until("word of the receiver's end", || {
        self::loss(cut.out.claim(8))
    });
    assert_eq!(loss.receiver, Some(0));
    assert!(
        loss.reason.contains("nobody lives at 127.0.0.1:"),
        "{}",
        loss.reason
    );
}

/// The loss in an outcome, if it is one.
pub fn loss<T>(outcome: Result<T, Error>) -> Option<PeerLoss> {
    match outcome {
        Ok(_) => None,
        Err(Error::PeerLost(loss)) => Some(loss),
        Err(error) => panic!("{error}"),
    }
}

/// A receiver without a liveness port is waited for within bounded memory, and not for ever.
#[test]
fn a_receiver_that_stays_away_is_given_up_in_time() {
    let patience = Duration::from_millis(200);
    let spec = spec(1);
    let (mut out, tickets) = RumMedium {
        reconnect_timeout: patience,
    }
    .open(&spec)
    .expect("opened");
    let (connections, answer) = join(&spec, address("rum", &spec, &tickets[0]), 0, 5);
    assert_eq!(answer, None);
    let from = connections.1.local_addr().expect("an address");
    // Until the ring is full: no receiver takes anything.
    let mut sent = 0;
    let is_full = |sent: &mut u64, out: &mut dyn SendingEnd| {
        let is_put = put(out, *sent).expect("room or not");
        *sent += u64::from(is_put);
        (!is_put).then_some(())
    };
    until("no room", || is_full(&mut sent, &mut *out));
    let before = Instant::now();
    drop(connections);
    let error = until("word of the receiver's end", || {
        match put(&mut *out, sent) {
            Ok(is_put) => sent += u64::from(is_put),
            Err(error) => return Some(error),
        }
        let queued = out.queued_bytes();
        assert!(queued <= spec.ring_bytes, "{queued} bytes are kept");
        None
    });
    assert!(before.elapsed() >= patience, "{:?}", before.elapsed());
    let why = error.to_string();
    assert!(why.starts_with("receiver 0 is gone: "), "{why}");
    let word = format!("{from} has not connected again for {patience:?}");
    assert!(why.contains(&word), "{why}");
}

/// A living, busy receiver is waited for like a slow one, and then gets every frame.
#[test]
fn a_busy_receiver_is_waited_for() {
    let patience = Duration::from_millis(200);
    let spec = spec(1);
    let mut cut = through(
        &spec,
        RumMedium {
            reconnect_timeout: patience,
        },
        6,
        1,
        30_000,
    );
    let (mut sent, mut full) = (0, None);
    until("much more than the receiver's patience", || {
        match put(&mut *cut.out, sent).expect("it is waited for") {
            true => sent += 1,
            false => full = full.or(Some(Instant::now())),
        }
        let queued = cut.out.queued_bytes();
        assert!(queued <= spec.ring_bytes, "{queued} bytes are kept");
        full.filter(|full| full.elapsed() > 5 * patience)
    });
    assert_eq!(cut.proxy.cuts_left(), 0);
    let (end, next) = &mut cut.ends[0];
    until("the last frame", || {
        *next = take(&mut **end, *next).expect("a sound stream");
        cut.out.flush().expect("flushed");
        (*next == sent).then_some(())
    });
}

/// The sender is gone for good: that is noticed without waiting for the timeout.
#[test]
fn a_sender_that_listens_no_more_is_lost_at_once() {
    let spec = spec(1);
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("listens");
    let at = listener.local_addr().expect("an address");
    let plays = std::thread::spawn(move || wire::let_in(&listener, &wire::welcome(1000)));
    let mut end = RUM
        .accept(&spec, ticket_to("rum", &spec, 0, at))
        .expect("accepted");
    drop(plays.join());
    let loss = until("word of the sender's end", || loss(end.poll()));
    assert!(
        loss.reason.contains("and nobody listens on"),
        "{}",
        loss.reason
    );
}

/// Batches that are not the next of this stream end the connection; in the end, the stream.
#[test]
fn foreign_batches_are_refused() {
    let word = |word: u64| word.to_ne_bytes();
    let head = [word(24), word(0), word(0), word(0)].concat();
    let frame = [word(5 | 1 << 32), word(7)].concat();
    for sent in [head, frame, vec![0xff; 100], vec![0; 64]] {
        let spec = spec(1);
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("listens");
        let at = listener.local_addr().expect("an address");
        let plays = std::thread::spawn(move || {
            for _ in 0..9 {
                let (_credit, mut frames) = wire::let_in(&listener, &wire::welcome(1000));
                let _ = frames.write_all(&sent);
                let _ = std::io::Read::read(&mut frames, &mut [0]);
            }
        });
        let mut end = RUM
            .accept(&spec, ticket_to("rum", &spec, 0, at))
            .expect("accepted");
        let error = until("a refusal", || end.poll().err());
        assert!(matches!(error, Error::Refused(_)), "{error}");
        assert!(error.to_string().ends_with("again and again"), "{error}");
        drop(end);
        plays.join().expect("played");
    }
}

/// Connects as a receiver without a liveness port. Returns its connections, or why it was refused.
fn join(
    spec: &EdgeSpec,
    at: SocketAddr,
    position: u64,
    instance: u64,
) -> ((TcpStream, TcpStream), Option<String>) {
    let hello = |way| Hello {
        position,
        instance,
        ..Hello::of(spec, wire::RUM, way)
    };
    let mut credit = connect(at);
    credit.write_all(&hello(CREDIT).bytes()).expect("said");
    assert_eq!(wire::answer(&mut credit), None);
    let mut frames = connect(at);
    frames.write_all(&hello(FRAMES).bytes()).expect("said");
    let answer = wire::answer(&mut frames);
    ((credit, frames), answer)
}

/// A receiver that wants frames that are not kept, or pretends to be another, is refused.
#[test]
fn only_what_is_kept_can_be_asked_for() {
    let spec = spec(1);
    let (mut out, tickets) = RUM.open(&spec).expect("opened");
    let at = address("rum", &spec, &tickets[0]);
    let ask = |position| join(&spec, at, position, 5);
    let wants = |why: Option<String>| why.is_some_and(|why| why.contains("wants to go on from"));
    assert!(wants(ask(8).1), "before the first frame");
    let (first, answer) = ask(0);
    assert_eq!(answer, None);
    assert!(put(&mut *out, 0).expect("room"));
    until("out", || out.flush().expect("flushed").then_some(()));
    assert!(wants(ask(1 << 40).1), "what was not sent");
    let (second, answer) = ask(0);
    assert_eq!(answer, None, "the same receiver again");
    drop((first, second));
    let counters = out.counters().expect("counters");
    assert_eq!(counters.reconnects.load(Ordering::Relaxed), 1);
}
