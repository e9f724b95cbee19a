//! Streams over several rails whose connections break, fall silent or are slow: no frame is lost,
//! doubled or out of order, and the rails that work carry the stream.
//!
//! Each rail has a proxy of its own. Seeds decide where connections break; for other seeds:
//!
//! ```text
//!   THALWEG_CUT_SEED=17 cargo test -p thalweg-transport --test net -- rails
//! ```

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use transport::media::rum::RumMedium;
use transport::media::tcp::TcpMedium;
use transport::{
    EdgeCounters, EdgeSpec, EdgeTicket, Error, ListenAddresses, Medium, ReceivingEnd, SendingEnd,
};

use crate::cuts::{asleep_until, loss, seed};
use crate::edge::{PATIENCE, addresses, put, spec, take, ticket_to_all, until};
use crate::proxy::{Proxy, Random};

const RUM: RumMedium = RumMedium {
    reconnect_timeout: PATIENCE,
};

/// Number of cuts in a stream.
pub const CUTS: u32 = 200;

/// Bytes of an address in a ticket.
const ADDRESS_BYTES: usize = 18;

/// Cuts of a proxy, as [`Proxy::new`] takes them: how many, and within how many bytes.
pub type RailCuts = (u32, u64);

/// A path that is never cut.
pub const WHOLE: RailCuts = (0, 1);

/// Description of an edge with two rails.
pub fn rails_spec(receivers: u32) -> EdgeSpec {
    let rails = [1, 2].map(|last| IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)));
    EdgeSpec {
        listen: ListenAddresses::from_rails(&rails).expect("two addresses"),
        ..spec(receivers)
    }
}

/// An edge with a proxy on each rail.
pub struct Rails {
    pub out: Box<dyn SendingEnd>,
    pub ends: Vec<(Box<dyn ReceivingEnd>, u64)>,
    pub proxies: [Proxy; 2],
    pub counters: Arc<EdgeCounters>,
    pub sent: u64,
}

impl Rails {
    pub fn new(spec: &EdgeSpec, medium: &dyn Medium, seed: u64, cuts: [RailCuts; 2]) -> Rails {
        let name = medium.name();
        let (out, tickets) = medium.open(spec).expect("opened");
        let targets = rail_addresses(name, spec, &tickets[0]);
        let proxy = |rail: usize| {
            let (count, bytes) = cuts[rail];
            Proxy::new(targets[rail], seed + rail as u64, count, bytes)
        };
        let proxies = [0, 1].map(proxy);
        let ways: Vec<SocketAddr> = proxies.iter().map(Proxy::address).collect();
        let accept = |ticket: &EdgeTicket| {
            let ticket = ticket_by(name, spec, ticket, &ways);
            (medium.accept(spec, ticket).expect("accepted"), 0)
        };
        Rails {
            ends: tickets.iter().map(accept).collect(),
            counters: out.counters().expect("counters"),
            out,
            proxies,
            sent: 0,
        }
    }

    /// Takes what has come at every receiver.
    pub fn take(&mut self) {
        for (end, next) in &mut self.ends {
            *next = take(&mut **end, *next).expect("a sound stream");
        }
    }

    /// Sends and receives, in random steps, until a condition holds, and then 1000 frames more.
    pub fn pass_until(
        &mut self,
        what: &str,
        random: &mut Random,
        is_done: impl Fn(&Rails) -> bool,
    ) {
        let mut rest = 1000;
        until(what, || {
            for _ in 0..random.below(60) {
                if rest > 0 && put(&mut *self.out, self.sent).expect("room or not") {
                    self.sent += 1;
                    rest -= u64::from(is_done(self));
                }
            }
            if random.below(10) == 0 {
                self.out.flush().expect("flushed");
            }
            if random.below(3) > 0 {
                self.take();
            }
            let have_all = self.ends.iter().all(|(_, next)| *next == self.sent);
            (rest == 0 && have_all).then_some(())
        });
    }

    /// Passes `count` frames more.
    pub fn pass(&mut self, count: u64) {
        let until_sent = self.sent + count;
        until("the last frame", || {
            while self.sent < until_sent && put(&mut *self.out, self.sent).expect("room or not") {
                self.sent += 1;
            }
            self.out.flush().expect("flushed");
            self.take();
            let have_all = self.ends.iter().all(|(_, next)| *next == until_sent);
            have_all.then_some(())
        });
    }

