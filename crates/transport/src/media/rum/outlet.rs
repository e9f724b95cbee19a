//! An outlet: what of a sender's ring has gone out to one receiver.
//!
//! ```text
//!   released         cursor            batch ends        committed
//!   --+----------------+-----------------+-----------------+
//!     | sent, may be   | of the batch    | of the next     |
//!     | wanted again   | that is going   | batch           |
//! ```

use std::io::IoSlice;
use std::net::TcpStream;

use ring::Keeper;
use rustix::io::{Errno, Result};
use rustix::net::{SendAncillaryBuffer, SendFlags};

use super::batch::{HEAD_BYTES, Head, Key, Words};
use super::place::Peer;
use crate::media::tcp::credit::Over;
use crate::media::tcp::line::Line;

/// So much is copied sooner than the system looks at two parts.
const SMALL_BYTES: usize = 256;

/// A connected receiver's.
pub(super) struct Outlet {
    pub(super) line: Line,
    pub(super) peer: Peer,
    key: Key,
    /// Up to where frames are out.
    cursor: u64,
    /// What is going out now.
    batch: Option<Batch>,
    /// Where the last batch began.
    began: u64,
    /// What the receiver expects after the last batch.
    expected: u64,
    /// The socket took no more.
    is_blocked: bool,
    has_said_goodbye: bool,
}

/// A batch that is going out.
struct Batch {
    head: Words,
    /// Bytes of the head that are out.
    head_sent: usize,
    /// Where it ends.
    to: u64,
}

/// What of a ring can be sent.
pub(super) struct Source<'a> {
    pub(super) keeper: &'a Keeper,
    /// From here on frames only fill the ring's end, and need not be sent.
    pub(super) pad_at: u64,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) batches: u64,
}

impl Outlet {
    /// To a receiver that expects this position next.
    pub(super) fn new(line: Line, key: Key, peer: Peer, position: u64) -> Outlet {
        Outlet {
            line,
            peer,
            key,
            cursor: position,
            batch: None,
            began: position,
            expected: position,
            is_blocked: false,
            has_said_goodbye: false,
        }
    }

    /// Up to where frames are out.
    pub(super) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Whether the last write went only in part.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Whether everything up to an index is out.
    pub(super) fn is_out(&self, committed: u64) -> bool {
        self.cursor == committed && self.batch.is_none()
    }

    /// Whether the receiver has released everything that is out.
    pub(super) fn is_idle(&self) -> bool {
        self.line.released() == self.cursor && self.batch.is_none()
    }

    /// Whether it has released everything but the last batch, and perhaps that.
    pub(super) fn is_nearly_idle(&self) -> bool {
        self.line.released() >= self.began && self.batch.is_none()
    }

    /// Whether the receiver was told that nothing follows.
    pub(super) fn has_said_goodbye(&self) -> bool {
        self.has_said_goodbye && self.batch.is_none()
    }

    /// Hears how far the receiver is. `true`: further.
    pub(super) fn hear(&mut self) -> std::result::Result<bool, Over> {
        self.line.hear(self.cursor)
    }

    /// Sends everything that is committed, as far as the socket takes it.
    pub(super) fn send(&mut self, source: &Source<'_>) -> Result<Sent> {
        let mut sent = Sent::default();
        while self.batch.is_some() || self.begin(source, &mut sent) {
            if !self.go_on(source.keeper)? {
                break;
            }
        }
        Ok(sent)
    }

    /// Says that nothing follows, after everything else.
    pub(super) fn say_goodbye(&mut self, source: &Source<'_>) -> Result<()> {
        self.send(source)?;
        if self.is_out(source.keeper.committed()) && !self.has_said_goodbye {
            self.has_said_goodbye = true;
            self.start(Head {
                position: self.cursor,
                bytes: 0,
                leaves: true,
            });
            self.go_on(source.keeper)?;
        }
        Ok(())
    }

    /// Begins the next batch: what lies in one piece. `false`: there is nothing to send.
    fn begin(&mut self, source: &Source<'_>, sent: &mut Sent) -> bool {
        let mut frames = source.keeper.frames(self.cursor);
        let end = self.cursor + frames.len() as u64;
        if (self.cursor..end).contains(&source.pad_at) {
            frames = &frames[..(source.pad_at - self.cursor) as usize];
            if frames.is_empty() {
                self.cursor = end;
                return self.begin(source, sent);
            }
        }
        if !frames.is_empty() {
            sent.batches += 1;
            self.start(Head {
                position: self.cursor,
                bytes: frames.len() as u32,
                leaves: false,
            });
        }
        self.batch.is_some()
    }

    fn start(&mut self, head: Head) {
        self.began = head.position;
        self.batch = Some(Batch {
            head: head.to_words(self.key, self.expected),
            head_sent: 0,
            to: head.position + u64::from(head.bytes),
        });
    }

    /// Writes on. `true`: the batch is out.
    fn go_on(&mut self, keeper: &Keeper) -> Result<bool> {
        while let Some(batch) = &mut self.batch {
            let head = &bytemuck::cast_slice(&batch.head)[batch.head_sent..];
            let frames = match batch.to - self.cursor {
                0 => &[],
                left => &keeper.frames(self.cursor)[..left as usize],
            };
            let count = write(&self.line.frames, head, frames)?;
            if count == 0 {
                self.is_blocked = true;
                return Ok(false);
            }
            let of_head = count.min(head.len());
            batch.head_sent += of_head;
            self.cursor += (count - of_head) as u64;
            if batch.head_sent == HEAD_BYTES && self.cursor == batch.to {
                self.expected = batch.to;
                self.batch = None;
            }
        }
        self.is_blocked = false;
        Ok(true)
    }
}

/// Writes what the socket takes of both, one after the other; 0: nothing now.
fn write(stream: &TcpStream, head: &[u8], frames: &[u8]) -> Result<usize> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    let (mut small, bytes) = ([0; SMALL_BYTES], head.len() + frames.len());
    loop {
        let written = if head.is_empty() {
            rustix::net::send(stream, frames, flags)
        } else if let Some(small) = small.get_mut(..bytes) {
            small[..head.len()].copy_from_slice(head);
            small[head.len()..].copy_from_slice(frames);
            rustix::net::send(stream, small, flags)
        } else {
            let parts = [IoSlice::new(head), IoSlice::new(frames)];
            rustix::net::sendmsg(stream, &parts, &mut SendAncillaryBuffer::default(), flags)
        };
        match written {
            Err(Errno::AGAIN) => return Ok(0),
            Err(Errno::INTR) => {}
            written => return written,
        }
    }
}
