//! Looks at given times, of a link to one receiver that reads nothing and says nothing.

use super::super::outlet::tests::{commit, outlet};
use super::*;
use crate::Spec;
use crate::media::tcp::hello::Protocol;
use crate::media::tcp::terms;

const MICRO: Duration = Duration::from_micros(1);

/// What it needs to stay connected.
struct Ends {
    link: Link,
    writer: ring::Writer,
    _receiver: [std::net::TcpStream; 2],
}

fn ends() -> Ends {
    let spec = Spec {
        name: "Trades.0".into(),
        link: 0,
        receivers: 2,
        ring_bytes: 1 << 16,
        batch: Batching::default(),
        token: [0; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    };
    let (seat, counters) = (Seat::take().expect("a seat"), Arc::<Counters>::default());
    let door = Door::open(&spec, terms(Protocol::Rum, &spec), seat, counters.clone());
    let (writer, keeper) = ring::keeping(spec.ring_bytes).expect("memory");
    let mut link = Link::new(Parts {
        keeper,
        door: door.expect("listens"),
        receivers: spec.receivers,
        seat,
        counters,
        batch: spec.batch,
        frame_bytes_max: 1000,
        patience: Duration::from_secs(5),
    });
    let (outlet, frames, credit) = outlet();
    link.set_place(0, Place::Up(Box::new(outlet)));
    Ends {
        link,
        writer,
        _receiver: [frames, credit],
    }
}

fn batches(link: &Link) -> u64 {
    link.counters.batches.load(Ordering::Relaxed)
}

#[test]
fn nobody_gets_more_for_as_long_as_the_last_look_took_to_send() {
    let mut ends = ends();
    let link = &mut ends.link;
    commit(&mut ends.writer, 1);
    // A look that began so long ago has taken as long as one may count.
    let now = Instant::now();
    assert!(
        link.look(now - Duration::from_millis(1)).is_none(),
        "it is out"
    );
    assert_eq!(batches(link), 1);
    let settled = link.due.settled();
    assert!(settled >= now + Batching::default().time_min);
    commit(&mut ends.writer, 1);
    assert!(link.look(settled - MICRO).is_some());
    assert_eq!(batches(link), 1, "it waits");
    assert!(link.look(settled).is_none());
    assert_eq!(batches(link), 2);
}

#[test]
fn a_receiver_that_has_not_connected_does_not_keep_a_batch_open() {
    let mut ends = ends();
    let link = &mut ends.link;
    commit(&mut ends.writer, 1);
    assert!(matches!(link.places[1], Place::Awaited));
    assert!(
        link.look(Instant::now() + Duration::from_millis(1))
            .is_none()
    );
    assert_eq!(batches(link), 1);
    assert!(!link.send(Which::All), "not everybody has it");
    assert_eq!(link.due.opened(), None);
}
