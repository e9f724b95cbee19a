//! Gathering of ranks: PE 0 tells them where the launcher listens, and each connects three times.
//!
//! Until a connection has shown the secret of the job, it is a *pending* one: their number and time
//! are bounded, and nothing but the handshake is read from them. When all ranks have connected,
//! nobody else can.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use graph::PeId;
use runtime::StopSignal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::job_outcome::{FailureCause, JobOutcome, ProcessExit};
use super::pe_child::{OutputPipes, PeChild};
use super::rank_listeners::{AcceptedSocket, RankListeners};
use super::requests::LauncherRequests;
use crate::control::connection::with_retries;
use crate::control::{HANDSHAKE_BYTES, MessageFromPe, RankContact, RankSocketKind};
use crate::part::{PeEnding, PeFailure};

/// Connections without a whole handshake, besides three for each rank.
const PENDING_EXTRA: usize = 16;

/// Time for a handshake, which comes with the connection.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads from PE 0 in a row.
const READS_MAX: usize = 16;

/// A connection, perhaps of a rank, that has not shown the secret of the job.
struct PendingRank {
    accepted: AcceptedSocket,
    bytes: [u8; HANDSHAKE_BYTES],
    len: usize,
    deadline: Instant,
}

/// The sockets of a rank, as far as they have come.
#[derive(Default)]
struct RankSockets {
    by_kind: [Option<OwnedFd>; RankSocketKind::ALL.len()],
    addresses: Option<(IpAddr, IpAddr)>,
}

/// A rank that has connected.
pub struct GatheredRank {
    /// The PE of the rank.
    pub child: PeChild,
    /// Standard output and error of the rank.
    pub pipes: OutputPipes,
    /// Addresses of the rank and of the launcher's side, if the rank is on another host.
    pub addresses: Option<(IpAddr, IpAddr)>,
}

/// Ranks that are being gathered.
pub struct RankGathering<'a> {
    pub contact: &'a RankContact,
    pub listeners: RankListeners,
    pub requests: &'a LauncherRequests,
    pub stop: &'a StopSignal,
}

