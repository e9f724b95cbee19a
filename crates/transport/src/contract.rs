//! The transport contract: the rules that every medium keeps.
//!
//! The calls are those of the Vega transport (Selo et al., "Adding Stream Processing System
//! Flexibility to Exploit Low-overhead Communication Systems", 2010), on claims rather than copies:
//! `claim` and `commit` (or `try_write`), `flush`, `poll`, `release`. No call blocks, and none
//! allocates once an edge is warm.
//!
//! # Rules
//! 1. Every receiver gets every frame once, whole, and in the order of the commits, whatever their
//!    kinds.
//! 2. `claim` returns `None` when there is no room. The caller then waits by an idle strategy, and
//!    by [`Waitable`] when it parks.
//! 3. Committed frames get out without a `flush`, soon: a lone frame at once, a frame among many
//!    with its batch. `flush` gets them out now.
//! 4. Frames that a sender committed before it dropped its end or died are delivered; after them
//!    `poll` reports that the sender is lost. A medium does not report an orderly end: the runtime
//!    sends a final marker.
//! 5. A receiver that is gone is not waited for any more. With several receivers the others go on;
//!    when the last one is gone, `claim` reports it.
//! 6. Dropping a sending end may lose frames that receivers have not taken (the memory of some
//!    media goes with it), so the runtime drops it once [`SendingEnd::is_drained`].

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ring::frame::FrameBatch;
use ring::grant::GrantAddresses;

use crate::{EdgeCounters, Error, ListenAddresses};

/// A medium: makes both ends of an edge.
pub trait Medium: Sync {
    /// Name of the medium in plans, such as `shm`.
    fn name(&self) -> &'static str;

    /// Capabilities of the medium, which decide for which edges it can be chosen.
    fn caps(&self) -> MediumCaps;

    /// Most rails over which a stream can be striped, each with an address of
    /// [`EdgeSpec::listen`]; 1: the medium, as it is set, has one path only.
    fn rails_max(&self) -> usize {
        1
    }

    /// Checks that a stream can have rails on the medium with its settings: by addresses, or by
    /// Multipath TCP.
    ///
    /// # Errors
    /// The medium has none.
    fn check_rails(&self, _is_mptcp: bool) -> Result<(), Error> {
        match self.rails_max() {
            2.. => Ok(()),
            _ => Err(Error::Refused(format!("{} has no rails", self.name()))),
        }
    }

    /// Checks whether the medium can work in this process.
    ///
    /// # Errors
    /// A library that the medium loads is not installed; the text names its package.
    fn check_available(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The settings that the medium has of its own.
    fn settings(&self) -> &'static [MediumSetting] {
        &[]
    }

    /// The medium with settings of its own: words `key=value`, with blanks between them.
    ///
    /// # Errors
    /// The medium has no such settings.
    fn with_settings(&'static self, settings: &str) -> Result<&'static dyn Medium, Error> {
        let name = self.name();
        Err(Error::Refused(format!(
            "{name} has no settings, so `{settings}` means nothing there"
        )))
    }

    /// File of the library that the medium is, if a user has written it: only its name selects it.
    fn library(&self) -> Option<&Path> {
        None
    }

    /// Cost of a frame as the medium's library states it; `None`: it states none.
    fn stated_cost(&self) -> Option<StatedCost> {
        None
    }

    /// How the medium works, in a few words without a full stop, for lists.
    fn description(&self) -> String {
        String::new()
    }

    /// Makes the sending end of an edge, and a ticket for each of its receivers. Does not wait for
    /// the receivers.
    ///
    /// # Errors
    /// The system has no memory, descriptor or port left, or the edge has too many receivers.
    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error>;

    /// Makes a receiving end from its ticket. Does not wait for the sending thread to act; it may
    /// wait for the sender's process to take a connection, a second at most.
    ///
    /// # Errors
    /// A garbled ticket, or one of another edge, is refused before anything is done with it: see
    /// [`EdgeTicket::unseal`]. A ticket that was used before is refused here or by the first polls.
    /// The sender may be gone.
    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error>;
}

/// Capabilities of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumCaps {
    /// Whether edges can cross processes; otherwise only threads of one process.
    pub crosses_processes: bool,
    /// Whether edges can cross hosts.
    pub crosses_hosts: bool,
    /// Whether bytes come from a network: the receiver then checks every tuple before it reads it.
    pub is_untrusted: bool,
    /// Whether one write serves several receivers.
    pub is_one_to_many: bool,
    /// Whether frames may wait for their batch, as [`EdgeSpec::batching`] says.
    pub is_batching: bool,
    /// Most receivers of an edge.
    pub receivers_max: u32,
    /// Whether the medium is for tests only: found by its name, but never chosen and in no list for
    /// users.
    pub is_for_tests: bool,
}