    fn drain(&mut self) {
        until("drained", || {
            self.take();
            let is_right = self.ends.iter().all(|(_, next)| *next == self.sent);
            assert!(is_right, "a frame too many");
            self.out.is_drained().expect("drained").then_some(())
        });
    }

    /// Drops the sender: the receivers learn of it, and of no frame more.
    pub fn end(mut self) {
        self.drain();
        drop(self.out);
        for (end, next) in &mut self.ends {
            until("word of the sender's end", || {
                match take(&mut **end, *next) {
                    Ok(number) => {
                        assert_eq!(number, self.sent, "a frame too many");
                        None
                    }
                    Err(Error::PeerLost(_)) => Some(()),
                    Err(error) => panic!("{error}"),
                }
            });
        }
    }

    pub fn bytes(&self, rail: usize) -> u64 {
        self.counters.rails[rail].bytes.load(Ordering::Relaxed)
    }

    pub fn breaks(&self, rail: usize) -> u64 {
        self.counters.rails[rail].breaks.load(Ordering::Relaxed)
    }
}

fn a_cut_stream_is_whole(number: u64, receivers: u32, cuts: [RailCuts; 2]) {
    a_cut_stream_on_is_whole(&RUM, number, receivers, cuts);
}

/// The addresses of the rails at the start of a ticket.
pub fn rail_addresses(name: &str, spec: &EdgeSpec, ticket: &EdgeTicket) -> Vec<SocketAddr> {
    let (receiver, own) = ticket.unseal(name, spec).expect("a sound ticket");
    let own = &own[..ADDRESS_BYTES * spec.listen.rails().len()];
    addresses(name, spec, &EdgeTicket::seal(name, spec, receiver, own))
}

/// A ticket with other addresses of rails; what stands behind them stays.
pub fn ticket_by(
    name: &str,
    spec: &EdgeSpec,
    ticket: &EdgeTicket,
    ways: &[SocketAddr],
) -> EdgeTicket {
    let (receiver, own) = ticket.unseal(name, spec).expect("a sound ticket");
    let by_ways = ticket_to_all(name, spec, receiver, ways);
    let (_, ways) = by_ways.unseal(name, spec).expect("a sound ticket");
    let bytes = [ways, &own[ways.len()..]].concat();
    EdgeTicket::seal(name, spec, receiver, &bytes)
}

pub fn a_cut_stream_on_is_whole(
    medium: &dyn Medium,
    number: u64,
    receivers: u32,
    cuts: [RailCuts; 2],
) {
    let seed = seed(number);
    println!("seed {seed}, {receivers} receivers, cuts {cuts:?}");
    let mut rails = Rails::new(&rails_spec(receivers), medium, seed, cuts);
    let is_cut = |rails: &Rails| rails.proxies.iter().all(|proxy| proxy.cuts_left() == 0);
    rails.pass_until("the last cut", &mut Random::new(seed), is_cut);
    for (rail, (cuts, _)) in cuts.into_iter().enumerate() {
        // Several connections may be cut before the sender has accepted one.
        assert_eq!(
            rails.breaks(rail) > 10,
            cuts > 0,
            "{} breaks",
            rails.breaks(rail)
        );
    }
    rails.end();
}

#[test]
fn cuts_of_one_rail_lose_double_and_reorder_nothing() {
    a_cut_stream_is_whole(1, 1, [(CUTS, 60_000), WHOLE]);
}

#[test]
fn nor_do_cuts_of_the_other() {
    a_cut_stream_is_whole(2, 1, [WHOLE, (CUTS, 60_000)]);
}

#[test]
fn nor_do_cuts_of_both() {
    a_cut_stream_is_whole(3, 1, [(CUTS, 60_000), (CUTS, 30_000)]);
}

