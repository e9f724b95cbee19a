//! Publishers and subscribers that come and go, within one process. The tests of the command do so
//! between processes, with deaths.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, socket};
use thalweg_topic::{
    Error, PagePolicy, Publisher, PublisherConfig, Subscriber, TOPIC_BYTES_MAX, TopicEvent,
};

/// Time longer than any step takes that works.
const PATIENCE: Duration = Duration::from_secs(300);

/// Name of a topic that no other test has.
fn topic() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("lifecycle {} {number}", std::process::id())
}

fn config(ring_bytes: usize, receivers: u32) -> PublisherConfig {
    PublisherConfig {
        ring_bytes,
        receivers,
        ..PublisherConfig::default()
    }
}

fn publish(topic: &str) -> Publisher {
    Publisher::open(topic, &config(4096, 4)).expect("a publisher")
}

/// Polls, and appends the events that the subscriber got, in words.
fn poll(subscriber: &mut Subscriber, heard: &mut Vec<String>) -> Result<usize, Error> {
    subscriber.poll(|event| {
        heard.push(match event {
            TopicEvent::Began(_) => "began".to_owned(),
            TopicEvent::Message(bytes) => String::from_utf8(bytes.to_vec()).expect("a text"),
            TopicEvent::Ended(_) => "ended".to_owned(),
        });
    })
}

/// Polls until the condition holds.
#[track_caller]
fn until(subscriber: &mut Subscriber, is: impl Fn(&[String]) -> bool) -> Vec<String> {
    let (mut heard, start) = (Vec::new(), Instant::now());
    while !is(&heard) {
        assert!(start.elapsed() < PATIENCE, "heard only {heard:?}");
        if poll(subscriber, &mut heard).expect("a sound topic") == 0 {
            std::thread::yield_now();
        }
    }
    heard
}

#[track_caller]
fn until_heard(subscriber: &mut Subscriber, last: &str) -> Vec<String> {
    until(subscriber, |heard| {
        heard.last().is_some_and(|heard| heard == last)
    })
}

/// Waits until a publisher has `count` subscribers.
#[track_caller]
fn has_receivers(publisher: &Publisher, count: usize) {
    let start = Instant::now();
    while publisher.receiver_count() != count {
        assert!(start.elapsed() < PATIENCE, "{}", publisher.receiver_count());
        std::thread::yield_now();
    }
}

#[test]
fn those_who_wait_get_everything_in_the_order_of_their_events() {
    let topic = topic();
    let mut waiting: Vec<_> = (0..3).map(|_| Subscriber::open(&topic).unwrap()).collect();
    let mut publisher = publish(&topic);
    assert_eq!(publisher.receiver_count(), 3);
    for message in ["one", "", "three"] {
        publisher.send(message.as_bytes()).unwrap();
    }
    drop(publisher);
    for subscriber in &mut waiting {
        let heard = until_heard(subscriber, "ended");
        assert_eq!(heard, ["began", "one", "", "three", "ended"]);
    }
}

#[test]
fn a_late_joiner_joins_at_the_present() {
    let topic = topic();
    let mut publisher = publish(&topic);
    // Many times round the ring, without subscribers.
    (0..10_000).for_each(|_| publisher.send(b"past").unwrap());
    let mut subscriber = Subscriber::open(&topic).unwrap();
    until_heard(&mut subscriber, "began");
    assert_eq!(publisher.receiver_count(), 1);
    publisher.send(b"present").unwrap();
    assert_eq!(until_heard(&mut subscriber, "present"), ["present"]);
}

#[test]
fn a_subscriber_goes_on_with_the_next_publisher() {
    let topic = topic();
    let mut subscriber = Subscriber::open(&topic).unwrap();
    for round in ["first", "second", "third"] {
        let mut publisher = publish(&topic);
        publisher.send(round.as_bytes()).unwrap();
        drop(publisher);
        let heard = until_heard(&mut subscriber, "ended");
        assert_eq!(heard, ["began", round, "ended"]);
        assert!(!subscriber.is_joined());
    }
}

/// Publishes one message, and drops the publisher.
fn publish_only(topic: &str, message: &str) {
    let mut publisher = publish(topic);
    assert_eq!(publisher.receiver_count(), 1, "{message}");
    publisher.send(message.as_bytes()).unwrap();
}

#[test]
fn publishers_that_come_and_go_before_a_subscriber_looks_are_heard_in_turn() {
    let topic = topic();
    let mut subscriber = Subscriber::open(&topic).unwrap();
    let rounds = ["first", "second", "third"];
    rounds.iter().for_each(|round| publish_only(&topic, round));
    for round in rounds {
        let heard = until_heard(&mut subscriber, "ended");
        assert_eq!(heard, ["began", round, "ended"]);
    }
}

