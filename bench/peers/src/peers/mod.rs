//! All peers: a file each, with the settings that its own people recommend.

#[cfg(feature = "aeron")]
mod aeron;
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

use suite::Path;

use crate::Peer;
use crate::peer::Entry;

/// Every peer, whether it is built in or not; in the order of the table.
pub fn all() -> Vec<Entry> {
    let mut all = vec![
        entry("rtrb", Path::Threaded, "rtrb", RTRB),
        entry("crossbeam-channel", Path::Threaded, "crossbeam", CHANNEL),
        entry("crossbeam-queue", Path::Threaded, "crossbeam", ARRAY_QUEUE),
        Entry::here(queues::SYNC_CHANNEL),
        entry("timely", Path::Threaded, "timely", TIMELY),
        entry("iceoryx2", Path::Shm, "iceoryx2", ICEORYX2),
        entry("aeron-ipc", Path::Shm, "aeron", AERON),
        entry("zeromq-ipc", Path::Shm, "zeromq", ZEROMQ_IPC),
        entry("zeromq-tcp", Path::Rum, "zeromq", ZEROMQ_TCP),
        Entry::here(raw_tcp::BLOCKS),
        Entry::here(raw_tcp::WRITES),
    ];
    all.extend(NOT_TO_BE_HAD.map(|(name, path, why)| Entry::missing(name, path, why)));
    all
}

/// Peers that no registry has, and why.
const NOT_TO_BE_HAD: [(&str, Path, &str); 2] = [
    (
        "fastflow",
        Path::Threaded,
        "a C++ library without a package: crates.io, npm and Debian have none, and what PyPI has by \
         that name is something else",
    ),
    (
        "windflow",
        Path::Threaded,
        "a C++ library on fastflow, and without a package as well",
    ),
];

fn entry(name: &'static str, path: Path, feature: &'static str, peer: Option<Peer>) -> Entry {
    match peer {
        Some(peer) => Entry::here(peer),
        None => Entry::not_built(name, path, feature),
    }
}

#[cfg(feature = "rtrb")]
const RTRB: Option<Peer> = Some(rtrb::PEER);
#[cfg(not(feature = "rtrb"))]
const RTRB: Option<Peer> = None;

#[cfg(feature = "crossbeam")]
const CHANNEL: Option<Peer> = Some(queues::crossbeam::CHANNEL);
#[cfg(not(feature = "crossbeam"))]
const CHANNEL: Option<Peer> = None;

#[cfg(feature = "crossbeam")]
const ARRAY_QUEUE: Option<Peer> = Some(queues::crossbeam::ARRAY_QUEUE);
#[cfg(not(feature = "crossbeam"))]
const ARRAY_QUEUE: Option<Peer> = None;

#[cfg(feature = "timely")]
const TIMELY: Option<Peer> = Some(timely::PEER);
#[cfg(not(feature = "timely"))]
const TIMELY: Option<Peer> = None;

#[cfg(feature = "iceoryx2")]
const ICEORYX2: Option<Peer> = Some(iceoryx2::PEER);
#[cfg(not(feature = "iceoryx2"))]
const ICEORYX2: Option<Peer> = None;

#[cfg(feature = "aeron")]
const AERON: Option<Peer> = Some(aeron::PEER);
#[cfg(not(feature = "aeron"))]
const AERON: Option<Peer> = None;

#[cfg(feature = "zeromq")]
const ZEROMQ_IPC: Option<Peer> = Some(zeromq::IPC);
#[cfg(not(feature = "zeromq"))]
const ZEROMQ_IPC: Option<Peer> = None;

#[cfg(feature = "zeromq")]
const ZEROMQ_TCP: Option<Peer> = Some(zeromq::TCP);
#[cfg(not(feature = "zeromq"))]
const ZEROMQ_TCP: Option<Peer> = None;
