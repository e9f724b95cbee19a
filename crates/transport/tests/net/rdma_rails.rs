//! Streams over several rails of `rdma` in mode `batch`, over libfabric's provider `tcp`: rails
//! break, fall silent and are slow, and no frame is lost, doubled or out of order. See
//! [`crate::rails`] for seeds.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use transport::media::rdma::RdmaMedium;
use transport::{EdgeSpec, ListenAddresses, Medium, media};

use crate::cuts::{loss, seed};
use crate::edge::{PATIENCE, put, take, until};
use crate::proxy::Proxy;
use crate::rails::{
    CUTS, RailCuts, Rails, WHOLE, a_cut_stream_on_is_whole, a_slow_rail_of_gets_a_small_share,
    rail_addresses, rails_spec, sleepers_on_are_woken, ticket_by,
};

static BATCH: RdmaMedium = RdmaMedium::batch(PATIENCE);

/// Whether libfabric is there; without it the test says so.
fn has_libfabric() -> bool {
    let available = BATCH.check_available();
    if let Err(why) = &available {
        eprintln!("PASSED OVER: rails of rdma, for {why}");
    }
    available.is_ok()
}

fn a_cut_stream_is_whole(number: u64, receivers: u32, cuts: [RailCuts; 2]) {
    if has_libfabric() {
        a_cut_stream_on_is_whole(&BATCH, number, receivers, cuts);
    }
}

#[test]
fn cuts_of_one_rail_lose_double_and_reorder_nothing() {
    a_cut_stream_is_whole(31, 1, [(CUTS, 60_000), WHOLE]);
}

#[test]
fn nor_do_cuts_of_the_other() {
    a_cut_stream_is_whole(32, 1, [WHOLE, (CUTS, 60_000)]);
}

#[test]
fn nor_do_cuts_of_both() {
    a_cut_stream_is_whole(33, 1, [(CUTS, 60_000), (CUTS, 30_000)]);
}

#[test]
fn nor_do_cuts_within_the_first_bytes() {
    a_cut_stream_is_whole(34, 1, [(CUTS, 2_000), (CUTS, 2_000)]);
}

#[test]
fn nor_do_cuts_of_several_receivers() {
    a_cut_stream_is_whole(35, 3, [(CUTS, 60_000), (CUTS, 60_000)]);
}

#[test]
fn sleepers_are_woken_whatever_breaks() {
    if has_libfabric() {
        sleepers_on_are_woken(&BATCH);
    }
}

#[test]
fn a_slow_rail_gets_a_small_share() {
    if has_libfabric() {
        a_slow_rail_of_gets_a_small_share(&BATCH);
    }
}

/// A rail on which nothing passes any more, although no connection ends: the other takes over what
/// was on it, and it is closed. Once it passes bytes again, it is made and used again.
#[test]
fn a_rail_that_falls_silent_holds_nothing_back() {
    if !has_libfabric() {
        return;
    }
    for silent in [0, 1] {
        let mut rails = Rails::new(&rails_spec(1), &BATCH, seed(36), [WHOLE, WHOLE]);
        rails.pass(2000);
        rails.proxies[silent].set_silent(true);
        // More than both rails and everything between them hold.
        let before = rails.bytes(1 - silent);
        rails.pass(20_000);
        assert!(rails.bytes(1 - silent) > before + 10_000_000);
        assert!(rails.breaks(silent) > 0, "the silent rail is closed");
        assert_eq!(rails.breaks(1 - silent), 0, "the other is not");
        rails.proxies[silent].set_silent(false);
        let before = rails.bytes(silent);
        until("the silent rail is used again", || {
            rails.pass(1000);
            (rails.bytes(silent) > before + 1_000_000).then_some(())
        });
        rails.end();
    }
}