#[test]
fn a_late_joiner_does_not_miss_the_next_publisher() {
    let topic = topic();
    let first = publish(&topic);
    let mut subscriber = Subscriber::open(&topic).unwrap();
    until_heard(&mut subscriber, "began");
    drop(first);
    publish_only(&topic, "second");
    assert_eq!(until_heard(&mut subscriber, "ended"), ["ended"]);
    let heard = until_heard(&mut subscriber, "ended");
    assert_eq!(heard, ["began", "second", "ended"]);
}

#[test]
fn the_slowest_holds_the_publisher_up_until_it_leaves() {
    let topic = topic();
    let (fast, slow) = (Subscriber::open(&topic), Subscriber::open(&topic));
    let (mut fast, slow) = (fast.unwrap(), slow.unwrap());
    let mut publisher = publish(&topic);
    let message = [b'x'; 56];
    // 4,096 bytes of ring, 64 a message.
    let sent = (0..100)
        .take_while(|_| publisher.try_send(&message).unwrap())
        .count();
    assert_eq!(sent, 64);
    let heard = until(&mut fast, |heard| heard.len() == 65);
    assert_eq!((heard.len(), heard[0].as_str()), (65, "began"));
    assert!(
        !publisher.try_send(&message).unwrap(),
        "the slow one has it all"
    );
    assert!(!publisher.has_room_for(56) && publisher.try_acquire(56).unwrap().is_none());
    drop(slow);
    // Blocks until the listener has noticed.
    publisher.send(&message).unwrap();
    has_receivers(&publisher, 1);
    assert_eq!(until(&mut fast, |heard| !heard.is_empty()).len(), 1);
}

#[test]
fn a_place_is_free_again_when_somebody_has_left() {
    let topic = topic();
    let publisher = Publisher::open(&topic, &config(4096, 1)).unwrap();
    for _ in 0..5 {
        let mut first = Subscriber::open(&topic).unwrap();
        until_heard(&mut first, "began");
        let mut second = Subscriber::open(&topic).unwrap();
        let refused = loop {
            match poll(&mut second, &mut Vec::new()) {
                Ok(_) => std::thread::yield_now(),
                Err(error) => break error.to_string(),
            }
        };
        let places = format!("topic `{topic}` takes 1 subscribers and has them all");
        assert!(refused.contains(&places), "{refused}");
        drop((first, second));
        has_receivers(&publisher, 0);
    }
}

#[test]
fn room_is_acquired_completed_and_cancelled() {
    let topic = topic();
    let mut subscriber = Subscriber::open(&topic).unwrap();
    let mut publisher = publish(&topic);
    let room = publisher.acquire(16).unwrap();
    assert!(room.as_ptr().addr().is_multiple_of(8), "aligned to 64 bits");
    room.copy_from_slice(b"0123456789abcdef");
    publisher.complete(4).unwrap();
    publisher.acquire(16).unwrap().fill(b'-');
    publisher.cancel();
    let wrong = |done: Result<(), Error>| done.unwrap_err().to_string();
    assert_eq!(
        wrong(publisher.complete(0)),
        "0 bytes are completed that were not acquired"
    );
    publisher.acquire(3).unwrap();
    assert_eq!(
        wrong(publisher.complete(4)),
        "4 bytes are completed where 3 were acquired"
    );
    assert!(publisher.complete(3).is_err(), "that has cancelled it");
    let most = publisher.message_bytes_max();
    assert!(publisher.acquire(most).is_ok());
    publisher.cancel();
    for refused in [
        publisher.acquire(most + 1).map(drop),
        publisher.try_acquire(most + 1).map(drop),
        publisher.send(&vec![0; most + 1]),
    ] {
        assert!(matches!(refused, Err(Error::MessageTooLong { .. })));
    }
    publisher.send(b"end").unwrap();
    assert_eq!(
        until_heard(&mut subscriber, "end"),
        ["began", "0123", "end"]
    );
}

#[test]
fn a_topic_has_one_publisher() {
    let topic = topic();
    let publisher = publish(&topic);
    let second = Publisher::open(&topic, &PublisherConfig::default()).map(drop);
    assert_eq!(
        second.unwrap_err().to_string(),
        format!(
            "topic `{topic}` has a publisher already, process {}; a topic has one at a time",
            std::process::id()
        )
    );
    has_receivers(&publisher, 0);
    drop(publisher);
    publish(&topic);
}

#[test]
fn names_that_cannot_be_are_refused() {
    for wrong in ["", &"x".repeat(TOPIC_BYTES_MAX + 1)] {
        assert!(matches!(
            Subscriber::open(wrong),
            Err(Error::InvalidName(_))
        ));
        let publisher = Publisher::open(wrong, &PublisherConfig::default());
        assert!(matches!(publisher, Err(Error::InvalidName(_))));
    }
}

