//! The faults that the simulation injects, and the error of an end that it has cut off.

use crate::{Error, PeerLoss};

/// What may go wrong on each edge. A chance is one in so many; 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimFaults {
    /// That a claim finds no room.
    pub no_room: u32,
    /// That a flush has to be called again.
    pub short_flush: u32,
    /// That a poll finds nothing.
    pub late_poll: u32,
    /// That a poll shows only some of the frames.
    pub split_poll: u32,
    /// The sending end is cut off after so many frames.
    pub cut_sender: Option<u64>,
    /// The receiver of this number is cut off after so many frames.
    pub cut_receiver: Option<(u32, u64)>,
}

impl SimFaults {
    /// Everything that the contract allows, often.
    pub const MILD: SimFaults = SimFaults {
        no_room: 5,
        short_flush: 3,
        late_poll: 4,
        split_poll: 2,
        cut_sender: None,
        cut_receiver: None,
    };
}

/// What an end that was cut off says.
pub(super) fn cut_error(receiver: Option<u32>) -> Error {
    let why = "the simulation has cut the edge".to_owned();
    Error::PeerLost(PeerLoss {
        receiver,
        reason: why,
    })
}
