//! Names of a topic's sockets, in the abstract namespace.
//!
//! ```text
//!   thalweg/USER/publisher/TOPIC      name of its publisher
//!   thalweg/USER/waiting/N/TOPIC      name of a subscriber that waits for one, N from 0 on
//! ```

use rustix::net::SocketAddrUnix;
use rustix::process::geteuid;

use crate::error::Error;

/// Most bytes of a topic's name, so that the names of its sockets fit an address.
pub const TOPIC_BYTES_MAX: usize = 64;

/// Name of a topic, with its user.
pub(crate) struct TopicName {
    topic: String,
    user: u32,
}

impl TopicName {
    /// A topic of this process's user.
    ///
    /// # Errors
    /// The name is empty or too long.
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

    /// Address of the topic's publisher.
    pub(crate) fn publisher_address(&self) -> Result<SocketAddrUnix, Error> {
        self.address("publisher")
    }

    /// Address of the waiting subscriber with this number.
    pub(crate) fn waiting_address(&self, number: u32) -> Result<SocketAddrUnix, Error> {
        self.address(&format!("waiting/{number}"))
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
