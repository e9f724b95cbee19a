//! Topics: one publisher and many subscribers on one host, found by name, joined by a ring.
//!
//! A topic is a name that belongs to a user. Its publisher and its subscribers start in any order,
//! in whatever processes of that user, and find each other. Every subscriber that is there gets
//! every message, where it lies, and the slowest one sets the pace: a full ring makes the publisher
//! wait, or tells it that it would have to. A subscriber joins at the present; one that leaves or
//! dies is not waited for any more; when the publisher ends, in order or not, what it had committed
//! is delivered first and the end after it.
//!
//! ```text
//!   publisher                                                subscriber
//!     Writer --------- memory without a name, sealed --------- Reader
//!     door: who comes, who is gone ======== socket ========= lifeline
//! ```
//! Names are sockets in the abstract namespace: no file has them, and they end with their process,
//! however that ends. They belong to the network namespace, and any user could take one; so both
//! sides look who is at the other end ([`Error::Foreign`]) before anything is handed over or
//! mapped. Nothing goes over a network.
//!
//! # Threads
//! Each end can be moved between threads and is used by one at a time. A publisher has a thread of
//! its own, `topic subscriber_listener`, which sleeps unless somebody comes or goes.
//!
//! # Example
//! ```
//! use thalweg_topic::{PublisherConfig, Publisher, Subscriber, TopicEvent};
//!
//! let topic = format!("example {}", std::process::id());
//! let mut subscriber = Subscriber::open(&topic)?;
//! let mut publisher = Publisher::open(&topic, &PublisherConfig::default())?;
//! publisher.acquire(5)?.copy_from_slice(b"hello");
//! publisher.complete(5)?;
//! drop(publisher);
//! let (mut heard, mut has_ended) = (Vec::new(), false);
//! while !has_ended {
//!     subscriber.poll(|event| match event {
//!         TopicEvent::Began(_) => {}
//!         TopicEvent::Message(bytes) => heard.push(bytes.to_vec()),
//!         TopicEvent::Ended(_) => has_ended = true,
//!     })?;
//! }
//! assert_eq!(heard, [b"hello"]);
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