/// One rail of `tcp` breaks again and again, while the other one holds the stream.
#[test]
fn nor_do_cuts_of_one_rail_of_tcp() {
    a_cut_stream_on_is_whole(&TcpMedium, 10, 1, [(CUTS, 60_000), WHOLE]);
    a_cut_stream_on_is_whole(&TcpMedium, 11, 2, [WHOLE, (CUTS, 30_000)]);
}

#[test]
fn nor_do_cuts_within_the_first_bytes() {
    a_cut_stream_is_whole(4, 1, [(CUTS, 600), (CUTS, 600)]);
}

#[test]
fn nor_do_cuts_of_several_receivers() {
    a_cut_stream_is_whole(5, 3, [(CUTS, 60_000), (CUTS, 60_000)]);
}

/// Both ends sleep whenever they can, while rails break and come back.
#[test]
fn sleepers_are_woken_whatever_breaks() {
    sleepers_on_are_woken(&RUM);
}

pub fn sleepers_on_are_woken(medium: &dyn Medium) {
    const FRAMES: u64 = 6000;
    let cuts = [(CUTS, 20_000), (CUTS, 30_000)];
    let mut rails = Rails::new(&rails_spec(1), medium, seed(6), cuts);
    let (mut end, mut next) = rails.ends.remove(0);
    let mut out = rails.out;
    let sends = std::thread::spawn(move || {
        for number in 0..FRAMES {
            asleep_until(&mut *out, |out| put(out, number).expect("room or not"));
        }
        until("drained", || {
            let is_out = out.flush().expect("flushed");
            (is_out && out.is_drained().expect("drained")).then_some(())
        });
    });
    while next < FRAMES || !sends.is_finished() {
        let before = next;
        asleep_until(&mut *end, |end| {
            match take(end, next) {
                Ok(number) => next = number,
                Err(Error::PeerLost(_)) => return true,
                Err(error) => panic!("{error}"),
            }
            next > before
        });
    }
    sends.join().expect("everything is sent");
    let breaks = [0, 1].map(|rail| rails.counters.rails[rail].breaks.load(Ordering::Relaxed));
    assert!(breaks.iter().all(|breaks| *breaks > 0), "{breaks:?}");
}

/// A rail on which nothing passes any more, although no connection ends: the other takes over what
/// was on it. Once it passes bytes again, it is used again.
#[test]
fn a_rail_that_falls_silent_holds_nothing_back() {
    for (silent, medium) in [(0, &RUM as &dyn Medium), (1, &RUM), (0, &TcpMedium)] {
        let mut rails = Rails::new(&rails_spec(1), medium, seed(7), [WHOLE, WHOLE]);
        rails.pass(2000);
        rails.proxies[silent].set_silent(true);
        // More than both rails and everything between them hold.
        let before = rails.bytes(1 - silent);
        rails.pass(20_000);
        assert!(rails.bytes(1 - silent) > before + 10_000_000);
        rails.proxies[silent].set_silent(false);
        let before = rails.bytes(silent);
        until("the silent rail is used again", || {
            rails.pass(1000);
            (rails.bytes(silent) > before + 1_000_000).then_some(())
        });
        assert_eq!(
            [rails.breaks(0), rails.breaks(1)],
            [0, 0],
            "none has broken"
        );
        rails.end();
    }
}

/// The share moves to the rail that passes more, and moves back when the other is as fast again.
#[test]
fn a_slow_rail_gets_a_small_share() {
    a_slow_rail_of_gets_a_small_share(&RUM);
}

pub fn a_slow_rail_of_gets_a_small_share(medium: &dyn Medium) {
    for slow in [0, 1] {
        let spec = EdgeSpec {
            ring_bytes: 1 << 20,
            ..rails_spec(1)
        };
        let mut rails = Rails::new(&spec, medium, seed(8), [WHOLE, WHOLE]);
        rails.proxies[slow].set_slow(true);
        rails.pass(3000);
        let before = [rails.bytes(0), rails.bytes(1)];
        rails.pass(20_000);
        let carried = [0, 1].map(|rail| rails.bytes(rail) - before[rail]);
        assert!(
            carried[slow] * 5 < carried[1 - slow],
            "the slow rail {slow} of {carried:?}"
        );
        rails.proxies[slow].set_slow(false);
        until("the slow rail carries its share again", || {
            let before = [rails.bytes(0), rails.bytes(1)];
            rails.pass(2000);
            let carried = [0, 1].map(|rail| rails.bytes(rail) - before[rail]);
            (carried[slow] * 3 > carried[1 - slow]).then_some(())
        });
        rails.end();
    }
}

