//! The control: bare sockets by one path or by all, each of which gets the next bytes as soon as it
//! takes some. Nothing puts the bytes of two paths into order.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};

use control::HostPaths;
use rustix::event::PollFlags;
use rustix::net::{AddressFamily, Protocol, SocketType, ipproto};

use crate::edge::{on_host, wait};

/// Bytes of a write with which a socket is fast.
const WRITE_BYTES: usize = 64 * 1024;

/// Connections between the hosts: their sending and their receiving ends.
pub struct BareSockets {
    pub senders: Vec<TcpStream>,
    pub receivers: Vec<TcpStream>,
}

impl BareSockets {
    /// A connection by each of these paths.
    pub fn open(hosts: &HostPaths, paths: &[usize]) -> BareSockets {
        BareSockets::open_with(hosts, paths, ipproto::TCP)
    }

    /// A connection that the kernel spreads over all paths.
    pub fn open_mptcp(hosts: &HostPaths) -> BareSockets {
        BareSockets::open_with(hosts, &[0], ipproto::MPTCP)
    }

    fn open_with(hosts: &HostPaths, paths: &[usize], protocol: Protocol) -> BareSockets {
        let pairs = paths.iter().map(|&path| {
            let address = hosts.near_addresses()[path];
            let listener = on_host(&hosts.near, || listen(address, protocol));
            let to = listener.local_addr().expect("an address");
            let receiver = on_host(&hosts.far, || connect(to, protocol));
            let (sender, _) = listener.accept().expect("accepted");
            for stream in [&sender, &receiver] {
                stream.set_nodelay(true).expect("TCP_NODELAY");
                stream.set_nonblocking(true).expect("nonblocking");
            }
            (sender, receiver)
        });
        let (senders, receivers) = pairs.unzip();
        BareSockets { senders, receivers }
    }
}

/// Whether the kernel has MPTCP.
pub fn has_mptcp() -> bool {
    let protocol = Some(ipproto::MPTCP);
    rustix::net::socket(AddressFamily::INET, SocketType::STREAM, protocol).is_ok()
}

fn socket(protocol: Protocol) -> OwnedFd {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, Some(protocol));
    socket.expect("a socket")
}

fn listen(address: IpAddr, protocol: Protocol) -> TcpListener {
    let socket = socket(protocol);
    rustix::net::bind(&socket, &SocketAddr::new(address, 0)).expect("bound");
    rustix::net::listen(&socket, 1).expect("listens");
    socket.into()
}

fn connect(to: SocketAddr, protocol: Protocol) -> TcpStream {
    let socket = socket(protocol);
    rustix::net::connect(&socket, &to).expect("connected");
    socket.into()
}

/// Writes what each socket takes; sleeps if that is nothing.
pub fn send(senders: &[TcpStream]) {
    static BYTES: [u8; WRITE_BYTES] = [1; WRITE_BYTES];
    let written = senders.iter().filter(|sender| {
        let mut sender: &TcpStream = sender;
        match sender.write(&BYTES) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    });
    if written.count() == 0 {
        sleep(senders, PollFlags::OUT);
    }
}

/// Reads what has come on each socket, and returns the number of bytes; sleeps if that is none.
pub fn receive(receivers: &[TcpStream], room: &mut [u8]) -> u64 {
    let mut bytes = 0;
    for mut receiver in receivers {
        match receiver.read(room) {
            Ok(count) => bytes += count as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
        }
    }
    if bytes == 0 {
        sleep(receivers, PollFlags::IN);
    }
    bytes
}

fn sleep(streams: &[TcpStream], flags: PollFlags) {
    let fds: Vec<_> = streams.iter().map(AsFd::as_fd).collect();
    wait(fds.iter().map(|fd| (fd, flags)));
}