/// A setting of a medium's own: in plans a word `key=value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumSetting {
    /// The word before the equals sign.
    pub key: &'static str,
    /// The values that there are; empty if they are no words of a list.
    pub values: &'static [&'static str],
    /// The setting with a value, such as `mode=write`.
    pub example: &'static str,
}

/// Cost of a frame on a medium, as its author states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedCost {
    /// Nanoseconds for a frame without bytes.
    pub frame_ns: u32,
    /// Picoseconds for each byte.
    pub byte_ps: u32,
}

/// Description of an edge that both sides have.
#[derive(Clone, Debug)]
pub struct EdgeSpec {
    /// Name of the edge in messages, such as `Trades.0`.
    pub name: Arc<str>,
    /// Number of the edge in the plan: both sides of a connection name it.
    pub edge: u32,
    /// Number of receivers, at least 1.
    pub receiver_count: u32,
    /// Most bytes of frames that may be unreleased: the size of the ring, or of what a sender
    /// keeps.
    pub ring_bytes: usize,
    /// Settings for media that send frames in batches.
    pub batching: Batching,
    /// Secret of the job: a connection that does not show it is refused.
    pub token: [u8; 16],
    /// Addresses to listen on, for media that do: loopback unless the plan says otherwise, and
    /// several if the stream has rails.
    pub listen: ListenAddresses,
}

/// Conditions under which a batch goes out: it is full, the receiver is idle, or enough time has
/// passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// Time since the last batch went out, or since this batch's first frame if that came before,
    /// after which the sending thread sends a batch that is not full, with a frame that it commits.
    /// An idle receiver gets the batch sooner.
    pub time_min: Duration,
    /// Time since the batch's first frame after which a batch goes out without the sending thread;
    /// at least `time_min`. Up to 1 ms later for a thread that sent batch after batch by itself and
    /// stops without a flush.
    pub time_max: Duration,
    /// Bytes at which a batch is full.
    pub bytes_max: usize,
}

/// Bytes and descriptors with which a receiver reaches the sender.
#[derive(Debug, Default)]
pub struct EdgeTicket {
    /// Bytes written by the medium and sealed: see [`EdgeTicket::seal`].
    pub bytes: Vec<u8>,
    /// Descriptors handed over with the bytes.
    pub fds: Vec<OwnedFd>,
}

/// The sending end of an edge.
///
/// # Example
/// A full ring gives no room until the receiver returns credit by releasing:
/// ```
/// use thalweg_transport::{Batching, EdgeSpec, media};
///
/// # let spec = EdgeSpec {
/// #     name: "Trades.0".into(),
/// #     edge: 0,
/// #     receiver_count: 1,
/// #     ring_bytes: 4096,
/// #     batching: Batching::default(),
/// #     token: [7; 16],
/// #     listen: std::net::Ipv4Addr::LOCALHOST.into(),
/// # };
/// let medium = media::find("shm").expect("a medium of this name");
/// let (mut sender, mut tickets) = medium.open(&spec)?;
/// let mut receiver = medium.accept(&spec, tickets.remove(0))?;
/// while let Some(room) = sender.claim(1000)? {
///     room.fill(7);
///     sender.commit(1, 0, 1000);
/// }
/// assert!(sender.queued_bytes() > 3000);
/// while !receiver.poll()?.is_empty() {
///     receiver.release();
/// }
/// assert!(sender.claim(1000)?.is_some());
/// # Ok::<(), thalweg_transport::Error>(())
/// ```
pub trait SendingEnd: Waitable + Send {
    /// Most bytes of a frame's payload; larger tuples are split by [`fragment`](crate::fragment).
    fn payload_bytes_max(&self) -> usize;

    /// Claims room for a payload of `len` bytes, at an address that is a multiple of 8. `None`:
    /// there is none now. A claim that is not committed is forgotten by the next one, and no
    /// receiver sees it.
    ///
    /// # Errors
    /// `len` is above [`SendingEnd::payload_bytes_max`], or no receiver is left.
    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error>;

    /// Commits the first `len` bytes of the claim as a frame. The medium carries `kind` and `flags`
    /// unchanged. Kind 0 is padding, which receivers skip ([`ring::frame::PAD`]), so no frame has
    /// it. The run time's `edge::frame_kind` defines the other kinds, and
    /// [`fragment`](crate::fragment) the flags.
    ///
    /// # Panics
    /// A medium may panic if `len` bytes were not claimed, or if the kind is 0.
    fn commit(&mut self, kind: u8, flags: u8, len: usize);

    /// Claims room, copies the payload and commits it, with a kind and flags as for
    /// [`SendingEnd::commit`]. `false`: there is no room now.
    ///
    /// # Errors
    /// Like [`SendingEnd::claim`].
    fn try_write(&mut self, kind: u8, flags: u8, payload: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.claim(payload.len())? else {
            return Ok(false);
        };
        room[..payload.len()].copy_from_slice(payload);
        self.commit(kind, flags, payload.len());
        Ok(true)
    }

