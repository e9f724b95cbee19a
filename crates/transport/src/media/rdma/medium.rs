//! The medium `rdma`: opens and accepts edges over connected endpoints of libfabric.

use std::sync::Arc;

use fabric::{FabricAddress, FabricLibrary, FabricNode, ProviderQuery};
use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

use super::PlacementProof;
use super::channel_receiver::ChannelReceiver;
use super::channel_sender::ChannelSender;
use super::receiver::RdmaReceiver;
use super::sender::RdmaSender;
use super::settings::{RdmaMode, RdmaSettings};
use super::write_receiver::WriteReceiver;
use super::write_sender::WriteSender;
use super::write_targets::{RECEIVERS_MAX, refused};
use crate::media::tcp_edge::address_ticket::{read_ticket, seal_tickets};
use crate::{
    EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd,
};

/// Fewest bytes of a ring. A smaller ring of the edge's description is raised to this.
const RING_BYTES_MIN: usize = 4096;

/// Most bytes of a ring: as many as the largest ring of the other media holds.
const RING_BYTES_MAX: usize = 1 << 31;

/// The medium `rdma`, with its settings: see the [module](super).
#[derive(Clone, Debug)]
pub struct RdmaMedium {
    settings: RdmaSettings,
}

/// The medium in mode `channel`.
static CHANNEL: RdmaMedium = RdmaMedium {
    settings: RdmaSettings {
        mode: RdmaMode::Channel,
        ..RdmaSettings::DEFAULT
    },
};

impl RdmaMedium {
    /// The medium as plans have it unless they say otherwise: mode `write` over the provider `tcp`.
    pub const DEFAULT: RdmaMedium = RdmaMedium {
        settings: RdmaSettings::DEFAULT,
    };

    /// How receivers know that a record is whole: the provider `tcp` reads a write from its socket
    /// in the order of its bytes, while the receiver polls. Of other providers nothing is known.
    fn proof(&self) -> PlacementProof {
        match self.settings.provider {
            "tcp" => PlacementProof::Marks,
            _ => PlacementProof::Numbers,
        }
    }

    fn query(&self, address: FabricAddress) -> ProviderQuery {
        ProviderQuery {
            provider: self.settings.provider.to_owned(),
            device: None,
            address,
            source: None,
        }
    }
}

impl Medium for RdmaMedium {
    fn name(&self) -> &'static str {
        "rdma"
    }

    fn description(&self) -> String {
        "frames written into the receiver's memory, by libfabric".to_owned()
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            crosses_processes: true,
            crosses_hosts: true,
            is_untrusted: true,
            is_one_to_many: true,
            is_batching: false,
            receivers_max: RECEIVERS_MAX,
            is_for_tests: false,
        }
    }

    fn check_available(&self) -> Result<(), Error> {
        FabricLibrary::load().map(drop).map_err(refused)
    }

    fn with_settings(&'static self, settings: &str) -> Result<&'static dyn Medium, Error> {
        Ok(match RdmaSettings::parse(settings)?.mode {
            RdmaMode::Write => &RdmaMedium::DEFAULT,
            RdmaMode::Channel => &CHANNEL,
        })
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let node = FabricNode::open(&self.query(FabricAddress::Listen(spec.listen.first())));
        let node = node.map_err(refused)?;
        let tickets = seal_tickets(
            self.name(),
            spec,
            &[node.listen_address().map_err(refused)?],
        );
        let bytes = ring_bytes(spec);
        let counters = Arc::<EdgeCounters>::default();
        let end: Box<dyn SendingEnd> = match self.settings.mode {
            RdmaMode::Write => {
                let sender = WriteSender::new(node, spec, self.proof(), bytes, random_salt()?)?;
                Box::new(RdmaSender::new(sender, counters)?)
            }
            RdmaMode::Channel => {
                let sender = ChannelSender::new(node, spec, bytes)?;
                Box::new(RdmaSender::new(sender, counters)?)
            }
        };
        Ok((end, tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let node = FabricNode::open(&self.query(FabricAddress::Connect(address)));
        let node = node.map_err(refused)?;
        let bytes = ring_bytes(spec);
        Ok(match self.settings.mode {
            RdmaMode::Write => {
                let receiver = WriteReceiver::new(node, spec, receiver, self.proof(), bytes)?;
                Box::new(RdmaReceiver::new(receiver)?)
            }
            RdmaMode::Channel => {
                let receiver = ChannelReceiver::new(node, spec, receiver, bytes)?;
                Box::new(RdmaReceiver::new(receiver)?)
            }
        })
    }
}

/// Bytes of the rings of both sides: a multiple of 8.
fn ring_bytes(spec: &EdgeSpec) -> usize {
    spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX) / 8 * 8
}

fn random_salt() -> Result<u64, Error> {
    let mut salt = [0; 8];
    let filled = retry_on_intr(|| getrandom(&mut salt, GetRandomFlags::empty()));
    filled.map_err(|error| Error::system("read random bytes", error))?;
    Ok(u64::from_ne_bytes(salt))
}
