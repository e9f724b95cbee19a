//! The transport contract: what every medium does, and what it may leave to others.
//!
//! The five calls of the Vega paper, on claims rather than copies: `claim`/`commit` (or `put`),
//! `flush`, `poll`, `release`. None of them blocks and none allocates once an edge is warm.
//!
//! # Rules
//! 1. Frames arrive at every receiver once, whole, and in order of their commits, whatever their
//!    kinds.
//! 2. `claim` says that there is no room by `None`; the caller waits by an idle strategy, with
//!    [`Waitable`] when it parks.
//! 3. What is committed gets out without a `flush`, soon: a lone frame at once, a frame among many
//!    with its batch. `flush` gets it out now.
//! 4. What a sender committed before it dropped its end or died is delivered; then `poll` says that
//!    the sender is lost. An orderly end is not the medium's business: the runtime sends a final
//!    marker.
//! 5. A receiver that is gone is no longer waited for. With several receivers the others go on;
//!    when the last one is gone, `claim` says so.
//! 6. Dropping an outbound end may lose what receivers have not taken (the memory of some media
//!    goes with it), so the runtime drops it when [`SendingEnd::is_drained`].

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use ring::frame::FrameBatch;
use ring::grant::GrantAddresses;

use crate::{EdgeCounters, Error};

/// A medium: how to make both ends of an edge.
pub trait Medium: Sync {
    /// The word for it in plans: `shm`.
    fn name(&self) -> &'static str;

    /// What it can do.
    fn caps(&self) -> MediumCaps;

    /// Makes the sending end, and a ticket for each receiver of the edge. It does not wait for
    /// them.
    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error>;

    /// Makes a receiving end from its ticket. It does not wait for the sender to act. A ticket that
    /// is garbled or of another edge is refused before anything is done with it, see
    /// [`EdgeTicket::unseal`]; one that was used before is refused here or by the first polls.
    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error>;
}

/// What a medium can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumCaps {
    /// Between processes; else only between threads of one.
    pub crosses_processes: bool,
    /// Between hosts.
    pub crosses_hosts: bool,
    /// Bytes come from a network: the receiver checks every tuple before it reads it.
    pub is_untrusted: bool,
    /// One write serves several receivers.
    pub is_one_to_many: bool,
    /// Frames may wait for their batch: what [`EdgeSpec::batching`] says counts.
    pub is_batching: bool,
    /// An edge has at most so many receivers.
    pub receivers_max: u32,
    /// For tests only: found by its name, but never chosen and not in any list for users.
    pub is_for_tests: bool,
}

/// An edge, as both sides know it.
#[derive(Clone, Debug)]
pub struct EdgeSpec {
    /// For messages: `Trades.0`.
    pub name: Arc<str>,
    /// Its number in the plan: both sides of a connection name it.
    pub edge: u32,
    /// How many receivers there are; at least 1.
    pub receiver_count: u32,
    /// Bytes that may be under way: the ring, or the retained window.
    pub ring_bytes: usize,
    /// How frames are put together, for media that batch.
    pub batching: Batching,
    /// The job's secret: a connection without it is refused.
    pub token: [u8; 16],
    /// Where to listen, for media that do: loopback unless the plan says otherwise.
    pub listen: std::net::IpAddr,
}

/// When a batch goes out: when it is large enough; when the receiver is idle; when its oldest frame
/// has waited long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// A batch that is not full waits at least so long for more, unless the receiver has nothing to
    /// do.
    pub time_min: Duration,
    /// And at most so long.
    pub time_max: Duration,
    /// A batch of so many bytes is full.
    pub bytes_max: usize,
}

/// What a receiver needs to reach the sender.
#[derive(Debug, Default)]
pub struct EdgeTicket {
    /// Whatever the medium wrote.
    pub bytes: Vec<u8>,
    /// Handed over with it.
    pub fds: Vec<OwnedFd>,
}

/// The sending end of an edge.
pub trait SendingEnd: Waitable + Send {
    /// The largest payload of a frame; larger tuples are fragmented.
    fn frame_bytes_max(&self) -> usize;

    /// Room for a payload of so many bytes, at an address that is a multiple of 8; `None`: not now.
    /// More than the medium's frame limit is refused. A claim that is not committed is forgotten by
    /// the next one, and never seen.
    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error>;

    /// The claim is written: the first `len` bytes of it are the frame.
    fn commit(&mut self, kind: u8, flags: u8, len: usize);

    /// Claim, copy and commit; `false`: no room now.
    fn put(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        room[..payload.len()].copy_from_slice(payload);
        self.commit(kind, flags, payload.len());
        Ok(true)
    }

    /// Gets out whatever is committed; `false`: some of it is still here, call again.
    fn flush(&mut self) -> Result<bool, Error>;

    /// Whether every receiver that is alive has released everything that was committed.
    fn is_drained(&mut self) -> Result<bool, Error>;

    /// Bytes that are committed and not yet released by the slowest receiver.
    fn queued_bytes(&self) -> usize;

    /// Receivers that were noticed to be gone, by number.
    fn lost_receivers(&self) -> &[u32];

    /// Room that compiled code may fill with frames by itself, if the medium is a ring: see
    /// [`ring::grant`]. Any call of this end may take the room back; the addresses stay what they
    /// are.
    fn grant(&mut self) -> Option<GrantAddresses> {
        None
    }

    /// Leaves at most so many bytes of the room that is granted now: whoever asks wants to be
    /// called for the frame behind them. A medium may do nothing. Not between a claim and its
    /// commit.
    fn limit_grant(&mut self, _bytes: u64) {}

    /// A frame was written by way of the grant, and somebody sleeps who wants it.
    fn wake_receivers(&mut self) {}

    /// What it counts, for whoever exports it; `None`: nothing.
    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        None
    }
}

/// The receiving end of an edge.
pub trait ReceivingEnd: Waitable + Send {
    /// What has come and was not yet polled: whole frames, in place. An empty batch: nothing now.
    /// Valid until `release`.
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error>;

    /// Gives back the room of everything that was polled.
    fn release(&mut self);
}

/// How a thread sleeps until an end has work for it: room (outbound) or frames (inbound).
///
/// ```text
///   if end.arm()? { poll(2) on end.sources() and whatever else; } end.disarm();
/// ```
pub trait Waitable {
    /// Says that the thread is about to sleep, so that the other side wakes it. `false`: there is
    /// work now, do not sleep. After `true` no work can come unnoticed. For a sender, work is room
    /// for the last claim, so there is work if it found room; whatever it has committed gets out
    /// first.
    fn arm(&mut self) -> Result<bool, Error>;

    /// The thread is awake again.
    fn disarm(&mut self);

    /// What to poll: descriptors that become readable, and those that become writable.
    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    );
}

impl Default for Batching {
    /// The middle between the report's settings for throughput (400 to 800 µs) and latency (25 to
    /// 50 µs); a lone frame waits for neither.
    fn default() -> Batching {
        Batching {
            time_min: Duration::from_micros(25),
            time_max: Duration::from_micros(50),
            bytes_max: 64 * 1024,
        }
    }
}
