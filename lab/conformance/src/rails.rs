//! The media `rum`, `tcp` and `rum-rdma` with rails: every edge of the suite is striped over two
//! loopback addresses.

use std::net::{IpAddr, Ipv4Addr};

use transport::{
    EdgeSpec, EdgeTicket, Error, ListenAddresses, Medium, MediumCaps, ReceivingEnd, SendingEnd,
    media,
};

/// Edges over a medium of this name, each with two rails.
pub struct Rails {
    medium: &'static str,
    name: &'static str,
}

impl Rails {
    /// Edges over `rum`, which survive any break.
    pub const RUM: Rails = Rails {
        medium: "rum",
        name: "rails",
    };

    /// Edges over `tcp`, which survive the break of one rail.
    pub const TCP: Rails = Rails {
        medium: "tcp",
        name: "tcp_rails",
    };

    /// Edges over `rum-rdma`, which survive any break.
    pub const RDMA: Rails = Rails {
        medium: "rum-rdma",
        name: "rdma_rails",
    };

    fn inner(&self) -> &'static dyn Medium {
        media::find(self.medium).expect("a registered medium")
    }
}

/// The edge of a description with a second rail, on an address that no other edge has.
fn with_rails(spec: &EdgeSpec) -> Result<EdgeSpec, Error> {
    let first = spec.listen.first();
    let second = match first {
        IpAddr::V4(first) => {
            let [net, high, low, last] = first.octets();
            Ipv4Addr::new(net, high ^ 0x80, low, last).into()
        }
        IpAddr::V6(_) => return Err(Error::Refused(format!("{first} is not of IPv4"))),
    };
    let listen = ListenAddresses::from_rails(&[first, second]).map_err(Error::Refused)?;
    Ok(EdgeSpec {
        listen,
        ..spec.clone()
    })
}

impl Medium for Rails {
    fn name(&self) -> &'static str {
        self.name
    }

    fn caps(&self) -> MediumCaps {
        self.inner().caps()
    }

    fn check_available(&self) -> Result<(), Error> {
        self.inner().check_available()
    }

    // The tickets are those of the medium: sealed with its name.
    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        self.inner().open(&with_rails(spec)?)
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        self.inner().accept(&with_rails(spec)?, ticket)
    }
}
