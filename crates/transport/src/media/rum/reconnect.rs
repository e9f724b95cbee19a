//! Connecting again: dials until there is a connection, or no hope.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use crate::media::tcp_edge::connector::{EdgeConnectOutcome, EdgeConnector};
use crate::media::tcp_edge::handshake::Handshake;
use crate::media::tcp_edge::io_thread::Registration;
use crate::media::tcp_edge::receiver_connection::ConnectionPair;

/// Between two tries to connect: at first, and at most.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_millis(200);

/// A try without an answer is given up after so long, and the next one made.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);

/// Tries to connect to a sender.
pub(super) struct Reconnect {
    address: SocketAddr,
    handshake: Handshake,
    /// How the connection was lost.
    loss_reason: String,
    reconnect_timeout: Duration,
    /// When there is no hope any more.
    give_up_at: Instant,
    /// The try under way.
    connector: Option<EdgeConnector>,
    /// When it is given up, or the next one begins.
    next_attempt_at: Instant,
    pause: Duration,
    /// What came of the last one.
    last_failure: String,
}

impl Reconnect {
    /// After a connection was lost, for a while.
    pub(super) fn new(
        address: SocketAddr,
        handshake: Handshake,
        why: String,
        patience: Duration,
    ) -> Reconnect {
        let now = Instant::now();
        Reconnect {
            address,
            handshake,
            loss_reason: why,
            reconnect_timeout: patience,
            give_up_at: now + patience,
            connector: None,
            next_attempt_at: now,
            pause: RETRY_PAUSE_MIN,
            last_failure: "no answer".to_owned(),
        }
    }

    /// When to come back, if nothing happens before.
    pub(super) fn next_turn_at(&self) -> Instant {
        self.next_attempt_at.min(self.give_up_at)
    }

    /// A step. `None`: there is more to wait for.
    ///
    /// # Errors
    /// There is no hope: why.
    pub(super) fn step(
        &mut self,
        registration: Registration,
        now: Instant,
    ) -> Result<Option<ConnectionPair>, String> {
        if self.next_attempt_at <= now {
            self.next_attempt_at = now + ATTEMPT_TIMEOUT;
            match EdgeConnector::start(self.address, self.handshake) {
                Ok(dial) => self.connector = Some(dial),
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
        if self.give_up_at > now {
            return Ok(None);
        }
        Err(format!(
            "{}, and for {:?} no connection to {} could be made again: {}",
            self.loss_reason, self.reconnect_timeout, self.address, self.last_failure
        ))
    }

    fn fail_attempt(&mut self, error: &io::Error, now: Instant) -> Result<(), String> {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            let (why, address) = (&self.loss_reason, self.address);
            return Err(format!("{why}, and nobody listens on {address} any more"));
        }
        self.schedule_retry(error.to_string(), now);
        Ok(())
    }

    /// The try has come to nothing.
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
        // Another connection than before, or waiting for something else.
        if registration.watch_fd(stream, flags).is_err() {
            registration.change_watch(stream, flags);
        }
    }
}
