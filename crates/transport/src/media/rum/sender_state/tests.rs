//! Looks at given times, of a sender with one receiver that reads nothing and reports nothing.

use std::time::Duration;

use super::super::batch_sender::tests::{commit, connected_batch_sender};
use super::*;
use crate::EdgeSpec;
use crate::media::tcp_edge::handshake::{FramingProtocol, HandshakeTerms};

const MICRO: Duration = Duration::from_micros(1);

/// Streams that keep the sender connected.
struct Ends {
    link: RumSenderState,
    writer: ring::Writer,
    _receiver: [std::net::TcpStream; 2],
}

fn ends() -> Ends {
    let spec = EdgeSpec {
        name: "Trades.0".into(),
        edge: 0,
        receiver_count: 2,
        ring_bytes: 1 << 16,
        batching: Batching::default(),
        token: [0; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    };
    let (seat, counters) = (
        Registration::reserve().expect("an IO thread"),
        Arc::<EdgeCounters>::default(),
    );
    let door = Listener::bind(
        &spec,
        HandshakeTerms::new(FramingProtocol::Rum, &spec),
        seat,
        counters.clone(),
    );
    let (writer, keeper) = ring::retaining_ring(spec.ring_bytes).expect("memory");
    let mut link = RumSenderState::new(RumSenderParts {
        retaining_reader: keeper,
        listeners: vec![door.expect("listens")],
        receiver_count: spec.receiver_count,
        registration: seat,
        counters,
        batching: spec.batching,
        payload_bytes_max: 1000,
        break_policy: BreakPolicy {
            reconnect_timeout: Duration::from_secs(5),
            survives_all: true,
        },
    });
    let (batch_sender, frames, credit) = connected_batch_sender();
    link.connect_receiver(0, ConnectedReceiver::Direct(Box::new(batch_sender)));
    Ends {
        link,
        writer,
        _receiver: [frames, credit],
    }
}

fn batches(link: &RumSenderState) -> u64 {
    link.counters.batches.load(Ordering::Relaxed)
}

#[test]
fn nobody_gets_more_for_as_long_as_the_last_look_took_to_send() {
    let mut ends = ends();
    let link = &mut ends.link;
    commit(&mut ends.writer, 1);
    // A look that began this long ago took the longest time that counts.
    let now = Instant::now();
    assert!(
        link.flush_unfilled_batch(now - Duration::from_millis(1))
            .is_none(),
        "it is out"
    );
    assert_eq!(batches(link), 1);
    let settled = link.flush_deadline.settled_at();
    assert!(settled >= now + Batching::default().time_min);
    commit(&mut ends.writer, 1);
    assert!(link.flush_unfilled_batch(settled - MICRO).is_some());
    assert_eq!(batches(link), 1, "it waits");
    assert!(link.flush_unfilled_batch(settled).is_none());
    assert_eq!(batches(link), 2);
}

#[test]
fn a_receiver_that_has_not_connected_does_not_keep_a_batch_open() {
    let mut ends = ends();
    let link = &mut ends.link;
    commit(&mut ends.writer, 1);
    assert!(matches!(link.receivers[1], RumConnectionState::Awaited));
    assert!(
        link.flush_unfilled_batch(Instant::now() + Duration::from_millis(1))
            .is_none()
    );
    assert_eq!(batches(link), 1);
    assert!(!link.send(FlushScope::All), "not everybody has it");
    assert_eq!(link.flush_deadline.opened_at(), None);
}

#[test]
fn a_frame_that_is_a_batch_of_its_own_leaves_nothing_to_watch() {
    let mut ends = ends();
    let link = &mut ends.link;
    for count in 1..4 {
        commit(&mut ends.writer, 1);
        link.send_frame();
        assert_eq!(batches(link), count, "it is out");
        assert!(!link.flush_watchdog.is_on());
    }
    commit(&mut ends.writer, 1);
    link.send_full_batch(BatchWriteMode::WriteAll);
    assert!(link.flush_watchdog.is_on(), "frames follow without a call");
}
