//! Peers that have the token and break the protocol.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use ring::frame::{FrameHeader, frame_bytes};
use transport::media::rum::RumMedium;
use transport::{Error, Medium, ReceivingEnd};

use crate::edge::{MEDIA, Stream, address, medium, put, spec, ticket_to, until};
use crate::wire::{self, CREDIT, FRAMES, Hello, connect, let_in};

/// A receiving end, and both connections of a sender that is played by the test.
fn receiver(name: &'static str, answer: Vec<u8>) -> Result<Played, Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
    let at = listener.local_addr().expect("an address");
    let plays = thread::spawn(move || let_in(&listener, &answer));
    let spec = spec(1);
    let end = medium(name).accept(&spec, ticket_to(name, &spec, 0, at))?;
    let (credit, frames) = plays.join().expect("the sender plays on");
    Ok(Played {
        end,
        frames,
        _credit: credit,
    })
}

struct Played {
    end: Box<dyn ReceivingEnd>,
    frames: TcpStream,
    _credit: TcpStream,
}

fn head(len: u32) -> [u8; 8] {
    let (kind, flags) = (1, 0);
    FrameHeader { len, kind, flags }.to_word().to_ne_bytes()
}

fn frame(len: usize) -> Vec<u8> {
    let mut bytes = head(len as u32).to_vec();
    bytes.resize(frame_bytes(len), 0xab);
    bytes
}

/// Takes frames until the stream is over, and returns their number and the error.
fn take_all(end: &mut dyn ReceivingEnd) -> (usize, Error) {
    let mut count = 0;
    until("the end of the stream", || match end.poll() {
        Ok(batch) => {
            count += batch.count();
            end.release();
            None
        }
        Err(error) => Some((count, error)),
    })
}

#[test]
fn a_torn_last_frame_is_never_delivered() {
    for cut in [1, 7, 8, 9, 100, 1007] {
        let mut played = receiver("tcp", wire::welcome(1000)).expect("accepted");
        let sent = [frame(1000), frame(3), frame(1000)].concat();
        let torn = sent.len() - frame_bytes(1000) + cut;
        played.frames.write_all(&sent[..torn]).expect("sent");
        drop(played.frames);
        let (count, error) = take_all(&mut *played.end);
        assert_eq!(count, 2, "{cut}");
        assert!(matches!(error, Error::PeerLost(_)), "{cut}: {error}");
    }
}

#[test]
fn a_reset_is_a_loss_after_what_came_before_it() {
    let mut played = receiver("tcp", wire::welcome(1000)).expect("accepted");
    played
        .frames
        .write_all(&frame(1000).repeat(10))
        .expect("sent");
    // The first frame is there, and on loopback so are the others.
    until("a frame", || {
        (!played.end.poll().expect("sound").is_empty()).then_some(())
    });
    played.end.release();
    rustix::net::sockopt::set_socket_linger(&played.frames, Some(std::time::Duration::ZERO))
        .expect("set");
    drop(played.frames);
    let (_, error) = take_all(&mut *played.end);
    let Error::PeerLost(loss) = error else {
        panic!("{error}");
    };
    assert!(loss.reason.contains("reset"), "{}", loss.reason);
}

#[test]
fn frames_longer_than_agreed_are_refused_by_their_header() {
    for (bad, word) in [
        (head(1001), "a frame of 1001 bytes; at most 1000"),
        (head(u32::MAX), "a frame of 4294967295 bytes"),
        ([0xff; 8], "0xffffffffffffffff where a frame should begin"),
    ] {
        let mut played = receiver("tcp", wire::welcome(1000)).expect("accepted");
        let sent = [frame(8), bad.to_vec()].concat();
        played.frames.write_all(&sent).expect("sent");
        let (count, error) = take_all(&mut *played.end);
        assert_eq!(count, 1);
        assert!(matches!(error, Error::Refused(_)), "{error}");
        let why = error.to_string();
        assert!(why.contains(word), "{why:?} does not say {word:?}");
    }
}

#[test]
fn a_sender_that_announces_too_much_is_refused() {
    for name in MEDIA {
        let refused = receiver(name, wire::welcome(u32::MAX))
            .err()
            .expect("refused");
        let why = refused.to_string();
        assert!(
            why.contains("announces frames of 4294967295 bytes"),
            "{why}"
        );
        let refused = receiver(name, vec![b'x'; 256]).err().expect("refused");
        let why = refused.to_string();
        assert!(why.contains("not the sender of a Thalweg stream"), "{why}");
    }
}

