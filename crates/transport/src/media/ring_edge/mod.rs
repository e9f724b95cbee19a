//! Edges over a ring, within a process or between processes: the ends that the media
//! [`ring`](super::ring) and [`shm`](super::shm) share. The media differ in how a sleeping end is
//! woken and in how the death of an end is noticed: [`RingPeers`].
//!
//! ```text
//!   RingSender   = Writer + RingPeers (the receivers)
//!   RingReceiver = Reader + RingPeers (the sender)
//! ```
//! The ring itself says at once that an end was dropped. That a process has died is known to the
//! system: an armed end polls for it and wakes at once, and an end that spins asks now and then,
//! see [`LivenessTimer`](liveness_timer::LivenessTimer).

mod liveness_timer;
mod receiver;
mod ring_peers;
mod sender;

pub(super) use receiver::RingReceiver;
pub(super) use ring_peers::RingPeers;
pub(super) use sender::RingSender;
