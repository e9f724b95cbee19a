//! Edges between the two hosts, and loops that sleep as the engine's threads do.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use control::{HostPaths, NetNamespace};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use transport::{Batching, EdgeSpec, ListenAddresses, ReceivingEnd, SendingEnd, Waitable, media};

/// Longest sleep, after which a thread looks whether the run is over.
const SLEEP_MAX: Duration = Duration::from_millis(20);

/// Media whose streams may have rails, those that libfabric is needed for only where it is.
pub fn media() -> impl Iterator<Item = &'static str> {
    let media = ["rum", "tcp", "rum-rdma"].into_iter();
    media.filter(|name| {
        let found = media::find(name).expect("a medium").check_available();
        if let Err(why) = &found {
            println!("  {name} is passed over: {why}");
        }
        found.is_ok()
    })
}

/// An edge between the hosts: its medium, and the addresses of its sender.
#[derive(Clone, Debug)]
pub struct EdgeKind {
    pub medium: &'static str,
    pub listen: ListenAddresses,
    pub ring_bytes: usize,
}

/// Both ends of an edge.
pub struct Edge {
    pub out: Box<dyn SendingEnd>,
    pub end: Box<dyn ReceivingEnd>,
}

impl EdgeKind {
    /// An edge on the first path alone.
    pub fn one_path(medium: &'static str, hosts: &HostPaths) -> EdgeKind {
        EdgeKind::on(medium, hosts.near_addresses()[0].into())
    }

    /// An edge on all paths.
    pub fn rails(medium: &'static str, hosts: &HostPaths) -> EdgeKind {
        let listen = ListenAddresses::from_rails(&hosts.near_addresses());
        EdgeKind::on(medium, listen.expect("two addresses"))
    }

    /// An edge that the kernel spreads over all paths.
    pub fn mptcp(medium: &'static str, hosts: &HostPaths) -> EdgeKind {
        EdgeKind::on(
            medium,
            ListenAddresses::from_mptcp(hosts.near_addresses()[0]),
        )
    }

    fn on(medium: &'static str, listen: ListenAddresses) -> EdgeKind {
        EdgeKind {
            medium,
            listen,
            ring_bytes: 1 << 20,
        }
    }

    /// Opens the edge, the sender on the near host and the receiver on the far one.
    pub fn open(&self, hosts: &HostPaths) -> Edge {
        let spec = EdgeSpec {
            name: "bench".into(),
            edge: 0,
            receiver_count: 1,
            ring_bytes: self.ring_bytes,
            batching: Batching::default(),
            token: [7; 16],
            listen: self.listen.clone(),
        };
        let medium = media::find(self.medium).expect("a medium");
        let (out, mut tickets) = on_host(&hosts.near, || medium.open(&spec).expect("opened"));
        let ticket = tickets.remove(0);
        let end = on_host(&hosts.far, || {
            medium.accept(&spec, ticket).expect("accepted")
        });
        Edge { out, end }
    }
}

/// Starts the process's IO thread on a host: it connects receivers again, so it is of their host.
pub fn start_io_thread(host: &NetNamespace) {
    let listen: IpAddr = Ipv4Addr::LOCALHOST.into();
    let spec = EdgeSpec {
        name: "first".into(),
        edge: 0,
        receiver_count: 1,
        ring_bytes: 4096,
        batching: Batching::default(),
        token: [7; 16],
        listen: listen.into(),
    };
    let medium = media::find("rum").expect("a medium");
    drop(on_host(host, || medium.open(&spec).expect("opened")));
}

/// Runs a function on a host: the sockets that it opens are of this host.
pub fn on_host<T: Send>(host: &NetNamespace, run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            host.enter().expect("entered");
            run()
        });
        thread.join().expect("no panic")
    })
}

/// Sleeps until the end has work, a while at most.
pub fn sleep<E: Waitable + ?Sized>(end: &mut E) {
    if end.arm().expect("a sound edge") {
        let (mut readable, mut writable) = (Vec::new(), Vec::new());
        end.poll_fds(&mut readable, &mut writable);
        let readable = readable.iter().map(|fd| (fd, PollFlags::IN));
        let writable = writable.iter().map(|fd| (fd, PollFlags::OUT));
        wait(readable.chain(writable));
    }
    end.disarm();
}

/// Sleeps until one of the descriptors is ready, a while at most.
pub fn wait<'a>(fds: impl Iterator<Item = (&'a BorrowedFd<'a>, PollFlags)>) {
    let mut fds: Vec<_> = fds.map(|(fd, flags)| PollFd::new(fd, flags)).collect();
    let timeout = Timespec::try_from(SLEEP_MAX).ok();
    poll(&mut fds, timeout.as_ref()).expect("polled");
}

/// Takes the frames that have come, and returns the bytes of their payloads.
pub fn take(end: &mut dyn ReceivingEnd) -> u64 {
    let frames = end.poll().expect("a sound edge");
    let bytes = frames.map(|frame| frame.bytes.len() as u64).sum();
    end.release();
    bytes
}
