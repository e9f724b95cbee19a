//! What the sockets of a topic are called, in the abstract namespace.
//!
//! ```text
//!   thalweg/USER/publisher/TOPIC      where its publisher is found
//!   thalweg/USER/waiting/N/TOPIC      where a subscriber waits for one, N from 0 on
//! ```

use rustix::net::SocketAddrUnix;
use rustix::process::geteuid;

use crate::error::Error;

/// Bytes that a topic's name may have.
pub const TOPIC_BYTES_MAX: usize = 64;

/// A topic of a user.
pub(crate) struct TopicName {
    topic: String,
    user: u32,
}

impl TopicName {
    /// A topic of this user.
    pub(crate) fn new(topic: &str) -> Result<TopicName, Error> {
        if topic.is_empty() {
            return Err(Error::InvalidName(
                "a topic has a name; this one is empty".into(),
            ));
        }
        if topic.len() > TOPIC_BYTES_MAX {
            let len = topic.len();
            return Err(Error::InvalidName(format!(
                "a topic's name has at most {TOPIC_BYTES_MAX} bytes; `{topic}` has {len}"
            )));
        }
        Ok(TopicName {
            topic: topic.to_owned(),
            user: geteuid().as_raw(),
        })
    }

    pub(crate) fn topic(&self) -> &str {
        &self.topic
    }

    pub(crate) fn user(&self) -> u32 {
        self.user
    }

    /// Where its publisher is found.
    pub(crate) fn publisher_address(&self) -> Result<SocketAddrUnix, Error> {
        self.address("publisher")
    }

    /// The place of this number in its waiting room.
    pub(crate) fn waiting_address(&self, place: u32) -> Result<SocketAddrUnix, Error> {
        self.address(&format!("waiting/{place}"))
    }

    fn address(&self, role: &str) -> Result<SocketAddrUnix, Error> {
        let name = format!("thalweg/{}/{role}/{}", self.user, self.topic);
        SocketAddrUnix::new_abstract_name(name.as_bytes())
            .map_err(|error| Error::system("name a socket", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_fits_and_a_longer_one_is_refused() {
        let longest = "ö".repeat(TOPIC_BYTES_MAX / 2);
        let mut name = TopicName::new(&longest).unwrap();
        name.user = u32::MAX;
        assert!(
            name.publisher_address().is_ok() && name.waiting_address(ring::READERS_MAX - 1).is_ok()
        );
        for wrong in [String::new(), longest + "o"] {
            assert!(
                matches!(TopicName::new(&wrong), Err(Error::InvalidName(_))),
                "{wrong}"
            );
        }
    }
}
