//! The publishing end of a topic: acquires room and completes messages in it.

use ring::{PagePolicy, RingFault, RingShape, Writer};

use crate::config::PublisherConfig;
use crate::error::Error;
use crate::socket::{self, CONNECT_ATTEMPTS_MAX, CONNECT_RETRY_PAUSE, ConnectOutcome};
use crate::subscriber_listener::SubscriberListener;
use crate::topic_backoff::TopicBackoff;
use crate::topic_name::TopicName;

/// Kind of a frame that holds a message.
pub(crate) const MESSAGE_KIND: u8 = 1;

/// The one publisher of a topic. When it is dropped, the stream of every connected subscriber ends
/// after the last message, however far behind it is: the memory lives as long as a subscriber reads
/// in it.
pub struct Publisher {
    /// Dropped before the listener: subscribers must see the end in the ring before their sockets
    /// close.
    writer: Writer,
    listener: SubscriberListener,
    /// Bytes of the acquired message; `None`: none is acquired.
    acquired_bytes: Option<usize>,
}

impl Publisher {
    /// Creates the ring, takes the topic's name, and admits the subscribers that wait for it.
    ///
    /// # Errors
    /// The topic has a publisher, its name is invalid or held by another user, or there is no
    /// memory.
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

    /// Number of connected subscribers.
    pub fn receiver_count(&self) -> usize {
        self.listener.subscriber_count()
    }

    /// Most bytes of a message: half of the ring, less a header.
    pub fn message_bytes_max(&self) -> usize {
        self.writer.payload_bytes_max()
    }

    /// Whether there is room for a message of `bytes` bytes now. Forgets room that was acquired and
    /// not completed.
    #[inline]
    pub fn has_room_for(&mut self, bytes: usize) -> bool {
        self.acquired_bytes = None;
        self.writer.has_room_for(bytes)
    }

    /// Acquires room for a message of `bytes` bytes, at an address that is a multiple of 8. Waits
    /// for it, spinning, as long as a subscriber holds it. The room's contents are undefined.
    /// Forgets room that was acquired before and not completed.
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

    /// Acquires room like [`Publisher::acquire`], without waiting. `None`: there is no room now.
    ///
    /// # Errors
    /// The message is too long.
    ///
    /// # Example
    /// A full ring without waiting:
    /// ```
    /// use thalweg_topic::{Publisher, PublisherConfig, Subscriber};
    ///
    /// let topic = format!("full {}", std::process::id());
    /// let config = PublisherConfig { ring_bytes: 4096, ..PublisherConfig::default() };
    /// let mut subscriber = Subscriber::open(&topic)?;
    /// let mut publisher = Publisher::open(&topic, &config)?;
    /// let mut sent = 0;
    /// while publisher.try_send(&[7; 56])? {
    ///     sent += 1;
    /// }
    /// assert_eq!(sent, 64);
    /// while !subscriber.is_joined() {
    ///     subscriber.poll(|_| {})?;
    /// }
    /// subscriber.poll(|_| {})?;
    /// assert!(publisher.try_acquire(56)?.is_some());
    /// # Ok::<(), thalweg_topic::Error>(())
    /// ```
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

    /// Completes the first `bytes` of the acquired room as a message, which every subscriber gets.
    ///
    /// # Errors
    /// Fewer bytes were acquired, or none.
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

    /// Gives up the acquired room; no message is sent.
    #[inline]
    pub fn cancel(&mut self) {
        self.acquired_bytes = None;
    }

    /// Sends a copy of a message. Waits for room like [`Publisher::acquire`].
    pub fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.acquire(message.len())?.copy_from_slice(message);
        self.complete(message.len())
    }

    /// Sends a copy of a message without waiting. `false`: there is no room, and nothing was sent.
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

    /// Stops waiting for a subscriber that has broken the ring.
    fn dismiss_faulty_reader(&mut self) {
        if let Some(RingFault::Cursor { reader, .. }) = self.writer.fault() {
            self.writer.dismiss(reader);
            self.listener.sockets().disconnect(reader);
        }
    }
}

impl Drop for Publisher {
    /// Stops admitting subscribers, then ends the stream, then closes the sockets.
    fn drop(&mut self) {
        self.listener.stop();
    }
}

/// Binds the name under which the topic is found.
fn bind_topic(name: &TopicName) -> Result<std::os::fd::OwnedFd, Error> {
    let address = name.publisher_address()?;
    for _ in 0..CONNECT_ATTEMPTS_MAX {
        if let Some(listener) = socket::bind_name(&address)? {
            return Ok(listener);
        }
        // Another process has the name. If that process has ended, the name is free now.
        if let ConnectOutcome::Connected(holder) = socket::try_connect(&address)? {
            let pid = socket::check_peer(&holder, name)?;
            let topic = name.topic().to_owned();
            return Err(Error::AlreadyPublished { topic, pid });
        }
        std::thread::sleep(CONNECT_RETRY_PAUSE);
    }
    Err(Error::unresponsive(name.topic()))
}
