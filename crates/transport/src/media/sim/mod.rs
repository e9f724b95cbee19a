//! The medium that has bad luck: another medium behind seeded faults, for tests.
//!
//! Mild faults are what the contract allows and a lucky run never shows: a claim finds no room, a
//! flush has to be called again, frames come late and in small batches. Cuts end an edge at a
//! chosen frame, as the death of either side does: what was committed before is delivered, then
//! both sides say that the other one is lost.
//!
//! ```text
//!   claim   -> no room, now and then            poll    -> nothing, now and then
//!   flush   -> call again, now and then                 -> some of the frames, the rest later
//!   commit  -> cut after so many                        -> cut after so many
//! ```
//! The same seed has the same bad luck, but for how the threads of the two sides meet.

mod fault_rng;
mod receiver;
mod sender;

use std::sync::LazyLock;

use crate::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, PeerLoss, ReceivingEnd, SendingEnd};

use fault_rng::FaultRng;
use receiver::SimReceiver;
use sender::SimSender;

/// A medium behind faults.
pub struct SimMedium {
    /// What it rides on.
    pub inner: &'static dyn Medium,
    /// Which bad luck it has; `None`: that of [`SEED_VARIABLE`].
    pub seed: Option<u64>,
    /// What may go wrong.
    pub faults: SimFaults,
}

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

/// The variable with the seed of the registered medium: a failed test says how it was set.
pub const SEED_VARIABLE: &str = "THALWEG_SIM_SEED";

/// The seed that the variable asks for, or else 1.
pub static SEED: LazyLock<u64> = LazyLock::new(|| {
    let asked = std::env::var(SEED_VARIABLE);
    asked.ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
});

impl Medium for SimMedium {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            is_for_tests: true,
            ..self.inner.caps()
        }
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let (inner, tickets) = self.inner.open(spec)?;
        let wrapped = (0..).zip(tickets).map(|(receiver, ticket)| EdgeTicket {
            fds: ticket.fds,
            ..EdgeTicket::seal(self.name(), spec, receiver, &ticket.bytes)
        });
        let outbound = SimSender::new(
            inner,
            self.end_rng(spec, 0),
            self.faults,
            spec.receiver_count,
        );
        Ok((Box::new(outbound), wrapped.collect()))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, bytes) = ticket.unseal(self.name(), spec)?;
        let bytes = bytes.to_vec();
        let fds = ticket.fds;
        let inner = self.inner.accept(spec, EdgeTicket { bytes, fds })?;
        let cut = self.faults.cut_receiver.filter(|(who, _)| *who == receiver);
        let cut = cut.map(|(_, frames)| frames);
        let chance = self.end_rng(spec, 1 + receiver);
        let inbound = SimReceiver::new(inner, chance, self.faults, cut, spec.ring_bytes);
        Ok(Box::new(inbound))
    }
}

impl SimMedium {
    /// Each end has its own.
    fn end_rng(&self, spec: &EdgeSpec, end: u32) -> FaultRng {
        let seed = self.seed.unwrap_or_else(|| *SEED);
        FaultRng::new(seed ^ u64::from(spec.edge) << 32 ^ u64::from(end) << 56)
    }
}

/// What an end that was cut off says.
fn cut_error(receiver: Option<u32>) -> Error {
    let why = "the simulation has cut the edge".to_owned();
    Error::PeerLost(PeerLoss {
        receiver,
        reason: why,
    })
}
