//! The medium that has bad luck: another medium behind seeded faults, for tests.
//!
//! Mild faults are what the contract allows and a lucky run never shows: a claim finds no room, a
//! flush has to be called again, frames come late and in small batches. Cuts end an edge at a chosen
//! frame, as the death of either side does: what was committed before is delivered, then both sides
//! say that the other one is lost.
//!
//! ```text
//!   claim   -> no room, now and then            poll    -> nothing, now and then
//!   flush   -> call again, now and then                 -> some of the frames, the rest later
//!   commit  -> cut after so many                        -> cut after so many
//! ```
//! The same seed has the same bad luck, but for how the threads of the two sides meet.

mod chance;
mod inbound;
mod outbound;

use std::sync::LazyLock;

use crate::{Caps, Error, Inbound, Loss, Medium, Outbound, Spec, Ticket};

use chance::Chance;
use inbound::SimInbound;
use outbound::SimOutbound;

/// A medium behind faults.
pub struct Sim {
    /// What it rides on.
    pub inner: &'static dyn Medium,
    /// Which bad luck it has; `None`: that of [`SEED_VARIABLE`].
    pub seed: Option<u64>,
    /// What may go wrong.
    pub faults: Faults,
}

/// What may go wrong on each edge. A chance is one in so many; 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// That a claim finds no room.
    pub no_room: u32,
    /// That a flush has to be called again.
    pub short_flush: u32,
    /// That a poll finds nothing.
    pub late: u32,
    /// That a poll shows only some of the frames.
    pub split: u32,
    /// The sending end is cut off after so many frames.
    pub cut_sender: Option<u64>,
    /// The receiver of this number is cut off after so many frames.
    pub cut_receiver: Option<(u32, u64)>,
}

impl Faults {
    /// Everything that the contract allows, often.
    pub const MILD: Faults = Faults {
        no_room: 5,
        short_flush: 3,
        late: 4,
        split: 2,
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

impl Medium for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn caps(&self) -> Caps {
        Caps {
            is_for_tests: true,
            ..self.inner.caps()
        }
    }

    fn open(&self, spec: &Spec) -> Result<(Box<dyn Outbound>, Vec<Ticket>), Error> {
        let (inner, tickets) = self.inner.open(spec)?;
        let wrapped = (0..).zip(tickets).map(|(receiver, ticket)| Ticket {
            fds: ticket.fds,
            ..Ticket::seal(self.name(), spec, receiver, &ticket.bytes)
        });
        let outbound = SimOutbound::new(inner, self.chance(spec, 0), self.faults, spec.receivers);
        Ok((Box::new(outbound), wrapped.collect()))
    }

    fn accept(&self, spec: &Spec, ticket: Ticket) -> Result<Box<dyn Inbound>, Error> {
        let (receiver, bytes) = ticket.unseal(self.name(), spec)?;
        let bytes = bytes.to_vec();
        let fds = ticket.fds;
        let inner = self.inner.accept(spec, Ticket { bytes, fds })?;
        let cut = self.faults.cut_receiver.filter(|(who, _)| *who == receiver);
        let cut = cut.map(|(_, frames)| frames);
        let chance = self.chance(spec, 1 + receiver);
        let inbound = SimInbound::new(inner, chance, self.faults, cut, spec.ring_bytes);
        Ok(Box::new(inbound))
    }
}

impl Sim {
    /// Each end has its own.
    fn chance(&self, spec: &Spec, end: u32) -> Chance {
        let seed = self.seed.unwrap_or_else(|| *SEED);
        Chance::new(seed ^ u64::from(spec.link) << 32 ^ u64::from(end) << 56)
    }
}

/// What an end that was cut off says.
fn cut_off(receiver: Option<u32>) -> Error {
    let why = "the simulation has cut the edge".to_owned();
    Error::Lost(Loss { receiver, why })
}
