//! The publishing end of a topic: acquires room, completes messages in it.

use ring::{PagePolicy, RingFault, RingShape, Writer};

use crate::config::PublisherConfig;
use crate::error::Error;
use crate::socket::{self, CONNECT_ATTEMPTS_MAX, CONNECT_RETRY_PAUSE, ConnectOutcome};
use crate::subscriber_listener::SubscriberListener;
use crate::topic_backoff::TopicBackoff;
use crate::topic_name::TopicName;

/// The kind of a frame that holds a message.
pub(crate) const MESSAGE_KIND: u8 = 1;

/// The one publisher of a topic. When it is dropped, the stream of those who are in ends after its
/// last message, however far behind they are: the memory lives as long as anybody reads in it.
pub struct Publisher {
    /// Before the door: its end is to be seen in the ring before the lines go.
    writer: Writer,
    listener: SubscriberListener,
    /// Bytes of the message that is being made.
    acquired_bytes: Option<usize>,
}

impl Publisher {
    /// Makes the ring, takes the topic's name, and lets in who waits for it.
    ///
    /// # Errors
    /// The topic has a publisher, its name cannot be, there is no memory; another user holds it.
    pub fn open(topic: &str, config: &PublisherConfig) -> Result<Publisher, Error> {
        let name = TopicName::new(topic)?;
        let listener = bind_topic(&name)?;
        let shape = RingShape {
            bytes: config.ring_bytes,
            readers: config.receivers,
        };
        let tried = match config.huge_pages {
            PagePolicy::Huge => {
                "make the topic's ring of huge pages (enough of vm.nr_hugepages are free?)"
            }
            _ => "make the topic's ring",
        };
        let (mut writer, ring) = ring::shared_ring_with_pages(shape, config.huge_pages)
            .map_err(|error| Error::system(tried, error))?;
        let admission = writer.start_admission();
        Ok(Publisher {
            writer,
            listener: SubscriberListener::start(name, listener, admission, ring)?,
            acquired_bytes: None,
        })
    }

    /// How many subscribers are in.
    pub fn receiver_count(&self) -> usize {
        self.listener.subscriber_count()
    }

    /// Bytes of the longest message.
    pub fn message_bytes_max(&self) -> usize {
        self.writer.frame_bytes_max()
    }

    /// Whether there is room for a message of so many bytes now. Room that was acquired and not
    /// completed is forgotten.
    #[inline]
    pub fn has_room_for(&mut self, bytes: usize) -> bool {
        self.acquired_bytes = None;
        self.writer.has_room_for(bytes)
    }

    /// Room for a message, at an address that is a multiple of 8; waits for it, spinning, as long
    /// as a subscriber holds it. What it holds before it is written is undefined. Room that was
    /// acquired and not completed is forgotten.
    ///
    /// # Errors
    /// The message is too long.
    #[inline]
    pub fn acquire(&mut self, bytes: usize) -> Result<&mut [u8], Error> {
        if !self.writer.has_room_for(bytes) {
            self.acquired_bytes = None;
            self.wait_for_room(bytes)?;
        }
        let room = self.writer.claim(bytes);
        debug_assert!(room.is_some(), "room does not go away");
        self.acquired_bytes = room.is_some().then_some(bytes);
        Ok(room.unwrap_or_default())
    }

    /// The same without waiting; `None`: it would have to.
    ///
    /// # Errors
    /// The message is too long.
    #[inline]
    pub fn try_acquire(&mut self, bytes: usize) -> Result<Option<&mut [u8]>, Error> {
        self.acquired_bytes = None;
        let most = self.message_bytes_max();
        if bytes > most {
            return Err(Error::MessageTooLong {
                bytes,
                bytes_max: most,
            });
        }
        if !self.writer.has_room_for(bytes) {
            self.dismiss_faulty_reader();
            return Ok(None);
        }
        let room = self.writer.claim(bytes);
        self.acquired_bytes = room.is_some().then_some(bytes);
        Ok(room)
    }

    /// The first `bytes` of what was acquired are a message, and every subscriber gets it.
    ///
    /// # Errors
    /// So many were not acquired.
    #[inline]
    pub fn complete(&mut self, bytes: usize) -> Result<(), Error> {
        let acquired = self.acquired_bytes.take();
        if acquired.is_none_or(|acquired| bytes > acquired) {
            return Err(Error::NotAcquired { bytes, acquired });
        }
        self.writer.commit(MESSAGE_KIND, 0, bytes);
        let sleepers = self.writer.take_sleeping_readers();
        if sleepers != 0 {
            self.listener.sockets().wake(sleepers);
        }
        Ok(())
    }

    /// What was acquired becomes no message.
    #[inline]
    pub fn cancel(&mut self) {
        self.acquired_bytes = None;
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
            return Err(Error::MessageTooLong {
                bytes,
                bytes_max: most,
            });
        }
        let mut idle = TopicBackoff::default();
        while !self.writer.has_room_for(bytes) {
            self.dismiss_faulty_reader();
            idle.back_off();
        }
        Ok(())
    }

    /// A subscriber that has broken the ring is not waited for.
    fn dismiss_faulty_reader(&mut self) {
        if let Some(RingFault::Cursor { reader, .. }) = self.writer.fault() {
            self.writer.dismiss(reader);
            self.listener.sockets().disconnect(reader);
        }
    }
}

impl Drop for Publisher {
    /// First nobody comes in any more, then the stream ends, then the lines do.
    fn drop(&mut self) {
        self.listener.stop();
    }
}

/// Takes the name under which the topic is found.
fn bind_topic(name: &TopicName) -> Result<std::os::fd::OwnedFd, Error> {
    let address = name.publisher_address()?;
    for _ in 0..CONNECT_ATTEMPTS_MAX {
        if let Some(listener) = socket::bind_name(&address)? {
            return Ok(listener);
        }
        // Who has it? If nobody has any more, it is free now.
        if let ConnectOutcome::Connected(holder) = socket::try_connect(&address)? {
            let pid = socket::check_peer(&holder, name)?;
            let topic = name.topic().to_owned();
            return Err(Error::AlreadyPublished { topic, pid });
        }
        std::thread::sleep(CONNECT_RETRY_PAUSE);
    }
    Err(Error::unresponsive(name.topic()))
}