#[test]
fn credit_that_cannot_be_ends_the_receiver() {
    let spec = spec(1);
    let (mut out, tickets) = medium("tcp").open(&spec).expect("opened");
    let at = address("tcp", &spec, &tickets[0]);
    let mut credit = connect(at);
    credit
        .write_all(&Hello::of(&spec, wire::TCP, CREDIT).bytes())
        .expect("said");
    assert_eq!(wire::answer(&mut credit), None);
    let mut frames = connect(at);
    frames
        .write_all(&Hello::of(&spec, wire::TCP, FRAMES).bytes())
        .expect("said");
    assert_eq!(wire::answer(&mut frames), None);
    until("room", || {
        put(&mut *out, 0).expect("room or not").then_some(())
    });
    credit.write_all(&(1u64 << 40).to_le_bytes()).expect("said");
    let error = until("word of it", || {
        out.is_drained().and_then(|_| out.claim(8)).err()
    });
    let why = error.to_string();
    assert!(
        why.starts_with("receiver 0 is gone: it says that it has released"),
        "{why}"
    );
    assert_eq!(out.lost_receivers(), [0]);
}

/// On rum it ends the connection; a receiver without a liveness port that does not come back is
/// then gone.
#[test]
fn credit_that_cannot_be_breaks_the_connection() {
    let patience = Duration::from_millis(100);
    for credit in [1 << 40, u64::MAX - 1] {
        let spec = spec(1);
        let (mut out, tickets) = RumMedium {
            reconnect_timeout: patience,
        }
        .open(&spec)
        .expect("opened");
        let at = address("rum", &spec, &tickets[0]);
        let join = |way| {
            let mut stream = connect(at);
            let hello = Hello::of(&spec, wire::RUM, way).bytes();
            stream.write_all(&hello).expect("said");
            assert_eq!(wire::answer(&mut stream), None);
            stream
        };
        let (mut credits, _frames) = (join(CREDIT), join(FRAMES));
        assert!(put(&mut *out, 0).expect("room"));
        credits.write_all(&credit.to_le_bytes()).expect("said");
        let why = until("word of it", || {
            out.is_drained().and_then(|_| out.claim(8)).err()
        });
        let why = why.to_string();
        let word = format!("gone: it says that it has released {credit} bytes");
        assert!(why.contains(&word), "{why}");
        assert!(why.contains("has not connected again"), "{why}");
    }
}

/// Any process that connects to a liveness port is turned away, whatever it sends.
#[test]
fn strangers_at_a_lifeline_are_not_listened_to() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
    let at = listener.local_addr().expect("an address");
    let plays = thread::spawn(move || wire::hear_and_let_in(&listener, &wire::welcome(1000)));
    let spec = spec(1);
    let mut end = medium("rum")
        .accept(&spec, ticket_to("rum", &spec, 0, at))
        .expect("accepted");
    let [credit, frames] = plays.join().expect("the sender plays on");
    let port = u16::from_le_bytes([frames.1[58], frames.1[59]]);
    assert_eq!(credit.1[58..60], frames.1[58..60]);
    for said in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 1 << 16]] {
        for _ in 0..100 {
            let mut stranger = connect((at.ip(), port).into());
            let _ = stranger.write_all(said);
            // At most the number of the receiving end.
            let mut heard = Vec::new();
            let _ = stranger.read_to_end(&mut heard);
            assert!(heard.is_empty() || heard == credit.1[40..48]);
        }
        assert!(end.poll().expect("connected").is_empty());
    }
    drop(end);
    let error = until("word of the end", || {
        TcpStream::connect((at.ip(), port)).err()
    });
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
}

/// Frames that a receiver does not take stay within the ring.
#[test]
fn a_slow_receiver_bounds_what_is_under_way() {
    for name in MEDIA {
        let spec = spec(2);
        let (out, tickets) = medium(name).open(&spec).expect("opened");
        let mut stream = Stream::accept(out, name, &spec, tickets);
        stream.pass(100);
        let (_slow, fast) = stream.ends.split_at_mut(1);
        let (end, next) = &mut fast[0];
        let mut number = 100;
        let mut refusals = 0;
        while refusals < 10_000 {
            match put(&mut *stream.out, number).expect("room or not") {
                true => number += 1,
                false => refusals += 1,
            }
            *next = crate::edge::take(&mut **end, *next).expect("sound");
            let queued = stream.out.queued_bytes();
            assert!(queued <= spec.ring_bytes, "{queued} bytes are under way");
        }
        let counters = stream.out.counters().expect("counters");
        assert!(counters.blocked_ns_now() > 0);
    }
}
