//! The medium `rdma`: opens and accepts edges over connected endpoints of libfabric.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fabric::{FabricAddress, FabricLibrary, FabricNode, ProviderQuery, has_provider};
use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

use super::adapter::AdapterFolders;
use super::batch_pacing::BatchTerms;
use super::batch_ticket::{read_batch_ticket, seal_batch_tickets};
use super::channel_receiver::ChannelReceiver;
use super::channel_sender::ChannelSender;
use super::introduction::Introduction;
use super::peer_watch::PeerWatch;
use super::provider::Provider;
use super::receiver::RdmaReceiver;
use super::sender::RdmaSender;
use super::sender_reconnection::{ReconnectTimes, SenderReconnection, WatchedSender};
use super::settings::{RdmaMode, RdmaSettings, SETTINGS};
use super::write_receiver::WriteReceiver;
use super::write_sender::WriteSender;
use super::write_targets::{RECEIVERS_MAX, WriteTerms, refused};
use crate::media::rum::RumMedium;
use crate::media::tcp_edge::address_ticket::{read_ticket, seal_tickets};
use crate::media::tcp_edge::handshake::random_instance;
use crate::{
    EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, MediumSetting, RAILS_MAX,
    ReceivingEnd, SendingEnd,
};

/// Fewest bytes of a ring. A smaller ring of the edge's description is raised to this.
const RING_BYTES_MIN: usize = 4096;

/// Most bytes of a ring: as many as the largest ring of the other media holds.
const RING_BYTES_MAX: usize = 1 << 31;

/// Most time that both sides wait for a broken connection, unless a test says otherwise: that of
/// `rum`.
const RECONNECT_TIMEOUT: Duration = RumMedium::DEFAULT.reconnect_timeout;

/// The medium `rdma`, with its settings: see the [module](super).
#[derive(Clone, Debug)]
pub struct RdmaMedium {
    name: &'static str,
    pub(super) settings: RdmaSettings,
    /// In mode `batch`, most time that both sides wait for a broken connection to be made again.
    pub(super) reconnect_timeout: Duration,
}

/// The media with other settings than [`RdmaMedium::DEFAULT`] that were asked for: each stays as
/// long as the process.
static WITH_SETTINGS: Mutex<Vec<&'static RdmaMedium>> = Mutex::new(Vec::new());

impl RdmaMedium {
    /// The medium as plans have it unless they say otherwise: mode `write` over the provider `tcp`.
    pub const DEFAULT: RdmaMedium = RdmaMedium::of_mode(RdmaMode::Write, RECONNECT_TIMEOUT);

    /// The medium in mode `batch`, which waits so long for a broken connection to be made again.
    pub const fn batch(reconnect_timeout: Duration) -> RdmaMedium {
        RdmaMedium::of_mode(RdmaMode::Batch, reconnect_timeout)
    }

    /// Mode `batch` by a name of its own: `rum` over RDMA.
    pub const RUM_RDMA: RdmaMedium = RdmaMedium {
        name: "rum-rdma",
        ..RdmaMedium::batch(RECONNECT_TIMEOUT)
    };

    const fn of_mode(mode: RdmaMode, reconnect_timeout: Duration) -> RdmaMedium {
        RdmaMedium {
            name: "rdma",
            settings: RdmaSettings {
                mode,
                ..RdmaSettings::DEFAULT
            },
            reconnect_timeout,
        }
    }

