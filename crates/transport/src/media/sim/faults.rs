//! The faults that the simulation injects, and the error of an end that it has cut off.

use crate::{Error, PeerLoss};

/// Faults that are injected on each edge. A frequency `n` means one in `n` calls; 0 means never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimFaults {
    /// Frequency with which a claim finds no room.
    pub no_room: u32,
    /// Frequency with which a flush has to be called again.
    pub short_flush: u32,
    /// Frequency with which a poll finds nothing.
    pub late_poll: u32,
    /// Frequency with which a poll shows only some of the frames.
    pub split_poll: u32,
    /// Number of frames after which the sending end is cut off; `None`: never.
    pub cut_sender: Option<u64>,
    /// Number of a receiver, and of frames after which it is cut off; `None`: never.
    pub cut_receiver: Option<(u32, u64)>,
}

impl SimFaults {
    /// Every fault that the contract allows, often.
    pub const MILD: SimFaults = SimFaults {
        no_room: 5,
        short_flush: 3,
        late_poll: 4,
        split_poll: 2,
        cut_sender: None,
        cut_receiver: None,
    };
}

/// The error of an end that was cut off. `receiver` is the lost receiver; `None`: the sender.
pub(super) fn cut_error(receiver: Option<u32>) -> Error {
    let why = "the simulation has cut the edge".to_owned();
    Error::PeerLost(PeerLoss {
        receiver,
        reason: why,
    })
}
