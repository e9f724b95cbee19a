//! The medium `sim`: opens and accepts edges of another medium, behind seeded faults.

use std::sync::LazyLock;

use super::fault_rng::FaultRng;
use super::faults::SimFaults;
use super::receiver::SimReceiver;
use super::sender::SimSender;
use crate::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd};

/// A medium behind faults.
pub struct SimMedium {
    /// What it rides on.
    pub inner: &'static dyn Medium,
    /// Which bad luck it has; `None`: that of [`SEED_VARIABLE`].
    pub seed: Option<u64>,
    /// What may go wrong.
    pub faults: SimFaults,
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