    /// The one medium with this name and these settings.
    fn of_settings(&'static self, settings: RdmaSettings) -> &'static RdmaMedium {
        let mut media = WITH_SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&&RdmaMedium| (known.name, known.settings) == (self.name, settings);
        if let Some(known) = media.iter().find(is_it) {
            return known;
        }
        let medium: &'static RdmaMedium = Box::leak(Box::new(RdmaMedium {
            settings,
            ..self.clone()
        }));
        media.push(medium);
        medium
    }

    /// Opens a node that listens at an address of this host, or at that of the GID of the settings.
    pub(super) fn listen(&self, address: IpAddr) -> Result<FabricNode, Error> {
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
        FabricNode::open(&self.query(address, source)).map_err(refused)
    }

    /// The terms of an edge in mode `write`, or in mode `batch` with a watch.
    fn write_terms(
        &self,
        spec: &EdgeSpec,
        counters: &Arc<EdgeCounters>,
        watch: Option<Arc<PeerWatch>>,
    ) -> Result<WriteTerms, Error> {
        let batch = |watch| BatchTerms {
            batching: spec.batching,
            reconnect_timeout: self.reconnect_timeout,
            counters: counters.clone(),
            watch: Some(watch),
            clock: Instant::now,
        };
        Ok(WriteTerms {
            proof: self.settings.provider.proof(),
            ring_bytes: ring_bytes(spec) as u64,
            salt: random_salt()?,
            batch: watch.map(batch),
        })
    }

    /// Opens an edge in mode `batch` over a node that listens.
    fn open_batch(
        &self,
        node: FabricNode,
        spec: &EdgeSpec,
        counters: Arc<EdgeCounters>,
    ) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let address = node.listen_address().map_err(refused)?;
        let watch = PeerWatch::of_sender(address.ip(), random_instance())?;
        let tickets = seal_batch_tickets(self.name(), spec, address, watch.own());
        let terms = self.write_terms(spec, &counters, Some(watch))?;
        let sender = WriteSender::new(node, spec, &terms)?;
        Ok((Box::new(RdmaSender::new(sender, counters)?), tickets))
    }

    /// Accepts an edge in mode `batch`.
    fn accept_batch(
        &self,
        spec: &EdgeSpec,
        ticket: &EdgeTicket,
    ) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, address, liveness) = read_batch_ticket(self.name(), spec, ticket)?;
        let query = self.query(FabricAddress::Connect(address), self.own_address()?);
        let node = FabricNode::open(&query).map_err(refused)?;
        let watch = PeerWatch::of_receiver(address, random_instance())?;
        let introduction = Introduction {
            instance: watch.own().instance,
            liveness: Some(watch.own().address),
        };
        let open_node = move || FabricNode::open(&query);
        let watched = Some(WatchedSender { watch, liveness });
        let times = ReconnectTimes::giving_up_after(self.reconnect_timeout);
        let link = SenderReconnection::new(open_node, introduction, watched, times, Instant::now);
        let (proof, bytes) = (self.settings.provider.proof(), ring_bytes(spec));
        let receiver = WriteReceiver::new(node, spec, receiver, proof, bytes, Some(link))?;
        Ok(Box::new(RdmaReceiver::new(receiver)?))
    }

    pub(super) fn query(&self, address: FabricAddress, source: Option<IpAddr>) -> ProviderQuery {
        ProviderQuery {
            provider: self.settings.provider.name().to_owned(),
            device: self.settings.device.map(str::to_owned),
            address,
            source,
        }
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
        self.name
    }

    fn description(&self) -> String {
        if self.name != RdmaMedium::DEFAULT.name {
            return "rum over RDMA: batches written into the receiver's memory".to_owned();
        }
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
            is_batching: self.settings.mode == RdmaMode::Batch,
            receivers_max: RECEIVERS_MAX,
            is_for_tests: false,
        }
    }

    fn rails_max(&self) -> usize {
        match self.settings.mode {
            RdmaMode::Batch => RAILS_MAX,
            RdmaMode::Write | RdmaMode::Channel => 1,
        }
    }

    fn check_rails(&self, is_mptcp: bool) -> Result<(), Error> {
        self.check_own_rails(is_mptcp).map_err(Error::Refused)
    }

    fn check_available(&self) -> Result<(), Error> {
        FabricLibrary::load().map(drop).map_err(refused)
    }

    fn settings(&self) -> &'static [MediumSetting] {
        SETTINGS
    }

    fn with_settings(&'static self, settings: &str) -> Result<&'static dyn Medium, Error> {
        if self.name == RdmaMedium::DEFAULT.name {
            return Ok(self.of_settings(RdmaSettings::parse(settings)?));
        }
        let mut words = settings.split_whitespace();
        let names_mode = words.any(|word| word.starts_with("mode="));
        let parsed = match names_mode {
            true => RdmaSettings::parse(settings)?,
            false => RdmaSettings::parse(&format!("{settings} mode=batch"))?,
        };
        match parsed.mode {
            RdmaMode::Batch => Ok(self.of_settings(parsed)),
            _ => Err(Error::Refused(format!(
                "{} is rdma in mode batch, and has no other",
                self.name
            ))),
        }
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        if self.has_rails(spec)? {
            return self.open_rails(spec);
        }
        let address = spec.listen.first();
        self.settings.provider.check_address(&spec.name, address)?;
        let node = self.listen(address)?;
        let counters = Arc::<EdgeCounters>::default();
        if self.settings.mode == RdmaMode::Batch {
            return self.open_batch(node, spec, counters);
        }
        let tickets = seal_tickets(
            self.name(),
            spec,
            &[node.listen_address().map_err(refused)?],
        );
        let bytes = ring_bytes(spec);
        let end: Box<dyn SendingEnd> = match self.settings.mode {
            RdmaMode::Write | RdmaMode::Batch => {
                let terms = self.write_terms(spec, &counters, None)?;
                let sender = WriteSender::new(node, spec, &terms)?;
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
        if self.has_rails(spec)? {
            return self.accept_rails(spec, &ticket);
        }
        if self.settings.mode == RdmaMode::Batch {
            return self.accept_batch(spec, &ticket);
        }
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let node = self.connect(address)?;
        let (bytes, proof) = (ring_bytes(spec), self.settings.provider.proof());
        Ok(match self.settings.mode {
            RdmaMode::Write | RdmaMode::Batch => {
                let receiver = WriteReceiver::new(node, spec, receiver, proof, bytes, None)?;
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
pub(super) fn ring_bytes(spec: &EdgeSpec) -> usize {
    spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX) / 8 * 8
}

pub(super) fn random_salt() -> Result<u64, Error> {
    let mut salt = [0; 8];
    let filled = retry_on_intr(|| getrandom(&mut salt, GetRandomFlags::empty()));
    filled.map_err(|error| Error::system("read random bytes", error))?;
    Ok(u64::from_ne_bytes(salt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rum_rdma_is_mode_batch() {
        static RUM_RDMA: RdmaMedium = RdmaMedium::RUM_RDMA;
        static RDMA: RdmaMedium = RdmaMedium::DEFAULT;
        let with = |settings| RUM_RDMA.with_settings(settings);
        let of_mode = |mode| RDMA.with_settings(mode).expect("a mode").caps();
        let batch = of_mode("mode=batch");
        for settings in ["mode=batch", "provider=tcp"] {
            let medium = with(settings).expect("its own mode");
            assert_eq!((medium.name(), medium.caps()), ("rum-rdma", batch));
        }
        let of_device = with("device=eth0").expect("a setting").name();
        assert_eq!(of_device, "rum-rdma");
        let same = [with("device=eth0"), with("device=eth0")].map(|medium| {
            let medium: *const dyn Medium = medium.expect("a setting");
            medium.cast::<()>()
        });
        assert_eq!(same[0], same[1], "a medium with settings is kept once");
        let refusal = with("provider=shm").err().expect("no rum-rdma").to_string();
        assert!(refusal.contains("mode batch runs over"), "{refusal}");
        let refusal = with("mode=write").err().expect("another mode").to_string();
        assert_eq!(refusal, "rum-rdma is rdma in mode batch, and has no other");
        assert!(batch.is_batching && !of_mode("mode=channel").is_batching);
    }
}
