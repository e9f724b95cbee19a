//! The handlers of signals that libfabric, its providers and the libraries that they link install
//! are taken back, whichever threads open nodes at the same time. A test binary of its own: what
//! is looked at is the process.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Barrier;

use thalweg_fabric::{
    FabricAddress, FabricNode, ProviderQuery, RdmaNode, has_provider, provider_limits,
};

const THREADS: usize = 8;

#[test]
fn the_process_keeps_its_signal_handlers() {
    let before = caught_signals();
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                use_provider(["tcp", "shm"][thread % 2]);
            });
        }
    });
    assert_eq!(caught_signals(), before, "bit n - 1 is signal n");
}

/// Looks a provider up and connects a node to another, if it is here.
fn use_provider(provider: &str) {
    if !has_provider(provider).is_ok_and(|has| has) {
        return;
    }
    let query = |address| ProviderQuery {
        provider: provider.to_owned(),
        device: None,
        address,
        source: None,
    };
    let listen = query(FabricAddress::Listen(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    provider_limits(&listen).unwrap();
    let server = FabricNode::open(&listen).unwrap();
    let address = server.listen_address().unwrap();
    let mut client = FabricNode::open(&query(FabricAddress::Connect(address))).unwrap();
    client.connect(b"").unwrap();
}

/// The signals for which the process has a handler, a bit each.
fn caught_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    u64::from_str_radix(caught.unwrap().trim(), 16).unwrap()
}