#[test]
fn a_sleeper_is_woken_by_a_message_and_by_the_end() {
    let topic = topic();
    let mut subscriber = Subscriber::open(&topic).unwrap();
    let listening = std::thread::spawn(move || {
        let (mut heard, start) = (Vec::new(), Instant::now());
        while heard.last().is_none_or(|last| last != "ended") {
            if poll(&mut subscriber, &mut heard).unwrap() == 0 {
                subscriber.wait(Some(PATIENCE)).unwrap();
            }
        }
        (heard, start.elapsed())
    });
    let mut publisher = publish(&topic);
    for message in ["a", "b", "c"] {
        // Long enough for it to fall asleep, most of the time: it may not matter.
        std::thread::sleep(Duration::from_millis(20));
        publisher.send(message.as_bytes()).unwrap();
    }
    std::thread::sleep(Duration::from_millis(20));
    drop(publisher);
    let (heard, took) = listening.join().unwrap();
    assert_eq!(heard, ["began", "a", "b", "c", "ended"]);
    assert!(took < PATIENCE, "nobody has slept through it");
}

#[test]
fn a_stream_under_load_comes_whole_to_all_who_are_in_while_others_come_and_go() {
    let topic = topic();
    let mut steady: Vec<_> = (0..2).map(|_| Subscriber::open(&topic).unwrap()).collect();
    let mut publisher = publish(&topic);
    let sending = std::thread::spawn(move || {
        (0..200_000u64).for_each(|number| publisher.send(&number.to_ne_bytes()).unwrap());
    });
    let follow = |subscriber: &mut Subscriber, most: u64| {
        let (mut first, mut next, mut has_ended) = (None, 0, false);
        while !has_ended && next - first.unwrap_or(0) < most {
            let count = subscriber.poll(|event| match event {
                TopicEvent::Began(_) => {}
                TopicEvent::Message(bytes) => {
                    let number = u64::from_ne_bytes(bytes.try_into().unwrap());
                    if first.replace(first.unwrap_or(number)).is_some() {
                        assert_eq!(number, next);
                    }
                    next = number + 1;
                }
                TopicEvent::Ended(_) => has_ended = true,
            });
            if count.unwrap() == 0 {
                std::thread::yield_now();
            }
        }
        (first, next, has_ended)
    };
    std::thread::scope(|scope| {
        for subscriber in &mut steady {
            scope.spawn(|| assert_eq!(follow(subscriber, u64::MAX), (Some(0), 200_000, true)));
        }
        scope.spawn(|| {
            // Each subscriber takes a few messages from wherever the stream is, and goes.
            while !sending.is_finished() {
                let mut visitor = Subscriber::open(&topic).unwrap();
                let start = Instant::now();
                while !visitor.is_joined() && !sending.is_finished() {
                    assert!(start.elapsed() < PATIENCE);
                    poll(&mut visitor, &mut Vec::new()).unwrap();
                }
                if visitor.is_joined() {
                    follow(&mut visitor, 100);
                }
            }
        });
    });
    sending.join().unwrap();
}

#[test]
fn pages_are_as_they_were_asked_for_or_it_is_said_why_not() {
    let open = |huge_pages| {
        let config = PublisherConfig {
            huge_pages,
            ..PublisherConfig::default()
        };
        Publisher::open(&topic(), &config).map(drop)
    };
    assert!(open(PagePolicy::Auto).is_ok() && open(PagePolicy::Small).is_ok());
    let free = std::fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    let free: u64 = free.map_or(0, |free| free.trim().parse().unwrap_or(0));
    match open(PagePolicy::Huge) {
        Ok(()) => assert!(free > 0),
        Err(error) => assert!(error.to_string().contains("vm.nr_hugepages"), "{error}"),
    }
}

/// A name whose holder does not answer gives an error, not a wait without end.
#[test]
fn a_name_whose_holder_does_not_answer_is_said() {
    let topic = topic();
    let user = rustix::process::geteuid().as_raw();
    let name = format!("thalweg/{user}/publisher/{topic}");
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).expect("a name");
    let silent = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).expect("a socket");
    bind(&silent, &address).expect("a free name");
    let refused = Publisher::open(&topic, &config(4096, 4));
    assert!(matches!(refused, Err(Error::Unresponsive { .. })));
    drop(silent);
    publish(&topic);
}

/// Looking for room forgets acquired room: the next may lie elsewhere.
#[test]
fn a_look_for_room_forgets_what_was_acquired() {
    let mut publisher = publish(&topic());
    publisher.acquire(100).expect("room");
    assert!(publisher.has_room_for(8));
    let refused = publisher.complete(8);
    assert!(matches!(
        refused,
        Err(Error::NotAcquired { acquired: None, .. })
    ));
    assert!(!publisher.has_room_for(usize::MAX));
    publisher.send(b"still in order").expect("room");
}
