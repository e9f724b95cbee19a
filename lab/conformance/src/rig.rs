//! The rig: opens edges of the medium under test, and sends and receives numbered frames on them.
//!
//! Every step is retried until the rig's time limit, so that one thread can play both sides of an
//! edge, and a medium that lost something fails instead of hanging.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use transport::{
    Batching, EdgeSpec, EdgeTicket, Error, Medium, ReceivingEnd, SendingEnd, Waitable,
};

use crate::child::{TestFailure, TestOutcome};
use crate::ensure;
use crate::script::Script;

/// Ring bytes of most edges here: few, so that they run full and wrap soon.
pub const RING_BYTES: usize = 64 * 1024;

/// Most bytes that a medium holds before it must report that it is full; network media have the
/// buffers of the system besides their own.
const FULL_BYTES: u64 = 64 << 20;

/// Claims without room in a row that mean that the edge is full, not busy.
const FULL_TRIES: u32 = 200;

/// Attempts of a step before the thread sleeps between them, so that it leaves the processor to
/// other threads and processes of the tests.
const SPINS_MAX: u32 = 1000;

/// Time between two attempts after that: 50 µs.
const RETRY_PAUSE: Duration = Duration::from_micros(50);

/// A medium under test and its time limit.
#[derive(Clone, Copy)]
pub struct Rig {
    /// The medium under test.
    pub medium: &'static dyn Medium,
    /// Most time that any step may take.
    pub patience: Duration,
}

/// All ends of an edge.
pub struct RigEdge {
    /// The edge's sending end.
    pub sender: Sender,
    /// The edge's receiving ends, by number.
    pub receivers: Vec<Receiver>,
}

/// A sending end and the number of frames that it has committed.
pub struct Sender {
    /// The sending end itself.
    pub out: Box<dyn SendingEnd>,
    /// Number of committed frames.
    pub sent: u64,
    script: Script,
    rig: Rig,
}

/// A receiving end and the number of frames that it has checked.
pub struct Receiver {
    /// The receiving end itself.
    pub end: Box<dyn ReceivingEnd>,
    /// Number of frames that were right.
    pub got: u64,
    script: Script,
    rig: Rig,
}

/// A loopback address that no other edge has. The port of a killed sender may be given to the
/// sender of another test at once, and a receiver that looks for the dead sender must not find that
/// one.
fn own_address(link: u32) -> IpAddr {
    let [.., high, low] = std::process::id().to_be_bytes();
    let last = (link % 254) as u8 + 1;
    IpAddr::V4(Ipv4Addr::new(127, high, low, last))
}

