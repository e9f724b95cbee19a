//! The medium `rdma`: opens and accepts edges over connected endpoints of libfabric.

use std::sync::Arc;

use fabric::{FabricAddress, FabricLibrary, FabricNode, ProviderQuery};
use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

use super::PlacementProof;
use super::receiver::RdmaReceiver;
use super::sender::RdmaSender;
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

/// The medium `rdma`: see the [module](super).
#[derive(Clone, Debug)]
pub struct RdmaMedium {
    /// Name of libfabric's provider, such as `verbs` or `tcp`.
    pub provider: &'static str,
}

impl RdmaMedium {
    /// How receivers know that a record is whole: the provider `tcp` reads a write from its socket
    /// in the order of its bytes, while the receiver polls. Of other providers nothing is known.
    fn proof(&self) -> PlacementProof {
        match self.provider {
            "tcp" => PlacementProof::Marks,
            _ => PlacementProof::Numbers,
        }
    }

    fn query(&self, address: FabricAddress) -> ProviderQuery {
        ProviderQuery {
            provider: self.provider.to_owned(),
            device: None,
            address,
            traffic_class: 0,
        }
    }
}

impl Medium for RdmaMedium {
    fn name(&self) -> &'static str {
        "rdma"
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

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let node = FabricNode::open(&self.query(FabricAddress::Listen(spec.listen.first())));
        let node = node.map_err(refused)?;
        let tickets = seal_tickets(
            self.name(),
            spec,
            &[node.listen_address().map_err(refused)?],
        );
        let bytes = ring_bytes(spec);
        let salt = random_salt()?;
        let sender = WriteSender::new(node, spec, self.proof(), bytes, salt)?;
        let counters = Arc::<EdgeCounters>::default();
        Ok((Box::new(RdmaSender::new(sender, counters)?), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let node = FabricNode::open(&self.query(FabricAddress::Connect(address)));
        let node = node.map_err(refused)?;
        let bytes = ring_bytes(spec);
        let receiver = WriteReceiver::new(node, spec, receiver, self.proof(), bytes)?;
        Ok(Box::new(RdmaReceiver::new(receiver)?))
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
