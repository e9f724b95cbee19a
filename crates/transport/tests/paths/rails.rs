//! Rails: each path carries what it can, and a path that is taken away holds nothing back.

use std::sync::atomic::Ordering;

use control::HostPaths;
use transport::ListenAddresses;

use crate::hosts::{HostEdge, hosts};
use crate::numbered_frames::{medium, until};

/// Media that have rails, those that libfabric is needed for only where it is.
fn media() -> impl Iterator<Item = &'static str> {
    let media = ["rum", "tcp", "rum-rdma"].into_iter();
    media.filter(|name| match medium(name).check_available() {
        Ok(()) => true,
        Err(why) => {
            println!("PASSED OVER: {name}, for {why}");
            false
        }
    })
}

fn open(hosts: &HostPaths, name: &str) -> HostEdge {
    let listen = ListenAddresses::from_rails(&hosts.near_addresses());
    HostEdge::open(hosts, medium(name), listen.expect("two addresses"))
}

fn rail_bytes(edge: &HostEdge) -> [u64; 2] {
    [0, 1].map(|rail| edge.counters.rails[rail].bytes.load(Ordering::Relaxed))
}

/// Bytes that each rail carries of `count` frames.
fn shares(edge: &mut HostEdge, count: u64) -> [u64; 2] {
    let before = rail_bytes(edge);
    edge.pass(count);
    let after = rail_bytes(edge);
    [0, 1].map(|rail| after[rail] - before[rail])
}

/// Wide bounds: other programs on the machine take the cores away from a path, not its rate. The
/// bench `rails` compares rates.
#[test]
fn faster_paths_carry_more() {
    for (rates, least, most) in [([100, 10], 1.0, f64::MAX), ([100, 100], 0.1, 10.0)] {
        let Some(hosts) = hosts(rates) else {
            return;
        };
        for name in media() {
            let mut edge = open(&hosts, name);
            edge.pass(4000);
            let [first, second] = shares(&mut edge, 8000);
            let ratio = first as f64 / second as f64;
            let is_fair = (least..most).contains(&ratio);
            assert!(is_fair, "{name}, {rates:?}: {first} and {second} bytes");
            edge.end();
        }
    }
}

/// The bytes are on the wire of each path, and not on the rail's counter alone.
#[test]
fn each_rail_has_a_path_of_its_own() {
    let Some(hosts) = hosts([100, 100]) else {
        return;
    };
    for name in media() {
        let on_wire = || [0, 1].map(|path| hosts.sent_bytes(path).expect("counted"));
        let before = on_wire();
        let mut edge = open(&hosts, name);
        edge.pass(4000);
        let (after, carried) = (on_wire(), rail_bytes(&edge));
        for path in [0, 1] {
            let sent = after[path] - before[path];
            assert!(carried[path] > 100_000, "{name}: {carried:?}");
            assert!(sent >= carried[path], "{name}: path {path} has sent {sent}");
        }
        edge.end();
    }
}

/// No connection ends when a path is taken away, so it is noticed by its silence.
#[test]
fn a_path_that_is_taken_away_holds_nothing_back() {
    let Some(hosts) = hosts([100, 100]) else {
        return;
    };
    for name in media() {
        let mut edge = open(&hosts, name);
        for lost in [0, 1, 0, 1] {
            edge.pass(500);
            hosts.set_up(lost, false).expect("taken away");
            let [first, second] = shares(&mut edge, 3000);
            let by_other = [second, first][lost];
            assert!(by_other > 2_000_000, "{name}: {first} and {second} bytes");
            hosts.set_up(lost, true).expect("given back");
            until("the path is used again", || {
                (shares(&mut edge, 200)[lost] > 50_000).then_some(())
            });
        }
        edge.end();
    }
}
