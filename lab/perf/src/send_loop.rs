//! The send loop: messages at an even pace, by a thread that does nothing else.

use topic::{Error, Publisher};
use transport::monotonic_ns;

use crate::message::{write_plain, write_times};
use crate::options::PublishFlags;
use crate::rate_windows::{RateWindowTimer, RateWindows};
use crate::send_schedule::SendSchedule;

/// Messages that are to be sent, and their schedule.
pub(crate) struct SendTask {
    pub(crate) messages: u64,
    pub(crate) bytes: usize,
    pub(crate) rate: u64,
    pub(crate) flags: PublishFlags,
    /// Nanoseconds that a reading of the clock takes.
    pub(crate) clock_ns: u64,
}

/// Counts and times of the send loop.
#[derive(Default)]
pub(crate) struct SendCounts {
    pub(crate) messages: u64,
    /// Messages that found the ring full and waited.
    pub(crate) waited: u64,
    /// Nanoseconds that those messages waited together.
    pub(crate) waited_ns: u64,
    /// Sends that would have had to wait, and were tried again.
    pub(crate) would_block: u64,
    /// Windows in which no message found the ring full.
    pub(crate) free_windows: RateWindows,
    /// Windows in which some message found the ring full.
    pub(crate) full_windows: RateWindows,
}

/// Sends all messages of a task.
pub(crate) fn send_all(publisher: &mut Publisher, task: &SendTask) -> Result<SendCounts, Error> {
    let mut sending = SendLoop {
        copy_buffer: match task.flags.has(PublishFlags::GENERIC) {
            true => vec![0; task.bytes],
            false => Vec::new(),
        },
        schedule: SendSchedule {
            rate: task.rate,
            start_ns: monotonic_ns(),
        },
        counts: SendCounts::default(),
        publisher,
        task,
        window_timer: RateWindowTimer::new(),
        full_before: 0,
    };
    sending.run()?;
    Ok(sending.counts)
}

struct SendLoop<'a> {
    publisher: &'a mut Publisher,
    task: &'a SendTask,
    schedule: SendSchedule,
    /// Buffer of the message for a sender that sends copies.
    copy_buffer: Vec<u8>,
    counts: SendCounts,
    window_timer: RateWindowTimer,
    /// Number of times that the ring was full before this window.
    full_before: u64,
}

impl SendLoop<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let stamps = self.task.flags.has(PublishFlags::TIMESTAMP);
        let has_due_times = stamps && self.schedule.is_achievable(self.task.clock_ns);
        let mut now_ns = self.schedule.start_ns;
        while self.counts.messages < self.task.messages {
            let due = self.schedule.due_count(now_ns).min(self.task.messages);
            while self.counts.messages < due && self.find_room()? {
                match (stamps, has_due_times) {
                    (false, _) => self.send_next(|room, number, _| write_plain(room, number))?,
                    (true, false) => {
                        self.send_next(|room, number, _| write_times(room, number, None))?;
                    }
                    (true, true) => self.send_next(|room, number, pace| {
                        write_times(room, number, Some(pace.due_ns(number)));
                    })?,
                }
            }
            now_ns = monotonic_ns();
        }
        Ok(())
    }

    /// Waits for room unless sends must not block. `false`: there is no room.
    #[inline]
    fn find_room(&mut self) -> Result<bool, Error> {
        let bytes = self.task.bytes;
        if self.publisher.has_room_for(bytes) || bytes > self.publisher.message_bytes_max() {
            return Ok(true);
        }
        if self.task.flags.has(PublishFlags::NON_BLOCKING) {
            self.counts.would_block += 1;
            // A look for room detects a subscriber that has broken the ring.
            return self.publisher.try_acquire(bytes).map(|room| room.is_some());
        }
        self.wait()?;
        Ok(true)
    }

    #[cold]
    fn wait(&mut self) -> Result<(), Error> {
        let from_ns = monotonic_ns();
        self.publisher.acquire(self.task.bytes)?;
        self.publisher.cancel();
        self.counts.waited += 1;
        self.counts.waited_ns += monotonic_ns() - from_ns;
        Ok(())
    }

    /// Builds the next message and sends it. There must be room.
    #[inline]
    fn send_next(&mut self, write: impl FnOnce(&mut [u8], u64, SendSchedule)) -> Result<(), Error> {
        let (number, pace) = (self.counts.messages, self.schedule);
        if self.task.flags.has(PublishFlags::GENERIC) {
            write(&mut self.copy_buffer, number, pace);
            self.publisher.send(&self.copy_buffer)?;
        } else {
            write(self.publisher.acquire(self.task.bytes)?, number, pace);
            self.publisher.complete(self.task.bytes)?;
        }
        self.counts.messages += 1;
        if let Some(window) = self
            .window_timer
            .advance(self.counts.messages, monotonic_ns)
        {
            let full = self.counts.waited + self.counts.would_block;
            let kind = match full == std::mem::replace(&mut self.full_before, full) {
                true => &mut self.counts.free_windows,
                false => &mut self.counts.full_windows,
            };
            kind.add(window);
        }
        Ok(())
    }
}