/// A rail that leads nowhere when the receiver comes does not keep the others from working.
#[test]
fn a_rail_that_is_dead_from_the_start_is_not_needed() {
    for dead in [0, 1] {
        let spec = rails_spec(1);
        let (mut out, tickets) = RUM.open(&spec).expect("opened");
        let mut ways = addresses("rum", &spec, &tickets[0]);
        let nobody = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("listens");
        ways[dead] = nobody.local_addr().expect("an address");
        drop(nobody);
        let ticket = ticket_to_all("rum", &spec, 0, &ways);
        let mut end = RUM.accept(&spec, ticket).expect("accepted");
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
    let patience = std::time::Duration::from_millis(200);
    let rum = RumMedium {
        reconnect_timeout: patience,
    };
    let mut rails = Rails::new(&rails_spec(1), &rum, 9, [WHOLE, WHOLE]);
    rails.pass(100);
    rails.proxies.iter().for_each(Proxy::die);
    let (end, next) = &mut rails.ends[0];
    let lost = until("word of the sender's end", || loss(take(&mut **end, *next)));
    let word = format!("for {patience:?} no connection to ");
    assert!(lost.reason.contains(&word), "{}", lost.reason);
    let lost = until("word of the receiver's end", || loss(rails.out.claim(8)));
    let word = "nobody lives at 127.0.0.1:";
    assert!(lost.reason.contains(word), "{}", lost.reason);
}

/// On `tcp` an edge is lost with its last rail, as it is with its only connection.
#[test]
fn tcp_is_lost_with_its_last_rail() {
    let mut rails = Rails::new(&rails_spec(1), &TcpMedium, 12, [WHOLE, WHOLE]);
    rails.pass(100);
    rails.proxies[0].die();
    rails.pass(1000);
    rails.proxies[1].die();
    let (end, next) = &mut rails.ends[0];
    let lost = until("word of the sender's end", || loss(take(&mut **end, *next)));
    assert!(!lost.reason.contains("again"), "{}", lost.reason);
    let lost = until("word of the receiver's end", || loss(rails.out.claim(8)));
    assert_eq!(lost.receiver, Some(0), "{}", lost.reason);
}

/// A sender that is gone for good is lost at once, without waiting for the timeout.
#[test]
fn a_sender_that_listens_no_more_is_lost_at_once() {
    let spec = rails_spec(1);
    let (out, tickets) = RUM.open(&spec).expect("opened");
    let ticket = tickets.into_iter().next().expect("a ticket");
    let mut end = RUM.accept(&spec, ticket).expect("accepted");
    drop(out);
    until("word of the sender's end", || loss(end.poll()));
}

/// Rails need as many addresses in the ticket as the edge has, and a sender that has rails, too.
#[test]
fn tickets_of_other_rails_are_refused() {
    let spec = rails_spec(1);
    let (_out, tickets) = RUM.open(&spec).expect("opened");
    let ways = addresses("rum", &spec, &tickets[0]);
    let ticket = ticket_to_all("rum", &spec, 0, &ways[..1]);
    let said = RUM
        .accept(&spec, ticket)
        .err()
        .expect("refused")
        .to_string();
    assert!(
        said.ends_with("the ticket has 1 addresses, the edge has 2"),
        "{said}"
    );
    let direct = EdgeSpec {
        listen: Ipv4Addr::LOCALHOST.into(),
        ..spec.clone()
    };
    let ticket = ticket_to_all("rum", &direct, 0, &ways[..1]);
    let said = RUM
        .accept(&direct, ticket)
        .err()
        .expect("refused")
        .to_string();
    assert!(said.contains("speaks another protocol"), "{said}");
    let ticket = ticket_to_all("tcp", &spec, 0, &ways);
    let said = TcpMedium.accept(&spec, ticket).err().expect("refused");
    assert!(
        said.to_string().contains("speaks another protocol"),
        "{said}"
    );
}