impl RankGathering<'_> {
    /// Waits until all ranks above 0 have connected. `first` is PE 0, which has the contact.
    ///
    /// # Errors
    /// The outcome of the job, if PE 0 has failed or a shutdown was asked for.
    pub fn gather(self, first: &mut PeChild) -> Result<Vec<GatheredRank>, JobOutcome> {
        let mut sockets: Vec<RankSockets> = Vec::new();
        sockets.resize_with(self.contact.rank_count as usize - 1, RankSockets::default);
        let mut pending: Vec<PendingRank> = Vec::new();
        while !sockets.iter().all(RankSockets::is_complete) {
            let failed = |error: Errno| failure(format!("cannot watch the ranks: {error}"));
            let flushed = first.sender.flush();
            flushed.map_err(|error| failure(format!("cannot reach pe 0: {error}")))?;
            self.wait(first, &pending).map_err(failed)?;
            self.check_first(first)?;
            let room = (3 * sockets.len() + PENDING_EXTRA).saturating_sub(pending.len());
            for accepted in self.listeners.accept(room.max(1)) {
                let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
                let (bytes, len) = ([0; HANDSHAKE_BYTES], 0);
                pending.push(PendingRank {
                    accepted,
                    bytes,
                    len,
                    deadline,
                });
            }
            pending = self.take_handshakes(pending, &mut sockets);
        }
        Ok(sockets
            .into_iter()
            .filter_map(RankSockets::into_rank)
            .collect())
    }

    /// Waits until something may have changed.
    fn wait(&self, first: &PeChild, pending: &[PendingRank]) -> Result<(), Errno> {
        let mut fds = vec![PollFd::new(&self.requests.wakeup, PollFlags::IN)];
        let entries = first.poll_entries();
        fds.extend(entries.map(|(fd, flags, _)| PollFd::from_borrowed_fd(fd, flags)));
        let listeners = self.listeners.fds();
        fds.extend(listeners.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let sockets = pending.iter().map(|one| &one.accepted.socket);
        fds.extend(sockets.map(|socket| PollFd::new(socket, PollFlags::IN)));
        let now = Instant::now();
        let deadlines = pending
            .iter()
            .map(|one| one.deadline.saturating_duration_since(now));
        let left = deadlines.chain(first.sender.retry_after()).min();
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        with_retries(|| poll(&mut fds, left.as_ref())).map(drop)
    }

    /// Checks that PE 0 goes on, and that no shutdown was asked for.
    fn check_first(&self, first: &mut PeChild) -> Result<(), JobOutcome> {
        self.requests.wakeup.clear();
        if self.stop.is_requested() {
            let why = "a shutdown was asked for before the ranks had come together";
            return Err(failure(why.to_owned()));
        }
        let is_closed = !matches!(first.read_messages(READS_MAX), Ok(false));
        // The only message of PE 0 at this time says that it has failed.
        let cause = match first.receiver.try_recv::<MessageFromPe>() {
            Ok(Some((MessageFromPe::Ended(ending), _))) => FailureCause::Reported(ending),
            Ok(None) if !is_closed => return Ok(()),
            Ok(None) => FailureCause::Died(match first.wait_at_most(HANDSHAKE_TIMEOUT) {
                true => first.wait(),
                false => ProcessExit::Unknown,
            }),
            Ok(Some(_)) => FailureCause::ProtocolError("a step before the first".to_owned()),
            Err(error) => FailureCause::ProtocolError(error.to_string()),
        };
        let mut outcome = JobOutcome::default();
        outcome.add(PeId(0), cause);
        Err(outcome)
    }

    /// Reads the handshakes that have come; returns the connections of which more is to come.
    fn take_handshakes(
        &self,
        pending: Vec<PendingRank>,
        sockets: &mut [RankSockets],
    ) -> Vec<PendingRank> {
        let mut left = Vec::new();
        for mut one in pending {
            match one.read() {
                Some(true) => self.admit(one, sockets),
                Some(false) if Instant::now() < one.deadline => left.push(one),
                _ => {}
            }
        }
        left
    }

    /// Answers a connection that has shown the secret, and notes whose it is. Others are closed.
    fn admit(&self, one: PendingRank, sockets: &mut [RankSockets]) {
        let Some(handshake) = self.contact.decode_handshake(&one.bytes) else {
            return;
        };
        let rank = &mut sockets[handshake.rank as usize - 1];
        let socket = one.accepted.socket;
        let answer = &self.contact.answer[..];
        let sent = send(&socket, answer, SendFlags::NOSIGNAL);
        let place = &mut rank.by_kind[handshake.kind as usize];
        if sent == Ok(answer.len()) && place.is_none() {
            *place = Some(socket);
            rank.addresses = one.accepted.addresses;
        }
    }
}

impl PendingRank {
    /// Reads from the handshake; whether it is whole. `None`: the connection has ended.
    fn read(&mut self) -> Option<bool> {
        while self.len < HANDSHAKE_BYTES {
            let room = &mut self.bytes[self.len..];
            match recv(&self.accepted.socket, room, RecvFlags::empty()) {
                Ok((0, _)) => return None,
                Ok((count, _)) => self.len += count,
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Some(false),
                Err(_) => return None,
            }
        }
        Some(true)
    }
}

impl RankSockets {
    fn is_complete(&self) -> bool {
        self.by_kind.iter().all(Option::is_some)
    }

    fn into_rank(self) -> Option<GatheredRank> {
        let [Some(control), Some(stdout), Some(stderr)] = self.by_kind else {
            return None;
        };
        // The threads that forward output wait for it.
        for output in [&stdout, &stderr] {
            rustix::io::ioctl_fionbio(output, false).ok()?;
        }
        Some(GatheredRank {
            child: PeChild::of_rank(control),
            pipes: OutputPipes { stdout, stderr },
            addresses: self.addresses,
        })
    }
}

/// The outcome of a job that failed before it had ranks.
fn failure(line: String) -> JobOutcome {
    let failures = vec![PeFailure {
        line,
        ..PeFailure::default()
    }];
    let mut outcome = JobOutcome::default();
    outcome.add(
        PeId(0),
        FailureCause::Reported(PeEnding {
            failures,
            ..PeEnding::default()
        }),
    );
    outcome
}
