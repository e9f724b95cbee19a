//! The send loop: messages at an even pace, by a thread that does nothing else.

use topic::{Error, Publisher};

use crate::clock;
use crate::message::{write_plain, write_times};
use crate::options::Flags;
use crate::pacing::Pace;
use crate::windows::{Cut, Windows};

/// What is to be sent.
pub(crate) struct Task {
    pub(crate) messages: u64,
    pub(crate) bytes: usize,
    pub(crate) rate: u64,
    pub(crate) flags: Flags,
    /// What a reading of the clock takes.
    pub(crate) clock_ns: u64,
}

/// What happened meanwhile.
#[derive(Default)]
pub(crate) struct Sent {
    pub(crate) messages: u64,
    /// Those that found the ring full and waited.
    pub(crate) waited: u64,
    /// How long they did, together.
    pub(crate) waited_ns: u64,
    /// Sends that would have had to wait, and were tried again.
    pub(crate) would_block: u64,
    /// Windows in which no message found the ring full, and the others.
    pub(crate) free: Windows,
    pub(crate) full: Windows,
}

/// Sends all of it.
pub(crate) fn send(publisher: &mut Publisher, task: &Task) -> Result<Sent, Error> {
    let mut sending = Sending {
        copied: match task.flags.has(Flags::GENERIC) {
            true => vec![0; task.bytes],
            false => Vec::new(),
        },
        pace: Pace {
            rate: task.rate,
            start_ns: clock::now_ns(),
        },
        sent: Sent::default(),
        publisher,
        task,
        cut: Cut::new(),
        full_before: 0,
    };
    sending.run()?;
    Ok(sending.sent)
}

struct Sending<'a> {
    publisher: &'a mut Publisher,
    task: &'a Task,
    pace: Pace,
    /// The message of a sender that sends copies.
    copied: Vec<u8>,
    sent: Sent,
    cut: Cut,
    /// How often the ring was full before this window.
    full_before: u64,
}

impl Sending<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let stamps = self.task.flags.has(Flags::TIMESTAMP);
        let has_due_times = stamps && self.pace.is_kept_by(self.task.clock_ns);
        let mut now_ns = self.pace.start_ns;
        while self.sent.messages < self.task.messages {
            let due = self.pace.due(now_ns).min(self.task.messages);
            while self.sent.messages < due && self.find_room()? {
                match (stamps, has_due_times) {
                    (false, _) => self.put(|room, number, _| write_plain(room, number))?,
                    (true, false) => {
                        self.put(|room, number, _| write_times(room, number, None))?;
                    }
                    (true, true) => self.put(|room, number, pace| {
                        write_times(room, number, Some(pace.due_ns(number)));
                    })?,
                }
            }
            now_ns = clock::now_ns();
        }
        Ok(())
    }

    /// `false`: there is no room, and nobody is to wait for it.
    #[inline]
    fn find_room(&mut self) -> Result<bool, Error> {
        let bytes = self.task.bytes;
        if self.publisher.has_room_for(bytes) || bytes > self.publisher.message_bytes_max() {
            return Ok(true);
        }
        if self.task.flags.has(Flags::NON_BLOCKING) {
            self.sent.would_block += 1;
            // A subscriber that has broken the ring is found out by a look for room.
            return self.publisher.try_acquire(bytes).map(|room| room.is_some());
        }
        self.wait()?;
        Ok(true)
    }

    #[cold]
    fn wait(&mut self) -> Result<(), Error> {
        let from_ns = clock::now_ns();
        self.publisher.acquire(self.task.bytes)?;
        self.publisher.cancel();
        self.sent.waited += 1;
        self.sent.waited_ns += clock::now_ns() - from_ns;
        Ok(())
    }

    /// Makes the next message and sends it. There is room.
    #[inline]
    fn put(&mut self, write: impl FnOnce(&mut [u8], u64, Pace)) -> Result<(), Error> {
        let (number, pace) = (self.sent.messages, self.pace);
        if self.task.flags.has(Flags::GENERIC) {
            write(&mut self.copied, number, pace);
            self.publisher.send(&self.copied)?;
        } else {
            write(self.publisher.acquire(self.task.bytes)?, number, pace);
            self.publisher.complete(self.task.bytes)?;
        }
        self.sent.messages += 1;
        if let Some(window) = self.cut.reached(self.sent.messages, clock::now_ns) {
            let full = self.sent.waited + self.sent.would_block;
            let kind = match full == std::mem::replace(&mut self.full_before, full) {
                true => &mut self.sent.free,
                false => &mut self.sent.full,
            };
            kind.add(window);
        }
        Ok(())
    }
}
