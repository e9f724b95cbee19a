//! Foreign connections to a sender: refused, told why, and the stream goes on.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::Instant;

use transport::{EdgeCounters, EdgeSpec};

use crate::edge::{PATIENCE, Stream, address, medium, spec, until};
use crate::wire::{self, CREDIT, FRAMES, Hello, connect, refusal};

/// An edge of one receiver with a stream on it, and where its sender listens.
fn stream(name: &str) -> (Stream, EdgeSpec, SocketAddr) {
    let spec = spec(1);
    let (out, tickets) = medium(name).open(&spec).expect("opened");
    let at = address(name, &spec, &tickets[0]);
    let mut stream = Stream::accept(out, name, &spec, tickets);
    stream.pass(100);
    (stream, spec, at)
}

/// Sends these bytes to the sender while the stream goes on, and returns its answer.
fn say(stream: &mut Stream, at: SocketAddr, said: Vec<u8>) -> Option<String> {
    let stranger = std::thread::spawn(move || refusal(at, &said));
    while !stranger.is_finished() {
        stream.pass(10);
    }
    stranger.join().expect("the stranger is fine")
}

/// Ways to spoil a handshake, and a word that the refusal must contain.
type Spoilt = (fn(&mut Hello), &'static str);

const SPOILT: [Spoilt; 11] = [
    (|hello| hello.magic[7] = b'\r', "for receivers of a Thalweg"),
    (|hello| hello.version = 1, "version 1"),
    (|hello| hello.protocol ^= 3, "another protocol"),
    (|hello| hello.protocol = 99, "another protocol"),
    (|hello| hello.order = 0x0102_0304, "byte order"),
    (|hello| hello.link += 1, "the receiver is of link"),
    (|hello| hello.receiver = 1, "there is no receiver 1"),
    (|hello| hello.receiver = u32::MAX, "there is no receiver"),
    (|hello| hello.token[15] ^= 1, "token"),
    (|hello| hello.way = 3, "purpose"),
    (|hello| hello.way = FRAMES, "the connection for credit"),
];

fn wrong_hellos_are_refused(name: &str, protocol: u16) {
    let (mut stream, spec, at) = stream(name);
    let counters = stream.out.counters().expect("counters");
    for (spoil, word) in SPOILT {
        let before = counters.refusals.load(Ordering::Relaxed);
        let mut hello = Hello::of(&spec, protocol, CREDIT);
        spoil(&mut hello);
        let why = say(&mut stream, at, hello.bytes()).expect("an answer");
        assert!(why.contains(word), "{why:?} does not say {word:?}");
        is_noted(&counters, before, word);
    }
    stream.pass(1000);
}

/// Checks that the sender has counted a refusal, with the reason.
fn is_noted(counters: &EdgeCounters, before: u64, word: &str) {
    assert_eq!(counters.refusals.load(Ordering::Relaxed), before + 1);
    let last = counters.last_refusals().pop().expect("a refusal");
    assert!(
        last.starts_with("127.0.0.1:") && last.contains(word),
        "{last:?}"
    );
}

fn whatever_is_said_is_refused(name: &str) {
    let (mut stream, ..) = stream(name);
    let (mut strange, _, at) = self::stream(name);
    let mut said = vec![
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        vec![0; 64],
        vec![0xff; 1 << 20],
        b"x".to_vec(),
    ];
    let mut random = 7u64;
    said.extend((0..100).map(|len| {
        let bytes = (0..len * 3 + 1).map(|_| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (random >> 56) as u8
        });
        bytes.collect()
    }));
    for said in said {
        if let Some(why) = say(&mut strange, at, said) {
            assert!(why.contains("for receivers of a Thalweg stream"), "{why}");
        }
        stream.pass(1);
    }
}

fn a_receiver_cannot_connect_twice(name: &str, protocol: u16) {
    let (mut stream, spec, at) = stream(name);
    let mut credit = connect(at);
    credit
        .write_all(&Hello::of(&spec, protocol, CREDIT).bytes())
        .expect("said");
    assert_eq!(wire::answer(&mut credit), None, "the first half is let in");
    let hello = Hello::of(&spec, protocol, FRAMES).bytes();
    let why = say(&mut stream, at, hello).expect("an answer");
    assert!(why.contains("receiver 0 has connected already"), "{why}");
    stream.pass(1000);
}

/// Connections that send nothing, or half a handshake, delay no other and do not stay.
fn the_silent_are_shown_out(name: &str, protocol: u16) {
    let spec = spec(1);
    let (out, tickets) = medium(name).open(&spec).expect("opened");
    let at = address(name, &spec, &tickets[0]);
    let hello = Hello::of(&spec, protocol, CREDIT).bytes();
    let mut silent: Vec<TcpStream> = (0..100)
        .map(|number| {
            let mut stream = connect(at);
            let _ = stream.write_all(&hello[..number % 64]);
            stream
        })
        .collect();
    let start = Instant::now();
    let mut stream = Stream::accept(out, name, &spec, tickets);
    stream.pass(1000);
    let took = start.elapsed();
    assert!(
        took < PATIENCE / 2,
        "it took {took:?} to get past the silent"
    );
    for one in &mut silent {
        stream.pass(1);
        while one.read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }
    let counters = stream.out.counters().expect("counters");
    until("all of them are counted", || {
        (counters.refusals.load(Ordering::Relaxed) >= 100).then_some(())
    });
    stream.pass(1000);
}

/// All receivers connect before any has sent its handshake, and all are accepted.
fn all_come_at_once(name: &str, protocol: u16) {
    let spec = spec(100);
    let (out, tickets) = medium(name).open(&spec).expect("opened");
    let at = address(name, &spec, &tickets[0]);
    let mut all: Vec<TcpStream> = (0..spec.receiver_count).map(|_| connect(at)).collect();
    for (receiver, one) in (0..).zip(&mut all) {
        let mut hello = Hello::of(&spec, protocol, CREDIT);
        hello.receiver = receiver;
        one.write_all(&hello.bytes()).expect("said");
    }
    for one in &mut all {
        assert_eq!(wire::answer(one), None, "each of them is let in");
    }
    let counters = out.counters().expect("counters");
    assert_eq!(counters.refusals.load(Ordering::Relaxed), 0);
}

macro_rules! on_media {
    ($($medium:ident: $protocol:ident,)+) => {$(
        mod $medium {
            use crate::wire::$protocol;

            #[test]
            fn wrong_hellos_are_refused() {
                super::wrong_hellos_are_refused(stringify!($medium), $protocol);
            }

            #[test]
            fn whatever_is_said_is_refused() {
                super::whatever_is_said_is_refused(stringify!($medium));
            }

            #[test]
            fn a_receiver_cannot_connect_twice() {
                super::a_receiver_cannot_connect_twice(stringify!($medium), $protocol);
            }

            #[test]
            fn all_come_at_once() {
                super::all_come_at_once(stringify!($medium), $protocol);
            }

            #[test]
            fn the_silent_are_shown_out() {
                super::the_silent_are_shown_out(stringify!($medium), $protocol);
            }
        }
    )+};
}

on_media! {
    tcp: TCP,
    rum: RUM,
}