    /// Gets committed frames out of this end, where they may wait for their batch or for room in a
    /// socket. `false`: some are still here, call again. `true` does not say that receivers have
    /// them: see [`SendingEnd::is_drained`].
    ///
    /// # Errors
    /// The medium has failed; lost receivers are not an error here.
    fn flush(&mut self) -> Result<bool, Error>;

    /// Whether every living receiver has released every committed frame.
    ///
    /// # Errors
    /// The medium has failed.
    fn is_drained(&mut self) -> Result<bool, Error>;

    /// Bytes of frames that are committed and not yet released by the slowest receiver.
    fn queued_bytes(&self) -> usize;

    /// Numbers of the receivers that were noticed to be gone.
    fn lost_receivers(&self) -> &[u32];

    /// Addresses of the room that compiled code may fill with frames by itself, see
    /// [`ring::grant`]. Any call of this end may change the room or take it back, so code loads the
    /// words at the addresses again after each call; the addresses do not change. `None`: the
    /// medium grants no room, or each commit in its ring needs a fence.
    fn grant(&mut self) -> Option<GrantAddresses> {
        None
    }

    /// Shortens the room that is granted now to at most `bytes` bytes, so that this end is called
    /// for the frame behind them. A medium may ignore it. Must not be called between a claim and
    /// its commit.
    fn limit_grant(&mut self, _bytes: u64) {}

    /// Wakes the receivers that sleep. Owed after each frame that was written by way of the grant,
    /// if the word at [`GrantAddresses::asleep`] is not 0 once the frame is committed; does nothing
    /// if no receiver sleeps.
    fn wake_receivers(&mut self) {}

    /// Counters of this end, for export; `None`: it counts nothing.
    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        None
    }
}

/// The receiving end of an edge.
///
/// # Example
/// Frames that came before the sender was lost are delivered first:
/// ```
/// use thalweg_transport::{Batching, EdgeSpec, Error, media};
///
/// # let spec = EdgeSpec {
/// #     name: "Trades.0".into(),
/// #     edge: 0,
/// #     receiver_count: 1,
/// #     ring_bytes: 4096,
/// #     batching: Batching::default(),
/// #     token: [7; 16],
/// #     listen: std::net::Ipv4Addr::LOCALHOST.into(),
/// # };
/// let medium = media::find("shm").expect("a medium of this name");
/// let (mut sender, mut tickets) = medium.open(&spec)?;
/// let mut receiver = medium.accept(&spec, tickets.remove(0))?;
/// sender.try_write(1, 0, b"last words")?;
/// drop(sender);
/// let mut frames = 0;
/// let loss = loop {
///     match receiver.poll() {
///         Ok(batch) => frames += batch.count(),
///         Err(error) => break error,
///     }
///     receiver.release();
/// };
/// assert_eq!(frames, 1);
/// assert!(matches!(loss, Error::PeerLost(_)));
/// # Ok::<(), thalweg_transport::Error>(())
/// ```
pub trait ReceivingEnd: Waitable + Send {
    /// Returns the frames that have come and were not polled yet: whole frames, in place, valid
    /// until `release`. An empty batch: there is none now.
    ///
    /// # Errors
    /// The sender is lost or has broken the rules of the medium. Frames that came before are polled
    /// first.
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error>;

    /// Gives back the room of every frame polled so far, which the sender sees as credit. An end
    /// may withhold credit while the sender has room for each frame without it, until it was polled
    /// again some hundred times and found nothing, or is armed.
    fn release(&mut self);
}

/// An end that a thread can sleep on until it has work: room for a sender, frames for a receiver.
///
/// ```text
///   if end.arm()? { poll(2) on end.poll_fds() and other descriptors; } end.disarm();
/// ```
pub trait Waitable {
    /// Announces that the thread is about to sleep, so that the other side wakes it. `false`: there
    /// is work now, do not sleep. After `true` no work can come unnoticed.
    ///
    /// A sender arms after a claim that returned `None`; `true` means that the claim would still
    /// find no room. If the last claim found room, `arm` asks whether an empty payload has room,
    /// and returns `false` if so. Committed frames are flushed before, as far as the medium takes
    /// them. The loss of the last receiver is work too, which the next claim reports.
    ///
    /// # Errors
    /// The medium has failed.
    fn arm(&mut self) -> Result<bool, Error>;

    /// Takes the announcement back: the thread is awake.
    fn disarm(&mut self);

    /// Adds the descriptors to poll: those that become readable, and those that become writable.
    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        writable: &mut Vec<BorrowedFd<'a>>,
    );
}

impl Default for Batching {
    /// Values between the SPL report's settings for throughput (400 to 800 µs) and for latency (25
    /// to 50 µs); a lone frame waits for neither.
    fn default() -> Batching {
        Batching {
            time_min: Duration::from_micros(25),
            time_max: Duration::from_micros(50),
            bytes_max: 64 * 1024,
        }
    }
}
