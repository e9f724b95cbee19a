//! Tickets that the shared-memory medium refuses before it maps anything, and losses that it
//! notices.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::io::pwrite;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socketpair};
use thalweg_transport::{Batching, EdgeSpec, EdgeTicket, Error, Medium, media};

/// Longest time that any step may take; longer means that it hangs.
const PATIENCE: Duration = Duration::from_secs(300);

fn shm() -> &'static dyn Medium {
    media::find("shm").expect("shm is registered")
}

fn spec(receivers: u32) -> EdgeSpec {
    EdgeSpec {
        name: "Trades.0".into(),
        edge: 3,
        receiver_count: receivers,
        ring_bytes: 1 << 16,
        batching: Batching::default(),
        token: *b"sixteen secret b",
        listen: Ipv4Addr::LOCALHOST.into(),
    }
}

/// A ticket that is right in every way except that its memory is this one.
fn ticket_for(memory: OwnedFd) -> (EdgeTicket, OwnedFd) {
    let stat = fstat(&memory).unwrap();
    let own = [stat.st_dev.to_le_bytes(), stat.st_ino.to_le_bytes()].concat();
    let mut ticket = EdgeTicket::seal("shm", &spec(1), 0, &own);
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    send(&ours, &ticket.bytes, SendFlags::NOSIGNAL).unwrap();
    ticket.fds = vec![memory, theirs];
    (ticket, ours)
}

fn memory(bytes: u64, seals: SealFlags) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = memfd_create("test", flags).unwrap();
    ftruncate(&fd, bytes).unwrap();
    fcntl_add_seals(&fd, seals).unwrap();
    fd
}

fn refusal(ticket: EdgeTicket) -> String {
    match shm().accept(&spec(1), ticket) {
        Err(Error::Refused(why)) => why,
        Err(error) => panic!("not refused, but failed: {error}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn memory_that_is_no_ring_is_refused() {
    let whole = SealFlags::SHRINK | SealFlags::GROW;
    let (short, _alive) = ticket_for(memory(16, whole));
    assert_eq!(
        refusal(short),
        "Trades.0: not a ring: a file of 16 bytes cannot be one"
    );
    let (empty, _alive) = ticket_for(memory(1 << 17, whole));
    assert!(refusal(empty).contains("not a ring: it begins with 0x0000000000000000"));
    let (unsealed, _alive) = ticket_for(memory(1 << 17, SealFlags::empty()));
    let why = "Trades.0: not a ring: its file is not sealed against shrinking and growing";
    assert_eq!(refusal(unsealed), why);
    let (half_sealed, _alive) = ticket_for(memory(1 << 17, SealFlags::GROW));
    assert_eq!(refusal(half_sealed), why);
    let (named, _alive) = ticket_for(File::open("/dev/zero").unwrap().into());
    assert_eq!(refusal(named), why);
}

#[test]
fn descriptors_that_do_not_belong_to_the_ticket_are_refused() {
    let open = || shm().open(&spec(1)).unwrap();
    let (_out, mut tickets) = open();
    let (_other_out, mut others) = open();
    let (mut ticket, mut other) = (tickets.remove(0), others.remove(0));
    std::mem::swap(&mut ticket.fds[0], &mut other.fds[0]);
    assert_eq!(
        refusal(ticket),
        "Trades.0: the memory is not the one that the ticket means"
    );
    other.fds.swap(0, 1);
    assert_eq!(
        refusal(other),
        "Trades.0: the ticket came without a lifeline"
    );
}

#[test]
fn a_receiver_of_another_number_is_refused() {
    let (_out, mut tickets) = shm().open(&spec(2)).unwrap();
    let (second, mut first) = (tickets.remove(1), tickets.remove(0));
    first.bytes = second.bytes;
    let why = match shm().accept(&spec(2), first) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("not refused"),
    };
    assert_eq!(why, "Trades.0: the ticket was used before");
}

#[test]
fn a_ticket_that_nobody_uses_is_a_receiver_that_is_gone() {
    let (mut out, tickets) = shm().open(&spec(1)).unwrap();
    drop(tickets);
    let start = Instant::now();
    let lost = loop {
        match out.try_write(1, 0, &[0; 1000]) {
            Ok(_) => assert!(start.elapsed() < PATIENCE, "not noticed"),
            Err(error) => break error,
        }
    };
    assert_eq!(
        lost.to_string(),
        "receiver 0 is gone: its process has ended"
    );
}

/// Losses are noticed without traffic, too: a sender that only flushes is told by its next claim.
#[test]
fn a_sender_that_has_room_and_sends_nothing_notices() {
    let (mut out, tickets) = shm().open(&spec(1)).unwrap();
    drop(tickets);
    let start = Instant::now();
    while out.claim(8).is_ok() {
        out.flush().unwrap();
        assert!(start.elapsed() < PATIENCE, "not noticed");
    }
}

/// Offset of the first frame in the memory of a ring with one receiver.
const FIRST_FRAME: u64 = 4096;

#[test]
fn a_last_frame_that_is_torn_is_no_end() {
    let (mut sender, mut tickets) = shm().open(&spec(1)).unwrap();
    let ticket = tickets.remove(0);
    let memory = ticket.fds[0].try_clone().unwrap();
    let mut receiver = shm().accept(&spec(1), ticket).unwrap();
    assert!(receiver.poll().unwrap().is_empty());
    sender.claim(8).unwrap().expect("room").fill(1);
    sender.commit(1, 0, 8);
    drop(sender);
    pwrite(&memory, &u64::MAX.to_ne_bytes(), FIRST_FRAME).unwrap();
    // The receiver knows that the sender is gone before it comes to the frame.
    assert_eq!(receiver.poll().unwrap().count(), 0);
    assert!(receiver.poll().unwrap().is_empty());
    for _ in 0..2 {
        let end = receiver.poll().map(|batch| batch.count());
        let Err(Error::Refused(why)) = end else {
            panic!("not refused: {end:?}");
        };
        assert!(why.contains("a broken ring: at 0 is no frame"), "{why}");
    }
}

#[test]
fn the_memory_has_no_name_and_is_sealed() {
    let (_out, tickets) = shm().open(&spec(1)).unwrap();
    let memory = tickets[0].fds[0].as_fd();
    let seals = rustix::fs::fcntl_get_seals(memory).unwrap();
    assert!(seals.contains(SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL));
    assert_eq!(fstat(memory).unwrap().st_nlink, 0);
}
