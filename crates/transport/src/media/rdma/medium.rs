//! The medium `rdma`: opens and accepts edges over connected endpoints of libfabric.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use fabric::{FabricAddress, FabricLibrary, FabricNode, ProviderQuery, has_provider};
use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

use super::adapter::AdapterFolders;
use super::channel_receiver::ChannelReceiver;
use super::channel_sender::ChannelSender;
use super::provider::Provider;
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

/// The media with other settings than [`RdmaMedium::DEFAULT`] that were asked for: each stays as
/// long as the process.
static WITH_SETTINGS: Mutex<Vec<&'static RdmaMedium>> = Mutex::new(Vec::new());

impl RdmaMedium {
    /// The medium as plans have it unless they say otherwise: mode `write` over the provider `tcp`.
    pub const DEFAULT: RdmaMedium = RdmaMedium {
        settings: RdmaSettings::DEFAULT,
    };

    /// The one medium with these settings.
    fn of_settings(settings: RdmaSettings) -> &'static RdmaMedium {
        let mut media = WITH_SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = media.iter().find(|known| known.settings == settings) {
            return known;
        }
        let medium: &'static RdmaMedium = Box::leak(Box::new(RdmaMedium { settings }));
        media.push(medium);
        medium
    }

    /// Opens a node that listens at an address of this host, or at that of the GID of the settings.
    fn listen(&self, address: IpAddr) -> Result<FabricNode, Error> {
        let address = self.own_address()?.unwrap_or(address);
        self.open_node(FabricAddress::Listen(address), None)
    }

    /// Opens a node that connects to an address, from that of the GID of the settings.
    fn connect(&self, to: SocketAddr) -> Result<FabricNode, Error> {
        self.open_node(FabricAddress::Connect(to), self.own_address()?)
    }

    fn open_node(
        &self,
        address: FabricAddress,
        source: Option<IpAddr>,
    ) -> Result<FabricNode, Error> {
        if let (Some(device), Some(class)) = (self.settings.device, self.settings.class) {
            AdapterFolders::of_system().check_class(device, class)?;
        }
        let query = ProviderQuery {
            provider: self.settings.provider.name().to_owned(),
            device: self.settings.device.map(str::to_owned),
            address,
            source,
        };
        FabricNode::open(&query).map_err(refused)
    }

    /// Address of the GID that the settings choose.
    fn own_address(&self) -> Result<Option<IpAddr>, Error> {
        match (self.settings.device, self.settings.gid) {
            (Some(device), Some(gid)) => AdapterFolders::of_system().address(device, gid).map(Some),
            _ => Ok(None),
        }
    }
}

impl Medium for RdmaMedium {
    fn name(&self) -> &'static str {
        "rdma"
    }

    fn description(&self) -> String {
        let providers = Provider::ALL.map(|provider| {
            let (name, reach) = (provider.name(), provider.reach());
            match has_provider(name) {
                Ok(true) => format!("{name} ({reach})"),
                _ => format!("{name} (no device here)"),
            }
        });
        let providers = providers.join(", ");
        format!("frames written into the receiver's memory, by libfabric: {providers}")
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            crosses_processes: true,
            crosses_hosts: self.settings.provider.crosses_hosts(),
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
        Ok(RdmaMedium::of_settings(RdmaSettings::parse(settings)?))
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let address = spec.listen.first();
        self.settings.provider.check_address(&spec.name, address)?;
        let node = self.listen(address)?;
        let tickets = seal_tickets(
            self.name(),
            spec,
            &[node.listen_address().map_err(refused)?],
        );
        let (bytes, proof) = (ring_bytes(spec), self.settings.provider.proof());
        let counters = Arc::<EdgeCounters>::default();
        let end: Box<dyn SendingEnd> = match self.settings.mode {
            RdmaMode::Write => {
                let sender = WriteSender::new(node, spec, proof, bytes, random_salt()?)?;
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
        let node = self.connect(address)?;
        let (bytes, proof) = (ring_bytes(spec), self.settings.provider.proof());
        Ok(match self.settings.mode {
            RdmaMode::Write => {
                let receiver = WriteReceiver::new(node, spec, receiver, proof, bytes)?;
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
