//! The publishing end of a topic: acquires room, completes messages in it.

use ring::{Fault, Pages, Shape, Writer};

use crate::config::Config;
use crate::door::Door;
use crate::error::Error;
use crate::idle::Idle;
use crate::name::Name;
use crate::socket::{self, LOOK_AGAIN, LOOKS, Reached};

/// The kind of a frame that holds a message.
pub(crate) const MESSAGE: u8 = 1;

/// The one publisher of a topic. When it is dropped, the stream of those who are in ends after its
/// last message, however far behind they are: the memory lives as long as anybody reads in it.
pub struct Publisher {
    /// Before the door: its end is to be seen in the ring before the lines go.
    writer: Writer,
    door: Door,
    /// Bytes of the message that is being made.
    acquired: Option<usize>,
}

impl Publisher {
    /// Makes the ring, takes the topic's name, and lets in who waits for it.
    ///
    /// # Errors
    /// The topic has a publisher, its name cannot be, there is no memory; another user holds it.
    pub fn open(topic: &str, config: &Config) -> Result<Publisher, Error> {
        let name = Name::new(topic)?;
        let listener = take_topic(&name)?;
        let shape = Shape {
            bytes: config.ring_bytes,
            readers: config.receivers,
        };
        let tried = match config.huge_pages {
            Pages::Huge => {
                "make the topic's ring of huge pages (enough of vm.nr_hugepages are free?)"
            }
            _ => "make the topic's ring",
        };
        let (mut writer, ring) = ring::shared_on(shape, config.huge_pages)
            .map_err(|error| Error::system(tried, error))?;
        let admission = writer.admission();
        Ok(Publisher {
            writer,
            door: Door::open(name, listener, admission, ring)?,
            acquired: None,
        })
    }

    /// How many subscribers are in.
    pub fn receivers(&self) -> usize {
        self.door.count()
    }

    /// Bytes of the longest message.
    pub fn message_bytes_max(&self) -> usize {
        self.writer.frame_bytes_max()
    }

    /// Whether there is room for a message of so many bytes now. Room that was acquired and not
    /// completed is forgotten.
    #[inline]
    pub fn has_room_for(&mut self, bytes: usize) -> bool {
        self.acquired = None;
        self.writer.has_room_for(bytes)
    }

    /// Room for a message, at an address that is a multiple of 8; waits for it, spinning, as long as a
    /// subscriber holds it. What it holds before it is written is undefined. Room that was acquired
    /// and not completed is forgotten.
    ///
    /// # Errors
    /// The message is too long.
    #[inline]
    pub fn acquire(&mut self, bytes: usize) -> Result<&mut [u8], Error> {
        if !self.writer.has_room_for(bytes) {
            self.acquired = None;
            self.wait_for_room(bytes)?;
        }
        let room = self.writer.claim(bytes);
        debug_assert!(room.is_some(), "room does not go away");
        self.acquired = room.is_some().then_some(bytes);
        Ok(room.unwrap_or_default())
    }

    /// The same without waiting; `None`: it would have to.
    ///
    /// # Errors
    /// The message is too long.
    #[inline]
    pub fn try_acquire(&mut self, bytes: usize) -> Result<Option<&mut [u8]>, Error> {
        self.acquired = None;
        let most = self.message_bytes_max();
        if bytes > most {
            return Err(Error::TooLong { bytes, most });
        }
        if !self.writer.has_room_for(bytes) {
            self.dismiss_broken();
            return Ok(None);
        }
        let room = self.writer.claim(bytes);
        self.acquired = room.is_some().then_some(bytes);
        Ok(room)
    }

    /// The first `bytes` of what was acquired are a message, and every subscriber gets it.
    ///
    /// # Errors
    /// So many were not acquired.
    #[inline]
    pub fn complete(&mut self, bytes: usize) -> Result<(), Error> {
        let acquired = self.acquired.take();
        if acquired.is_none_or(|acquired| bytes > acquired) {
            return Err(Error::NotAcquired { bytes, acquired });
        }
        self.writer.commit(MESSAGE, 0, bytes);
        let sleepers = self.writer.sleeping_readers();
        if sleepers != 0 {
            self.door.lines().wake(sleepers);
        }
        Ok(())
    }

    /// What was acquired becomes no message.
    #[inline]
    pub fn cancel(&mut self) {
        self.acquired = None;
    }

    /// Sends a copy of a message; waits for room as [`Publisher::acquire`].
    ///
    /// # Errors
    /// The message is too long.
    pub fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.acquire(message.len())?.copy_from_slice(message);
        self.complete(message.len())
    }

    /// The same without waiting; `false`: it would have to, and nothing was sent.
    ///
    /// # Errors
    /// The message is too long.
    pub fn try_send(&mut self, message: &[u8]) -> Result<bool, Error> {
        let Some(room) = self.try_acquire(message.len())? else {
            return Ok(false);
        };
        room.copy_from_slice(message);
        self.complete(message.len())?;
        Ok(true)
    }

    #[cold]
    fn wait_for_room(&mut self, bytes: usize) -> Result<(), Error> {
        let most = self.message_bytes_max();
        if bytes > most {
            return Err(Error::TooLong { bytes, most });
        }
        let mut idle = Idle::default();
        while !self.writer.has_room_for(bytes) {
            self.dismiss_broken();
            idle.turn();
        }
        Ok(())
    }

    /// A subscriber that has broken the ring is not waited for.
    fn dismiss_broken(&mut self) {
        if let Some(Fault::Cursor { reader, .. }) = self.writer.fault() {
            self.writer.dismiss(reader);
            self.door.lines().cut(reader);
        }
    }
}

impl Drop for Publisher {
    /// First nobody comes in any more, then the stream ends, then the lines do.
    fn drop(&mut self) {
        self.door.close();
    }
}

/// Takes the name under which the topic is found.
fn take_topic(name: &Name) -> Result<std::os::fd::OwnedFd, Error> {
    let address = name.publisher()?;
    for _ in 0..LOOKS {
        if let Some(listener) = socket::take(&address)? {
            return Ok(listener);
        }
        // Who has it? If nobody has any more, it is free now.
        if let Reached::Line(holder) = socket::reach(&address)? {
            let pid = socket::check_peer(&holder, name)?;
            let topic = name.topic().to_owned();
            return Err(Error::Published { topic, pid });
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Err(Error::silent(name))
}
