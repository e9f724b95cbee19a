//! Publishers and subscribers in processes that come, leave and are killed.

use std::fs;
use std::time::Instant;

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
fn a_late_joiner_gets_a_part_and_the_end() {
    let topic = topic();
    let args = [
        "pub", "-t", &topic, "-r", "20000", "-n", "60000", "-w", "0", "-l", "0",
    ];
    let publisher = Live::start(&args);
    until("the publisher is there", || !sockets(&topic).is_empty());
    let (late, _) = subscribe(&["-t", &topic]);
    let lines = late.until(LAST);
    let received = number(&lines[1], "num_rcv_msgs");
    assert!(received <= 60_000, "{received}");
    publisher.until("actual_sends=60000, ");
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
    let left: Vec<_> = fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    let left = left
        .iter()
        .filter(|file| file.file_name().to_string_lossy().contains("thalweg"));
    assert_eq!(left.count(), 0);
}
