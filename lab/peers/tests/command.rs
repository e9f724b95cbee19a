//! The command as its users and its own processes call it; nothing stays behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use measure::Outcome;
use thalweg_peers::{PeerQuestion, PeerTask, ScratchFolder, peers, turn_output};

fn command(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg-peers"));
    command.args(args).output().expect("it starts")
}

/// Standard output of a run that has to succeed.
fn stdout(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_list_has_every_peer_and_every_reason() {
    let list = stdout(&command(&["--list"]));
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), peers::all_peers().len());
    for name in [
        "rtrb",
        "timely",
        "iceoryx2",
        "aeron-ipc",
        "zeromq-tcp",
        "raw-tcp",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(name)), "{name}");
    }
    let missing = lines.iter().find(|line| line.starts_with("fastflow"));
    assert!(missing.is_some_and(|line| line.contains("without a package")));
    if cfg!(not(feature = "aeron")) {
        let aeron = lines.iter().find(|line| line.starts_with("aeron-ipc"));
        assert!(aeron.is_some_and(|line| line.contains("--features aeron")));
    }
}

#[test]
fn bad_words_are_refused() {
    for args in [["--only", "pigeon"], ["--size", "12"], ["--size", "32768"]] {
        let output = command(&args);
        assert!(!output.status.success(), "{args:?}");
    }
    let said = command(&["--only", "pigeon"]).stderr;
    assert!(String::from_utf8_lossy(&said).contains("std-sync-channel"));
}

#[test]
fn a_peer_that_cannot_run_is_a_record_and_a_line() {
    let json = stdout(&command(&["--only", "windflow", "--json"]));
    let records: Vec<Outcome> = serde_json::from_str(&json).unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].peer.as_deref(), Some("windflow"));
    assert!(records[0].unavailable.is_some());
    let table = stdout(&command(&["--only", "windflow"]));
    assert!(table.contains("not measured: "), "{table}");
    let last = table.lines().last();
    assert!(
        last.is_some_and(|line| line.contains("; measured in 0 min ")),
        "{table}"
    );
}

/// A peer in threads and a peer in processes have their records, each beside both of Thalweg's
/// contenders.
#[test]
fn records_have_their_figures() {
    let only = ["--only", "std-sync-channel", "--only", "raw-tcp"];
    let json = stdout(&command(
        &[&only[..], &["--quick", "--size", "64", "--json"]].concat(),
    ));
    let records: Vec<Outcome> = serde_json::from_str(&json).unwrap();
    // Of each peer the program and the medium, throughput and latency.
    assert_eq!(records.len(), 8);
    for record in &records {
        assert_eq!(record.unavailable, None);
        assert!(record.ratio.is_some_and(|ratio| ratio > 0.0), "{record:?}");
        assert_eq!(record.size_bytes, Some(64));
        assert_eq!(record.runs, 3);
        assert!(record.tuples_per_s.is_some() != record.latency_ns.is_some());
        assert!(!record.host.processor.is_empty());
    }
    let paths: Vec<&str> = records.iter().map(|record| &*record.path).collect();
    assert_eq!(paths, [["threaded"; 4], ["tcp"; 4]].concat());
}

/// Every peer that is built in does its tasks, and leaves nothing behind.
#[test]
fn peers_do_their_tasks() {
    let peers = peers::all_peers()
        .into_iter()
        .filter_map(|entry| entry.peer.ok());
    for peer in peers {
        for (question, bytes, messages) in [
            (PeerQuestion::Throughput, 64, 5000),
            (PeerQuestion::Throughput, 1024, 2000),
            // Many times the messages that a ring or the batches under way hold.
            (PeerQuestion::Throughput, 16384, 3200),
            (PeerQuestion::Latency, 64, 200),
        ] {
            if !peer.supports(question) {
                continue;
            }
            let scratch = ScratchFolder::new().unwrap();
            let task = PeerTask {
                question,
                bytes,
                messages,
                scratch: scratch.name().to_owned(),
            };
            let args = task.to_args();
            let mut turn = vec!["turn", peer.name];
            turn.extend(args.iter().map(String::as_str));
            let printed = stdout(&command(&turn));
            match question {
                PeerQuestion::Throughput => {
                    let rate = turn_output::parse_rate(&printed, messages, bytes as u64 / 8);
                    assert!(rate.unwrap() > 0.0, "{}", peer.name);
                }
                PeerQuestion::Latency => {
                    turn_output::parse_latencies(&printed, messages).unwrap();
                }
            }
            let name = scratch.name().to_owned();
            drop(scratch);
            assert_eq!(left_of(&name), Vec::<String>::new(), "{}", peer.name);
        }
    }
}

/// Files that begin with a name, in the folders where peers put them.
fn left_of(name: &str) -> Vec<String> {
    let temporary = std::env::temp_dir();
    let places = [Path::new("/dev/shm"), &temporary];
    let entries = places.iter().filter_map(|place| fs::read_dir(place).ok());
    let names = entries.flatten().flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|left| left.starts_with(name)).collect()
}
