//! All peers, one per file, with the settings that their own people recommend.

#[cfg(feature = "aeron")]
mod aeron;
#[cfg(any(feature = "openmpi", feature = "ucx"))]
mod c_programs;
#[cfg(feature = "iceoryx2")]
mod iceoryx2;
mod queues;
mod raw_tcp;
#[cfg(feature = "rtrb")]
mod rtrb;
#[cfg(feature = "timely")]
mod timely;
#[cfg(feature = "zeromq")]
mod zeromq;

use suite::StreamPath;

use crate::BuiltInPeer;
use crate::peer::PeerEntry;

/// Every peer, built in or not, in the order of the table.
pub fn all_peers() -> Vec<PeerEntry> {
    let mut all = vec![
        peer_entry("rtrb", StreamPath::Threaded, "rtrb", RTRB),
        peer_entry(
            "crossbeam-channel",
            StreamPath::Threaded,
            "crossbeam",
            CHANNEL,
        ),
        peer_entry(
            "crossbeam-queue",
            StreamPath::Threaded,
            "crossbeam",
            ARRAY_QUEUE,
        ),
        PeerEntry::built_in(queues::SYNC_CHANNEL),
        peer_entry("timely", StreamPath::Threaded, "timely", TIMELY),
        peer_entry("iceoryx2", StreamPath::Shm, "iceoryx2", ICEORYX2),
        peer_entry("aeron-ipc", StreamPath::Shm, "aeron", AERON),
        peer_entry("zeromq-ipc", StreamPath::Shm, "zeromq", ZEROMQ_IPC),
        peer_entry("zeromq-tcp", StreamPath::Rum, "zeromq", ZEROMQ_TCP),
        openmpi(),
        ucx(),
        PeerEntry::built_in(raw_tcp::BLOCKS),
        PeerEntry::built_in(raw_tcp::WRITES),
    ];
    all.extend(UNAVAILABLE_PEERS.map(|(name, path, why)| PeerEntry::missing(name, path, why)));
    all
}

/// Peers that no registry has, and the reasons.
const UNAVAILABLE_PEERS: [(&str, StreamPath, &str); 2] = [
    (
        "fastflow",
        StreamPath::Threaded,
        "a C++ library without a package: crates.io, npm and Debian have none, and what PyPI has by \
         that name is something else",
    ),
    (
        "windflow",
        StreamPath::Threaded,
        "a C++ library on fastflow, and without a package as well",
    ),
];

#[cfg(feature = "openmpi")]
fn openmpi() -> PeerEntry {
    c_programs::openmpi::entry()
}
#[cfg(not(feature = "openmpi"))]
fn openmpi() -> PeerEntry {
    PeerEntry::not_built("openmpi", StreamPath::Shm, "openmpi")
}

#[cfg(feature = "ucx")]
fn ucx() -> PeerEntry {
    c_programs::ucx::entry()
}
#[cfg(not(feature = "ucx"))]
fn ucx() -> PeerEntry {
    PeerEntry::not_built("ucx", StreamPath::Shm, "ucx")
}

fn peer_entry(
    name: &'static str,
    path: StreamPath,
    feature: &'static str,
    peer: Option<BuiltInPeer>,
) -> PeerEntry {
    match peer {
        Some(peer) => PeerEntry::built_in(peer),
        None => PeerEntry::not_built(name, path, feature),
    }
}

#[cfg(feature = "rtrb")]
const RTRB: Option<BuiltInPeer> = Some(rtrb::PEER);
#[cfg(not(feature = "rtrb"))]
const RTRB: Option<BuiltInPeer> = None;

#[cfg(feature = "crossbeam")]
const CHANNEL: Option<BuiltInPeer> = Some(queues::crossbeam::CHANNEL);
#[cfg(not(feature = "crossbeam"))]
const CHANNEL: Option<BuiltInPeer> = None;

#[cfg(feature = "crossbeam")]
const ARRAY_QUEUE: Option<BuiltInPeer> = Some(queues::crossbeam::ARRAY_QUEUE);
#[cfg(not(feature = "crossbeam"))]
const ARRAY_QUEUE: Option<BuiltInPeer> = None;

#[cfg(feature = "timely")]
const TIMELY: Option<BuiltInPeer> = Some(timely::PEER);
#[cfg(not(feature = "timely"))]
const TIMELY: Option<BuiltInPeer> = None;

#[cfg(feature = "iceoryx2")]
const ICEORYX2: Option<BuiltInPeer> = Some(iceoryx2::PEER);
#[cfg(not(feature = "iceoryx2"))]
const ICEORYX2: Option<BuiltInPeer> = None;

#[cfg(feature = "aeron")]
const AERON: Option<BuiltInPeer> = Some(aeron::PEER);
#[cfg(not(feature = "aeron"))]
const AERON: Option<BuiltInPeer> = None;

#[cfg(feature = "zeromq")]
const ZEROMQ_IPC: Option<BuiltInPeer> = Some(zeromq::IPC);
#[cfg(not(feature = "zeromq"))]
const ZEROMQ_IPC: Option<BuiltInPeer> = None;

#[cfg(feature = "zeromq")]
const ZEROMQ_TCP: Option<BuiltInPeer> = Some(zeromq::TCP);
#[cfg(not(feature = "zeromq"))]
const ZEROMQ_TCP: Option<BuiltInPeer> = None;
