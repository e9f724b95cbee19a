//! The medium `sim`: opens and accepts edges of another medium, behind seeded faults.

use std::sync::LazyLock;

use super::fault_rng::FaultRng;
use super::faults::SimFaults;
use super::receiver::SimReceiver;
use super::sender::SimSender;
use crate::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd};

/// A medium behind seeded faults.
///
/// # Example
/// An edge over rings that is cut after two frames:
/// ```
/// use thalweg_transport::media::sim::{SimFaults, SimMedium};
/// use thalweg_transport::{Batching, EdgeSpec, Error, Medium, media};
///
/// # let spec = EdgeSpec {
/// #     name: "Trades.0".into(),
/// #     edge: 0,
/// #     receiver_count: 1,
/// #     ring_bytes: 4096,
/// #     batching: Batching::default(),
/// #     token: [7; 16],
/// #     listen: std::net::Ipv4Addr::LOCALHOST.into(),
/// # };
/// let medium = SimMedium {
///     inner: media::find("ring").expect("a medium of this name"),
///     seed: Some(17),
///     faults: SimFaults { cut_sender: Some(2), ..SimFaults::default() },
/// };
/// let (mut sender, _tickets) = medium.open(&spec)?;
/// assert!(sender.try_write(1, 0, b"one")? && sender.try_write(1, 0, b"two")?);
/// assert!(matches!(sender.try_write(1, 0, b"three"), Err(Error::PeerLost(_))));
/// # Ok::<(), thalweg_transport::Error>(())
/// ```
pub struct SimMedium {
    /// The medium that carries the frames.
    pub inner: &'static dyn Medium,
    /// Seed of the faults; `None`: that of [`SEED_VARIABLE`].
    pub seed: Option<u64>,
    /// Kinds and frequencies of the faults.
    pub faults: SimFaults,
}

/// Environment variable with the seed of the registered medium. A failed test prints it.
pub const SEED_VARIABLE: &str = "THALWEG_SIM_SEED";

/// Seed that the environment variable asks for, or else 1.
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
        let sender = SimSender::new(
            inner,
            self.end_rng(spec, 0),
            self.faults,
            spec.receiver_count,
        );
        Ok((Box::new(sender), wrapped.collect()))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, bytes) = ticket.unseal(self.name(), spec)?;
        let bytes = bytes.to_vec();
        let fds = ticket.fds;
        let inner = self.inner.accept(spec, EdgeTicket { bytes, fds })?;
        let cut = self.faults.cut_receiver.filter(|(who, _)| *who == receiver);
        let cut = cut.map(|(_, frames)| frames);
        let rng = self.end_rng(spec, 1 + receiver);
        let receiver_end = SimReceiver::new(inner, rng, self.faults, cut, spec.ring_bytes);
        Ok(Box::new(receiver_end))
    }
}

impl SimMedium {
    /// Random numbers of one end of the edge: 0 is the sender, `n + 1` receiver `n`.
    fn end_rng(&self, spec: &EdgeSpec, end: u32) -> FaultRng {
        let seed = self.seed.unwrap_or_else(|| *SEED);
        FaultRng::new(seed ^ u64::from(spec.edge) << 32 ^ u64::from(end) << 56)
    }
}