/// A rail that leads nowhere when the receiver comes does not keep the others from working.
#[test]
fn a_rail_that_is_dead_from_the_start_is_not_needed() {
    if !has_libfabric() {
        return;
    }
    for dead in [0, 1] {
        let spec = rails_spec(1);
        let (mut out, tickets) = BATCH.open(&spec).expect("opened");
        let mut ways = rail_addresses("rdma", &spec, &tickets[0]);
        let nobody = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("listens");
        ways[dead] = nobody.local_addr().expect("an address");
        drop(nobody);
        let ticket = ticket_by("rdma", &spec, &tickets[0], &ways);
        let mut end = BATCH.accept(&spec, ticket).expect("accepted");
        let (mut sent, mut next) = (0, 0);
        until("the last frame", || {
            sent += u64::from(sent < 3000 && put(&mut *out, sent).expect("room or not"));
            next = take(&mut *end, next).expect("a sound stream");
            (next == 3000).then_some(())
        });
    }
}

/// All rails are gone: both sides give up, as they do with one connection.
#[test]
fn a_dead_network_is_a_loss_on_both_sides() {
    if !has_libfabric() {
        return;
    }
    let patience = Duration::from_millis(300);
    let medium = RdmaMedium::batch(patience);
    let mut rails = Rails::new(&rails_spec(1), &medium, 37, [WHOLE, WHOLE]);
    rails.pass(100);
    rails.proxies.iter().for_each(Proxy::die);
    let (end, next) = &mut rails.ends[0];
    let lost = until("word of the sender's end", || loss(take(&mut **end, *next)));
    assert!(!lost.reason.is_empty());
    let lost = until("word of the receiver's end", || loss(rails.out.claim(8)));
    assert_eq!(lost.receiver, Some(0), "{}", lost.reason);
}

/// A sender that is gone for good is lost at once, without waiting for the timeout.
#[test]
fn a_sender_that_listens_no_more_is_lost_at_once() {
    if !has_libfabric() {
        return;
    }
    let spec = rails_spec(1);
    let (out, tickets) = BATCH.open(&spec).expect("opened");
    let ticket = tickets.into_iter().next().expect("a ticket");
    let mut end = BATCH.accept(&spec, ticket).expect("accepted");
    drop(out);
    until("word of the sender's end", || loss(end.poll()));
}

/// Settings without rails say which have some.
#[test]
fn other_modes_refuse_rails() {
    let mptcp = EdgeSpec {
        listen: ListenAddresses::from_mptcp(Ipv4Addr::LOCALHOST.into()),
        ..rails_spec(1)
    };
    let by_mode = "has no rails, which are for mode=batch";
    for (settings, spec, why) in [
        ("", &rails_spec(1), by_mode),
        ("mode=channel", &rails_spec(1), by_mode),
        (
            "mode=batch device=lo",
            &rails_spec(1),
            "rdma with device=lo has no rails",
        ),
        ("mode=batch", &mptcp, "rdma has no rails by Multipath TCP"),
        ("mode=write", &mptcp, "rdma has no rails by Multipath TCP"),
    ] {
        let medium = media::find_with("rdma", settings).expect("settings");
        let refusal = medium.open(spec).err().expect("refused").to_string();
        assert!(refusal.contains(why), "{settings}: {refusal}");
        let checked = medium.check_rails(spec.listen.is_mptcp());
        let checked = checked.expect_err("refused").to_string();
        assert!(checked.contains(why), "{settings}: {checked}");
    }
    let batch = media::find_with("rdma", "mode=batch").expect("settings");
    assert!(batch.check_rails(false).is_ok());
}

/// One path more: an address that is no local one is refused, and leaves nothing behind.
#[test]
fn a_rail_that_cannot_listen_is_refused() {
    if !has_libfabric() {
        return;
    }
    let addresses: [IpAddr; 2] = [
        Ipv4Addr::LOCALHOST.into(),
        Ipv4Addr::new(192, 0, 2, 1).into(),
    ];
    let spec = EdgeSpec {
        listen: ListenAddresses::from_rails(&addresses).expect("two addresses"),
        ..rails_spec(1)
    };
    assert!(BATCH.open(&spec).is_err());
}
