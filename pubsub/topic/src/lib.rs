//! Topics: one publisher and many subscribers on one host, which find each other by name and share
//! a ring.
//!
//! A topic is a name that belongs to a user. Its publisher and its subscribers start in any order,
//! in any processes of that user, and find each other. Every connected subscriber gets every
//! message in place, and the slowest one sets the pace: a full ring makes the publisher wait, or
//! tells it that it would have to. A subscriber begins with the next message. One that leaves or
//! dies is not waited for any more. When the publisher ends, in order or not, the messages that it
//! had completed are delivered first, and the end after them.
//!
//! ```text
//!   publisher                                                subscriber
//!     Writer --------- memory without a name, sealed --------- Reader
//!     subscriber listener =============== socket ============= socket
//! ```
//! Names are sockets in the abstract namespace: no file has them, and they end with their process,
//! however that ends. They belong to the network namespace, and a process of any user could take
//! one. So each side checks the process at the other end ([`Error::ForeignUser`]) before anything
//! is handed over or mapped. Nothing goes over a network.
//!
//! # Threads
//! Each end can be moved between threads and is used by one at a time. A publisher has a thread of
//! its own, which sleeps unless a subscriber comes or goes.
//!
//! # Example
//! ```
//! use thalweg_topic::{Publisher, PublisherConfig, Subscriber, TopicEvent};
//!
//! let topic = format!("example {}", std::process::id());
//! let mut subscriber = Subscriber::open(&topic)?;
//! let mut publisher = Publisher::open(&topic, &PublisherConfig::default())?;
//! publisher.acquire(5)?.copy_from_slice(b"hello");
//! publisher.complete(5)?;
//! drop(publisher);
//! let (mut messages, mut has_ended) = (Vec::new(), false);
//! while !has_ended {
//!     subscriber.poll(|event| match event {
//!         TopicEvent::Began(_) => {}
//!         TopicEvent::Message(bytes) => messages.push(bytes.to_vec()),
//!         TopicEvent::Ended(_) => has_ended = true,
//!     })?;
//! }
//! assert_eq!(messages, [b"hello"]);
//! # Ok::<(), thalweg_topic::Error>(())
//! ```

mod config;
mod error;
mod publisher;
mod socket;
mod subscriber;
mod subscriber_listener;
mod topic_backoff;
mod topic_handshake;
mod topic_name;

pub use config::{CONFIG_KEYS, ConfigError, HUGE_PAGES_VALUES, PublisherConfig};
pub use error::Error;
pub use publisher::Publisher;
pub use ring::{PagePolicy, READERS_MAX as RECEIVERS_MAX};
pub use subscriber::{Subscriber, TopicEvent, TopicSource};
pub use topic_backoff::TopicBackoff;
pub use topic_name::TOPIC_BYTES_MAX;