/// A test of a medium: its name, and the function that runs it.
pub type MediumTest = (&'static str, fn(Rig) -> TestOutcome);

impl Rig {
    /// Whether compiled code may write frames in place.
    pub fn has_grant(&self) -> bool {
        let opened = self.medium.open(&self.spec(1));
        opened.is_ok_and(|(mut out, _)| out.grant().is_some())
    }

    /// Description of a new edge with `receivers` receivers.
    pub fn spec(&self, receivers: u32) -> EdgeSpec {
        static LINK: AtomicU32 = AtomicU32::new(1);
        let link = LINK.fetch_add(1, Ordering::Relaxed);
        EdgeSpec {
            name: "Trades.0".into(),
            edge: link,
            receiver_count: receivers,
            ring_bytes: RING_BYTES,
            batching: Batching::default(),
            token: *b"sixteen secret b",
            listen: own_address(link).into(),
        }
    }

    /// Opens an edge and accepts every ticket.
    pub fn edge(&self, receivers: u32, script: Script) -> Result<RigEdge, TestFailure> {
        self.edge_of(&self.spec(receivers), script)
    }

    /// Opens the edge of a specification and accepts every ticket.
    pub fn edge_of(&self, spec: &EdgeSpec, script: Script) -> Result<RigEdge, TestFailure> {
        let (sender, tickets) = self.open(spec, script)?;
        let accept = |ticket| self.accept(spec, ticket, script);
        let receivers = tickets.into_iter().map(accept).collect::<Result<_, _>>()?;
        Ok(RigEdge { sender, receivers })
    }

    /// Opens the sending end.
    pub fn open(
        &self,
        spec: &EdgeSpec,
        script: Script,
    ) -> Result<(Sender, Vec<EdgeTicket>), TestFailure> {
        let (out, tickets) = self.medium.open(spec)?;
        ensure!(
            tickets.len() == spec.receiver_count as usize,
            "{} tickets for {} receivers",
            tickets.len(),
            spec.receiver_count
        );
        Ok((self.sender(out, script), tickets))
    }

    /// Makes a receiving end.
    pub fn accept(
        &self,
        spec: &EdgeSpec,
        ticket: EdgeTicket,
        script: Script,
    ) -> Result<Receiver, TestFailure> {
        Ok(Receiver {
            end: self.medium.accept(spec, ticket)?,
            got: 0,
            script,
            rig: *self,
        })
    }

    fn sender(&self, out: Box<dyn SendingEnd>, script: Script) -> Sender {
        Sender {
            out,
            sent: 0,
            script,
            rig: *self,
        }
    }

    /// Retries until there is an answer.
    pub fn until<T>(
        &self,
        what: &str,
        mut attempt: impl FnMut() -> Result<Option<T>, TestFailure>,
    ) -> Result<T, TestFailure> {
        let (start, mut spins) = (Instant::now(), 0);
        loop {
            if let Some(answer) = attempt()? {
                return Ok(answer);
            }
            ensure!(
                start.elapsed() < self.patience,
                "in {:?} never: {what}",
                self.patience
            );
            if spins < SPINS_MAX {
                spins += 1;
                std::thread::yield_now();
            } else {
                std::thread::sleep(RETRY_PAUSE);
            }
        }
    }

    /// Sleeps, the way a duty cycle does, until there may be work.
    pub fn sleep<E: Waitable + ?Sized>(&self, end: &mut E) -> TestOutcome {
        let is_awake = !end.arm()? || is_ready(end, self.patience)?;
        end.disarm();
        ensure!(is_awake, "slept for {:?} with work to do", self.patience);
        Ok(())
    }

    /// Sleeps until there may be work for either.
    pub fn sleep_on_both(
        &self,
        out: &mut dyn SendingEnd,
        end: &mut dyn ReceivingEnd,
    ) -> TestOutcome {
        let is_asleep = out.arm()? && end.arm()?;
        let is_awake = !is_asleep || any_ready(&[&*out, &*end], self.patience)?;
        out.disarm();
        end.disarm();
        ensure!(is_awake, "slept for {:?} with work to do", self.patience);
        Ok(())
    }

    /// Sleeps until the condition holds.
    pub fn asleep_until<E: Waitable + ?Sized>(
        &self,
        what: &str,
        end: &mut E,
        mut attempt: impl FnMut(&mut E) -> Result<bool, TestFailure>,
    ) -> TestOutcome {
        let start = Instant::now();
        while !attempt(end)? {
            ensure!(
                start.elapsed() < self.patience,
                "in {:?} never: {what}",
                self.patience
            );
            self.sleep(end)?;
        }
        Ok(())
    }
}

impl RigEdge {
    /// Sends `count` frames and receives them at every end, as there is room.
    pub fn pass(&mut self, count: u64) -> TestOutcome {
        let (rig, until) = (self.sender.rig, self.sender.sent + count);
        rig.until("the last frame", || {
            let mut is_busy = true;
            while is_busy && self.sender.sent < until {
                is_busy = self.sender.try_put()?;
            }
            let is_out = self.sender.sent == until && self.sender.out.flush()?;
            for receiver in &mut self.receivers {
                receiver.take()?;
            }
            let has_all = |receiver: &Receiver| receiver.got == until;
            Ok((is_out && self.receivers.iter().all(has_all)).then_some(()))
        })
    }

    /// Waits until every sent frame is received and released.
    pub fn drain(&mut self) -> TestOutcome {
        self.pass(0)?;
        self.sender.drained(&mut self.receivers)
    }

    /// Checks that every receiver gets exactly the frames that were sent.
    pub fn ends(self) -> TestOutcome {
        let sent = self.sender.sent;
        drop(self.sender);
        self.receivers.into_iter().try_for_each(|mut receiver| {
            receiver.until_lost()?;
            ensure!(
                receiver.got == sent,
                "{} of {sent} frames came",
                receiver.got
            );
            Ok(())
        })
    }
}

impl Sender {
    /// Script that the frames of the edge follow.
    pub fn script(&self) -> Script {
        self.script
    }

    /// Sleeps until there may be room.
    pub fn sleep(&mut self) -> TestOutcome {
        self.rig.sleep(&mut *self.out)
    }

    /// Commits the next frame. `false`: there is no room now.
    pub fn try_put(&mut self) -> Result<bool, TestFailure> {
        let is_put = self.script.put(&mut *self.out, self.sent)?;
        self.sent += u64::from(is_put);
        Ok(is_put)
    }

    /// Commits `count` frames, asleep while there is no room.
    pub fn put_asleep(&mut self, count: u64) -> TestOutcome {
        let until = self.sent + count;
        while self.sent < until {
            if !self.try_put()? {
                self.sleep()?;
            }
        }
        Ok(())
    }

    /// Commits `count` frames, waiting for room.
    pub fn put(&mut self, count: u64) -> TestOutcome {
        let rig = self.rig;
        (0..count).try_for_each(|_| rig.until("room", || Ok(self.try_put()?.then_some(()))))
    }

    /// Flushes until every committed frame is out.
    pub fn flush(&mut self) -> TestOutcome {
        let rig = self.rig;
        rig.until("everything out", || Ok(self.out.flush()?.then_some(())))
    }

    /// Commits frames until there is no room.
    pub fn fill(&mut self) -> TestOutcome {
        let (start, mut bytes, mut refusals) = (Instant::now(), 0, 0);
        while refusals < FULL_TRIES {
            if self.try_put()? {
                bytes += 8 + self.script.len(self.sent - 1) as u64;
                refusals = 0;
            } else {
                self.out.flush()?;
                refusals += 1;
            }
            let is_endless = bytes > FULL_BYTES || start.elapsed() > self.rig.patience;
            ensure!(!is_endless, "{bytes} bytes are under way and it takes more");
        }
        Ok(())
    }

    /// Waits until every living receiver has released every frame. Those of this thread are polled
    /// meanwhile, since a receiver may withhold credit until its polls find nothing.
    pub fn drained(&mut self, receivers: &mut [Receiver]) -> TestOutcome {
        let rig = self.rig;
        let out = &mut self.out;
        rig.until("drained", || {
            for receiver in &mut *receivers {
                receiver.take()?;
            }
            out.flush()?;
            Ok(out.is_drained()?.then_some(()))
        })
    }

    /// Claims, and commits nothing, until the loss of the last receiver is reported.
    pub fn until_claims_tell(&mut self) -> TestOutcome {
        let out = &mut self.out;
        self.rig
            .until("word of the last receiver's end by claims", || {
                match out.claim(8) {
                    Ok(_) => Ok(None),
                    Err(Error::PeerLost(_)) => Ok(Some(())),
                    Err(error) => Err(error.into()),
                }
            })
    }

    /// Goes on sending until the loss of the last receiver is reported.
    pub fn until_lost(&mut self) -> TestOutcome {
        let rig = self.rig;
        rig.until("word of the last receiver's end", || {
            match self.script.put(&mut *self.out, self.sent) {
                Ok(is_put) => self.sent += u64::from(is_put),
                Err(Error::PeerLost(_)) => return Ok(Some(())),
                Err(error) => return Err(error.into()),
            }
            Ok(None)
        })
    }
}

impl Receiver {
    /// Polls once, checks the frames and releases them.
    pub fn take(&mut self) -> Result<u64, TestFailure> {
        let count = self.poll()?;
        self.end.release();
        Ok(count)
    }

    /// Polls once and checks the frames.
    pub fn poll(&mut self) -> Result<u64, TestFailure> {
        let before = self.got;
        for frame in self.end.poll()? {
            self.script.check(self.got, frame)?;
            self.got += 1;
        }
        Ok(self.got - before)
    }

    /// Takes frames until there were `count`, however long that takes as long as some come.
    pub fn take_until(&mut self, count: u64) -> TestOutcome {
        let rig = self.rig;
        self.take()?;
        while self.got < count {
            rig.until("a frame that was sent", || {
                Ok((self.take()? > 0).then_some(()))
            })?;
        }
        Ok(())
    }

    /// Takes frames until there were `count`, asleep in between.
    pub fn take_asleep_until(&mut self, count: u64) -> TestOutcome {
        self.take()?;
        while self.got < count {
            self.rig.sleep(&mut *self.end)?;
            self.take()?;
        }
        Ok(())
    }

    /// Takes frames until the sender is lost.
    pub fn until_lost(&mut self) -> TestOutcome {
        let rig = self.rig;
        rig.until("word of the sender's end", || match self.take() {
            Ok(_) => Ok(None),
            Err(failure) => lost(failure).map(Some),
        })
    }
}

/// Succeeds for a failure that reports that the other side is gone.
pub fn lost(failure: TestFailure) -> TestOutcome {
    match failure.downcast_ref::<Error>() {
        Some(Error::PeerLost(_)) => Ok(()),
        _ => Err(failure),
    }
}

/// Whether a descriptor of the end becomes ready within `patience`.
pub fn is_ready<E: Waitable + ?Sized>(end: &E, patience: Duration) -> Result<bool, TestFailure> {
    let (mut readable, mut writable) = (Vec::new(), Vec::new());
    end.poll_fds(&mut readable, &mut writable);
    wait_for(&readable, &writable, patience)
}

/// Whether a descriptor of any of the ends becomes ready within `patience`.
fn any_ready(ends: &[&dyn Waitable], patience: Duration) -> Result<bool, TestFailure> {
    let (mut readable, mut writable) = (Vec::new(), Vec::new());
    for end in ends {
        end.poll_fds(&mut readable, &mut writable);
    }
    wait_for(&readable, &writable, patience)
}

fn wait_for(
    readable: &[BorrowedFd<'_>],
    writable: &[BorrowedFd<'_>],
    patience: Duration,
) -> Result<bool, TestFailure> {
    ensure!(
        !readable.is_empty() || !writable.is_empty(),
        "an armed end without anything to poll"
    );
    let readable = readable.iter().map(|fd| PollFd::new(fd, PollFlags::IN));
    let writable = writable.iter().map(|fd| PollFd::new(fd, PollFlags::OUT));
    let mut sources: Vec<_> = readable.chain(writable).collect();
    let patience = Timespec::try_from(patience)?;
    Ok(poll(&mut sources, Some(&patience))? > 0)
}
