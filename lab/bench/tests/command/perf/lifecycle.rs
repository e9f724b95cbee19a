//! Publishers and subscribers in processes that come, leave and are killed.

use std::fs;
use std::time::{Duration, Instant};

use super::{LAST, Live, PATIENCE, number, publish, subscribe, topic};

/// A publisher that goes on for long.
fn endless<'a>(topic: &'a str, rate: &'a str) -> Vec<&'a str> {
    let args = [
        "pub",
        "-t",
        topic,
        "-r",
        rate,
        "-n",
        "1000000000",
        "-w",
        "0",
    ];
    args.to_vec()
}

/// The names of a topic's sockets that there are.
fn sockets(topic: &str) -> Vec<String> {
    let all = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let ours = all
        .lines()
        .filter(|line| line.ends_with(&format!("/{topic}")));
    ours.map(str::to_owned).collect()
}

#[track_caller]
fn until(what: &str, is: impl Fn() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_killed_publisher_ends_the_stream_and_the_next_one_begins_another() {
    let topic = topic();
    let (sub, _) = subscribe(&["-t", &topic]);
    for _ in 0..2 {
        let mut publisher = Live::start(&endless(&topic, "1000"));
        assert!(sub.line().starts_with("rcv event BOS, "));
        publisher.kill();
        let lines = sub.until(LAST);
        assert!(lines[0].starts_with("rcv event EOS, "), "{}", lines[0]);
    }
    publish(&["-t", &topic, "-n", "10", "-w", "0", "-l", "0"]).ok();
    let lines = sub.until(LAST);
    assert!(lines[1].contains(", num_rcv_msgs=10, "), "{}", lines[1]);
}

#[test]
fn a_killed_subscriber_is_not_waited_for() {
    let topic = topic();
    let (steady, _) = subscribe(&["-t", &topic, "-f"]);
    // It takes a message in about a second.
    let (mut stuck, _) = subscribe(&["-t", &topic, "-s", "1000000000"]);
    let args = [
        "pub",
        "-t",
        &topic,
        "-r",
        "999999999",
        "-n",
        "300000",
        "-w",
        "0",
        "-l",
        "0",
    ];
    let publisher = Live::start(&args);
    assert!(stuck.line().starts_with("rcv event BOS, "));
    stuck.kill();
    let lines = publisher.until("+ sender: ");
    assert_eq!(number(&lines[1], "actual_sends"), 300_000);
    let lines = steady.until(LAST);
    assert!(lines[1].contains(", num_rcv_msgs=300000, "), "{}", lines[1]);
}

#[test]
fn a_late_joiner_gets_what_follows_and_the_end() {
    let topic = topic();
    let mut publisher = Live::start(&endless(&topic, "20000"));
    until("the publisher is there", || !sockets(&topic).is_empty());
    let (late, _) = subscribe(&["-t", &topic]);
    assert!(late.line().starts_with("rcv event BOS, "));
    publisher.kill();
    let lines = late.until(LAST);
    assert!(lines[0].starts_with("rcv event EOS, "), "{}", lines[0]);
}

#[test]
fn a_second_publisher_is_told_of_the_first() {
    let topic = topic();
    let (sub, _) = subscribe(&["-t", &topic]);
    let first = Live::start(&endless(&topic, "1000"));
    assert!(sub.line().starts_with("rcv event BOS, "));
    let said = publish(&["-t", &topic, "-n", "1"]).fails(1);
    let pid = first.child.id();
    assert_eq!(
        said,
        format!(
            "thalweg: topic `{topic}` has a publisher already, process {pid}; a topic has one at a \
             time\n"
        )
    );
}

#[test]
fn nothing_is_left_after_kills() {
    let topic = topic();
    let (mut sub, _) = subscribe(&["-t", &topic]);
    let mut publisher = Live::start(&endless(&topic, "1000"));
    assert!(sub.line().starts_with("rcv event BOS, "));
    assert!(
        !sockets(&topic).is_empty(),
        "the names are those that are looked for"
    );
    publisher.kill();
    sub.kill();
    until("no socket is left", || sockets(&topic).is_empty());
    // Benchmarks that run beside this test have folders there.
    let left: Vec<_> = fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("thalweg"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn subscribers_that_are_killed_at_any_moment_take_nothing_from_the_others() {
    let topic = topic();
    let (steady, _) = subscribe(&["-t", &topic, "-f"]);
    let args = [
        "pub", "-t", &topic, "-r", "200000", "-n", "400000", "-w", "0", "-l", "0",
    ];
    let publisher = Live::start(&args);
    assert!(steady.line().starts_with("rcv event BOS, "));
    for delay in 0..40 {
        // From before it has a name until it is in: when does not matter.
        let mut victim = Live::start(&["sub", "-t", &topic, "-s", "1000"]);
        std::thread::sleep(Duration::from_micros(delay * 700));
        victim.kill();
    }
    let lines = publisher.until("actual_sends");
    assert_eq!(number(&lines[1], "actual_sends"), 400_000);
    let lines = steady.until(LAST);
    assert!(lines[0].contains(", num_rcv_msgs=400000, "), "{}", lines[0]);
}

#[test]
fn publishers_that_are_killed_at_any_moment_leave_a_topic_that_works() {
    let topic = topic();
    let (sub, _) = subscribe(&["-t", &topic]);
    for delay in 0..20 {
        let mut publisher = Live::start(&endless(&topic, "999999999"));
        std::thread::sleep(Duration::from_micros(delay * 700));
        publisher.kill();
    }
    // It may still have to take what the last one has sent.
    until("the subscriber waits again", || {
        sockets(&topic)
            .iter()
            .any(|name| name.contains("/waiting/"))
    });
    // Of those that came far enough there is a beginning and an end, one after the other.
    publish(&["-t", &topic, "-n", "12345", "-w", "0", "-l", "0"]).ok();
    let (mut begun, mut received) = (0, 0);
    while received != 12_345 {
        let line = sub.line();
        if line.starts_with("rcv event BOS, ") {
            begun += 1;
        } else if line.starts_with("rcv event EOS, ") {
            begun -= 1;
            received = number(&line, "num_rcv_msgs");
        }
        assert!((0..=1).contains(&begun), "{line}");
    }
}
