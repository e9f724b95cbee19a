//! How a receiver in mode `batch` reaches its sender again: tries at growing intervals, each over a
//! node of its own, until the sender answers, refuses, or was not reached for too long.
//!
//! ```text
//!   connected --breaks--> broken --a try--> asking --accepted--> connected
//!                           ^                 |  \
//!                           +--- no answer ---+   +--- refused, or too long ---> given up
//! ```
//! A node of its own means a registration of its own: the key of a ring that an earlier connection
//! had opens nothing any more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fabric::FabricError;

use super::introduction::Introduction;
use super::peer_watch::{LivenessAddress, PeerWatch};

/// Times of connecting again.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReconnectTimes {
    /// Shortest pause between two tries, used at first, and longest.
    pub(super) pause_min: Duration,
    pub(super) pause_max: Duration,
    /// Time after which a try without an answer is given up and the next one made.
    pub(super) attempt: Duration,
    /// Time after which the sender is given up.
    pub(super) give_up: Duration,
}

impl ReconnectTimes {
    /// The times of `rum`, but for that after which the sender is given up.
    pub(super) const fn giving_up_after(give_up: Duration) -> ReconnectTimes {
        ReconnectTimes {
            pause_min: Duration::from_millis(1),
            pause_max: Duration::from_millis(200),
            attempt: Duration::from_secs(1),
            give_up,
        }
    }
}

/// The IO thread's part of a link, and where the sender answers probes.
pub(super) struct WatchedSender {
    pub(super) watch: Arc<PeerWatch>,
    pub(super) liveness: LivenessAddress,
}

/// The way of a receiver to its sender.
pub(super) struct SenderReconnection<N> {
    open_node: Box<dyn FnMut() -> Result<N, FabricError> + Send>,
    introduction: Introduction,
    watch: Option<WatchedSender>,
    times: ReconnectTimes,
    clock: fn() -> Instant,
    /// Time of the break since which nothing was received.
    broken_since: Option<Instant>,
    connected_at: Instant,
    next_attempt_at: Instant,
    pause: Duration,
    /// How the connection was lost that was made last.
    reason: Option<String>,
    is_connected: bool,
}

impl<N> SenderReconnection<N> {
    /// A link over nodes that a function opens. The first try is under way.
    pub(super) fn new(
        open_node: impl FnMut() -> Result<N, FabricError> + Send + 'static,
        introduction: Introduction,
        watch: Option<WatchedSender>,
        times: ReconnectTimes,
        clock: fn() -> Instant,
    ) -> SenderReconnection<N> {
        let now = clock();
        SenderReconnection {
            open_node: Box::new(open_node),
            introduction,
            watch,
            times,
            clock,
            broken_since: Some(now),
            connected_at: now,
            next_attempt_at: now + times.attempt,
            pause: times.pause_min,
            reason: None,
            is_connected: false,
        }
    }

    pub(super) fn introduction(&self) -> Introduction {
        self.introduction
    }

    pub(super) fn watch(&self) -> Option<&PeerWatch> {
        self.watch.as_ref().map(|watched| &*watched.watch)
    }

    /// Opens a node for a try that begins now.
    pub(super) fn begin_attempt(&mut self) -> Result<N, FabricError> {
        self.schedule((self.clock)() + self.times.attempt);
        (self.open_node)()
    }

    /// Whether a try is to be made now.
    pub(super) fn is_due(&self) -> bool {
        !self.is_connected && self.next_attempt_at <= (self.clock)()
    }

    /// Notes that the connection is made.
    pub(super) fn note_connected(&mut self) {
        self.is_connected = true;
        self.connected_at = (self.clock)();
        if let Some(watch) = self.watch() {
            watch.let_sleep();
        }
    }

    /// Notes that something was received, so the connection is of use.
    pub(super) fn note_received(&mut self) {
        self.broken_since = None;
        self.pause = self.times.pause_min;
    }

    /// Notes that the connection is broken, or that a try has failed.
    ///
    /// # Errors
    /// The reason why the sender is given up.
    pub(super) fn note_break(&mut self, why: String, is_refused: bool) -> Result<(), String> {
        let now = (self.clock)();
        if std::mem::take(&mut self.is_connected) {
            let held = now.duration_since(self.connected_at);
            if held > self.times.give_up {
                self.broken_since = None;
            }
            // One that broke at once, and brought nothing, may do so again and again.
            if held > self.times.attempt {
                self.pause = self.times.pause_min;
            }
            self.reason = Some(why.clone());
            if let Some(watched) = &self.watch {
                watched.watch.begin_probes(watched.liveness, now);
            }
        }
        let since = *self.broken_since.get_or_insert(now);
        let text = match &self.reason {
            Some(reason) if *reason != why => format!("{reason}, and then: {why}"),
            _ => why,
        };
        if is_refused {
            return Err(text);
        }
        self.check_time(since, now, &text)?;
        self.schedule_after_pause(now);
        Ok(())
    }

