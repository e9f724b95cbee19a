//! Connecting again after a break, until there is a connection or the sender is given up.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use crate::media::tcp_edge::connector::{EdgeConnectOutcome, EdgeConnector};
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::io_thread::Registration;
use crate::media::tcp_edge::receiver_connection::ConnectionPair;
use crate::media::tcp_edge::sender_address::SenderAddress;

/// Shortest pause between two tries to connect, used at first.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_millis(200);

/// Time after which a try without an answer is given up and the next one made.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);

/// Time for which a receiver tries to connect.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReconnectLimit {
    /// Until nothing listens at the address any more, or this time is over.
    GiveUpAfter(Duration),
    /// For ever: other rails carry the stream meanwhile.
    Never,
}

/// Tries to connect to a sender again.
pub(super) struct Reconnect {
    address: SenderAddress,
    handshake: Handshake,
    /// How the connection was lost.
    loss_reason: String,
    limit: ReconnectLimit,
    began_at: Instant,
    /// The current try to connect.
    connector: Option<EdgeConnector>,
    /// Time at which the current try is given up, or the next one begins.
    next_attempt_at: Instant,
    pause: Duration,
    /// How the last try has failed.
    last_failure: String,
}

impl Reconnect {
    /// Begins after a connection was lost, and goes on up to the limit.
    pub(super) fn new(
        address: SenderAddress,
        handshake: Handshake,
        why: String,
        limit: ReconnectLimit,
    ) -> Reconnect {
        let now = Instant::now();
        Reconnect {
            address,
            handshake,
            loss_reason: why,
            limit,
            began_at: now,
            connector: None,
            next_attempt_at: now,
            pause: RETRY_PAUSE_MIN,
            last_failure: "no answer".to_owned(),
        }
    }

    /// Time of the next turn, if nothing happens before.
    pub(super) fn next_turn_at(&self) -> Instant {
        match self.limit {
            ReconnectLimit::GiveUpAfter(time) => self.next_attempt_at.min(self.began_at + time),
            ReconnectLimit::Never => self.next_attempt_at,
        }
    }

    /// Goes on as far as possible without waiting. `None`: there is more to wait for.
    ///
    /// # Errors
    /// The reason why the sender is given up.
    pub(super) fn step(
        &mut self,
        registration: Registration,
        now: Instant,
    ) -> Result<Option<ConnectionPair>, String> {
        if self.next_attempt_at <= now {
            self.next_attempt_at = now + ATTEMPT_TIMEOUT;
            match EdgeConnector::start(self.address, self.handshake) {
                Ok(connector) => self.connector = Some(connector),
                Err(error) => self.fail_attempt(&error, now)?,
            }
        }
        match self.connector.as_mut().map(EdgeConnector::step) {
            None => {}
            Some(Ok(None)) => self.watch(registration),
            Some(Ok(Some(EdgeConnectOutcome::Connected(pair, _)))) => {
                registration.unwatch_fd(&pair.frames);
                registration.unwatch_fd(&pair.credit);
                return Ok(Some(pair));
            }
            Some(Ok(Some(EdgeConnectOutcome::Refused(why)))) => self.schedule_retry(why, now),
            Some(Err(error)) => self.fail_attempt(&error, now)?,
        }
        match self.limit {
            ReconnectLimit::GiveUpAfter(time) if self.began_at + time <= now => Err(format!(
                "{}, and for {time:?} no connection to {} could be made again: {}",
                self.loss_reason, self.address, self.last_failure
            )),
            _ => Ok(None),
        }
    }

    fn fail_attempt(&mut self, error: &io::Error, now: Instant) -> Result<(), String> {
        let is_limited = matches!(self.limit, ReconnectLimit::GiveUpAfter(_));
        if is_limited && error.kind() == io::ErrorKind::ConnectionRefused {
            let (why, address) = (&self.loss_reason, self.address);
            return Err(format!("{why}, and nobody listens on {address} any more"));
        }
        self.schedule_retry(error.to_string(), now);
        Ok(())
    }

    /// Notes that a try has failed.
    fn schedule_retry(&mut self, last: String, now: Instant) {
        self.last_failure = last;
        self.connector = None;
        self.next_attempt_at = now + self.pause;
        self.pause = (self.pause * 2).min(RETRY_PAUSE_MAX);
    }

    fn watch(&self, registration: Registration) {
        let Some((stream, writes)) = self
            .connector
            .as_ref()
            .and_then(EdgeConnector::awaited_stream)
        else {
            return;
        };
        let flags = match writes {
            true => EventFlags::OUT,
            false => EventFlags::IN,
        };
        // The socket is watched already, for other events.
        if registration.watch_fd(stream, flags).is_err() {
            registration.change_watch(stream, flags);
        }
    }
}
