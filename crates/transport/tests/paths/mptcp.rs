//! Multipath TCP: the kernel uses all paths that both hosts announce.

use control::HostPaths;
use transport::{EdgeSpec, ListenAddresses};

use crate::hosts::{HostEdge, hosts, on_host};
use crate::numbered_frames::{medium, spec, until};

/// Media whose connections may be of Multipath TCP.
const MEDIA: [&str; 2] = ["rum", "tcp"];

fn listen(hosts: &HostPaths) -> ListenAddresses {
    ListenAddresses::from_mptcp(hosts.near_addresses()[0])
}

#[test]
fn both_paths_carry_a_stream() {
    let Some(hosts) = hosts([100, 100]) else {
        return;
    };
    if let Err(why) = std::fs::read("/proc/sys/net/mptcp/enabled") {
        return println!("PASSED OVER: this kernel has no Multipath TCP: {why}");
    }
    hosts.announce_mptcp_endpoints().expect("announced");
    for name in MEDIA {
        let mut edge = HostEdge::open(&hosts, medium(name), listen(&hosts));
        let sent_bytes = || [0, 1].map(|path| hosts.sent_bytes(path).expect("counted"));
        let before = sent_bytes();
        until("both paths have carried a megabyte", || {
            edge.pass(500);
            let after = sent_bytes();
            let is_enough = |path: usize| after[path] - before[path] > 1_000_000;
            (is_enough(0) && is_enough(1)).then_some(())
        });
        edge.end();
    }
    hosts.withdraw_mptcp_endpoints().expect("withdrawn");
}

#[test]
fn a_kernel_without_it_is_said() {
    let Some(hosts) = hosts([0, 0]) else {
        return;
    };
    let spec = EdgeSpec {
        listen: listen(&hosts),
        ..spec(1)
    };
    let said = on_host(&hosts.near, || {
        let switch = "/proc/sys/net/mptcp/enabled";
        if std::fs::write(switch, "0").is_err() {
            return None;
        }
        let said = MEDIA.map(|name| medium(name).open(&spec).err().expect("refused"));
        std::fs::write(switch, "1").expect("switched on again");
        Some(said.map(|error| error.to_string()))
    });
    for said in said.into_iter().flatten() {
        let words = "offers no Multipath TCP, which `rails mptcp` asks for; it is switched off";
        assert!(said.contains(words), "{said}");
    }
}