    /// Checks that the sender need not be given up while there is no connection.
    ///
    /// # Errors
    /// The reason why it is given up: a probe has found it gone, or it was not reached for too
    /// long.
    pub(super) fn check(&self) -> Result<(), String> {
        let why = self.reason.as_deref().unwrap_or("no connection is made");
        if self.watch().is_some_and(PeerWatch::is_peer_gone) {
            return Err(format!("{why}, and nobody answers for it any more"));
        }
        match self.broken_since {
            Some(since) => self.check_time(since, (self.clock)(), why),
            None => Ok(()),
        }
    }

    /// Begins anew with tries and with their limit: another path reaches the sender.
    pub(super) fn try_again(&mut self) {
        let now = (self.clock)();
        self.broken_since = Some(now);
        if let Some(watch) = self.watch() {
            watch.let_sleep();
        }
        self.schedule_after_pause(now);
    }

    fn schedule_after_pause(&mut self, now: Instant) {
        self.schedule(now + self.pause);
        self.pause = (self.pause * 2).clamp(self.times.pause_min, self.times.pause_max);
    }

    fn check_time(&self, since: Instant, now: Instant, why: &str) -> Result<(), String> {
        let time = self.times.give_up;
        match now.duration_since(since) < time {
            true => Ok(()),
            false => Err(format!("{why}; for {time:?} nothing could be received")),
        }
    }

    fn schedule(&mut self, at: Instant) {
        self.next_attempt_at = at;
        if let Some(watch) = self.watch() {
            watch.wake_at(at);
        }
    }
}

impl<N> Drop for SenderReconnection<N> {
    fn drop(&mut self) {
        if let Some(watch) = self.watch() {
            watch.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::LazyLock;

    use super::*;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    thread_local! {
        static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    fn now() -> Instant {
        *START + PASSED.get()
    }

    fn pass(millis: u64) {
        PASSED.set(PASSED.get() + Duration::from_millis(millis));
    }

    fn link() -> SenderReconnection<()> {
        let times = ReconnectTimes::giving_up_after(Duration::from_secs(5));
        let introduction = Introduction {
            instance: 1,
            liveness: None,
        };
        SenderReconnection::new(|| Ok(()), introduction, None, times, now)
    }

    fn broken(link: &mut SenderReconnection<()>) -> Result<(), String> {
        link.note_break("it broke".to_owned(), false)
    }

    #[test]
    fn tries_come_at_growing_intervals_until_the_sender_is_given_up() {
        let mut link = link();
        link.note_connected();
        link.note_received();
        let mut pauses = Vec::new();
        let end = loop {
            if let Err(end) = broken(&mut link) {
                break end;
            }
            let mut pause = 0;
            while !link.is_due() {
                pass(1);
                pause += 1;
            }
            pauses.push(pause);
            link.begin_attempt().unwrap();
            assert!(!link.is_due());
        };
        assert_eq!(pauses[..9], [1, 2, 4, 8, 16, 32, 64, 128, 200]);
        assert!(pauses[9..].iter().all(|pause| *pause == 200));
        assert_eq!(end, "it broke; for 5s nothing could be received");
    }

    #[test]
    fn a_refusal_is_the_end() {
        let mut link = link();
        link.note_connected();
        broken(&mut link).unwrap();
        let end = link.note_break("Connection refused".to_owned(), true);
        assert_eq!(end.unwrap_err(), "it broke, and then: Connection refused");
    }

    #[test]
    fn breaks_without_a_frame_between_them_are_given_up() {
        let mut link = link();
        let end = (0..100).find_map(|_| {
            link.note_connected();
            pass(100);
            broken(&mut link).err()
        });
        assert!(end.is_some());
    }

    #[test]
    fn connections_that_break_at_once_are_made_less_and_less_often() {
        let mut link = link();
        let mut pauses = Vec::new();
        for _ in 0..4 {
            link.note_connected();
            broken(&mut link).unwrap();
            let before = PASSED.get();
            while !link.is_due() {
                pass(1);
            }
            pauses.push((PASSED.get() - before).as_millis());
        }
        assert_eq!(pauses, [1, 2, 4, 8]);
    }

    #[test]
    fn a_connection_that_has_held_for_long_may_break() {
        let mut link = link();
        for _ in 0..10 {
            link.note_connected();
            pass(6000);
            broken(&mut link).unwrap();
        }
        link.note_connected();
        for _ in 0..10 {
            pass(1000);
            link.note_received();
            broken(&mut link).unwrap();
            link.note_connected();
        }
    }

    #[test]
    fn a_try_without_an_answer_is_made_again() {
        let mut link = link();
        assert!(!link.is_due());
        pass(1000);
        assert!(link.is_due());
        link.begin_attempt().unwrap();
        assert!(!link.is_due());
        link.check().unwrap();
        pass(4000);
        let end = link.check().unwrap_err();
        assert_eq!(
            end,
            "no connection is made; for 5s nothing could be received"
        );
    }
}
