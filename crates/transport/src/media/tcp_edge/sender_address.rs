//! The address of a sender, and the protocol of the connections to it: TCP, or Multipath TCP, whose
//! connections the kernel spreads over all paths that the administrators of both hosts announce.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};

use crate::{EdgeSpec, Error};

/// Address and protocol by which a sender is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SenderAddress {
    /// Address at which it listens.
    pub(crate) address: SocketAddr,
    /// Whether connections are of Multipath TCP.
    pub(crate) is_mptcp: bool,
}

impl SenderAddress {
    /// An address of the sender of an edge.
    pub(crate) fn new(address: SocketAddr, spec: &EdgeSpec) -> SenderAddress {
        SenderAddress {
            address,
            is_mptcp: spec.listen.is_mptcp(),
        }
    }

    /// A socket for connections to the sender, which does not block.
    pub(crate) fn socket(self) -> rustix::io::Result<OwnedFd> {
        let family = match self.address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let protocol = match self.is_mptcp {
            false => ipproto::TCP,
            true => ipproto::MPTCP,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        rustix::net::socket_with(family, SocketType::STREAM, flags, Some(protocol))
    }
}

impl From<SocketAddr> for SenderAddress {
    fn from(address: SocketAddr) -> SenderAddress {
        SenderAddress {
            address,
            is_mptcp: false,
        }
    }
}

impl fmt::Display for SenderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

/// Checks that this host's kernel has Multipath TCP, if the edge asks for it.
///
/// # Errors
/// A sentence: it does not, or it is switched off.
pub(crate) fn check_mptcp(spec: &EdgeSpec) -> Result<(), Error> {
    if !spec.listen.is_mptcp() {
        return Ok(());
    }
    let address = SenderAddress::new(SocketAddr::new(spec.listen.first(), 0), spec);
    let why = match address.socket() {
        Ok(_) => return Ok(()),
        Err(Errno::NOPROTOOPT) => "it is switched off: `sysctl net.mptcp.enabled=1` of root",
        Err(Errno::PROTONOSUPPORT | Errno::INVAL) => "it needs Linux 5.6 with CONFIG_MPTCP",
        Err(error) => {
            return Err(Error::system(
                "open a socket of Multipath TCP",
                io::Error::from(error),
            ));
        }
    };
    let name = &spec.name;
    Err(Error::Refused(format!(
        "{name}: the kernel of this host offers no Multipath TCP, which `rails mptcp` asks for; {why}"
    )))
}
